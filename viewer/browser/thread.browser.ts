/** Pictures of the drawing thread equal the pictures of the page's thread pixel by pixel. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { launch, openPage, openView, settle } from './chromium'

let browser: Browser
beforeAll(async () => void (browser = await launch()))
afterAll(() => browser.close())

/** Simulates browsers without threads, or pages that forbid them. */
const WITHOUT: Record<string, () => void> = {
  'no Worker': () => void (window.Worker = undefined as never),
  'no OffscreenCanvas': () => void (window.OffscreenCanvas = undefined as never),
  'a Worker that is refused': () =>
    void (window.Worker = class {
      constructor() {
        throw new DOMException('refused', 'SecurityError')
      }
    } as never),
  'a Worker that fails': () =>
    void (window.Worker = class {
      onerror: (() => void) | null = null
      postMessage() {
        setTimeout(() => this.onerror?.(), 0)
      }
      terminate() {}
    } as never),
}

const pixels = (page: Page): Promise<string> =>
  page.evaluate(() => document.querySelector<HTMLCanvasElement>('.picture canvas')!.toDataURL())

async function shots(width: number, prepare: (() => void) | null, settings: string[]): Promise<string[]> {
  const { page, errors } = await openPage(browser, width)
  const threads: unknown[] = []
  page.on('worker', (thread) => threads.push(thread))
  if (prepare) await page.addInitScript(prepare)
  const found: string[] = []
  for (const setting of settings) {
    // Opens each page again: a run that loads later is not awaited.
    await openView(page, inject('urls')['all']!, setting)
    found.push(await pixels(page))
  }
  expect(errors).toEqual([])
  expect(threads.length > 0).toBe(prepare === null)
  await page.close()
  return found
}

const SETTINGS = [
  'run=0&theme=light',
  'run=0&theme=dark',
  'run=0&theme=dark&hottest=5',
  'run=3&theme=light',
  'run=4&theme=dark',
]

test.each([1440, 1000, 390])('the same pixels at %i px', async (width) => {
  const drawn = await shots(width, null, SETTINGS)
  expect(new Set(drawn).size).toBe(SETTINGS.length)
  expect(await shots(width, WITHOUT['no Worker']!, SETTINGS)).toEqual(drawn)
})

test('without a drawing thread, the page draws', async () => {
  const settings = SETTINGS.slice(0, 2)
  const drawn = await shots(1000, null, settings)
  for (const [what, prepare] of Object.entries(WITHOUT))
    expect(await shots(1000, prepare, settings), what).toEqual(drawn)
})

test('quick changes end with the last setting', async () => {
  const { page } = await openPage(browser)
  await openView(page, inject('urls')['all']!, 'run=0')
  await page.evaluate(() => {
    type HeldFrame = Element & { odonata: { state: { patch(fields: object): void } } }
    const { state } = (document.getElementById('odonata') as unknown as HeldFrame).odonata
    for (const hottest of [1, 5, 25, 1, 5]) {
      setTimeout(() => state.patch({ hottest }), 0)
    }
    setTimeout(() => state.patch({ hottest: 0 }), 0)
  })
  await page.waitForTimeout(100)
  await settle(page)
  const ended = await pixels(page)
  await page.evaluate(() => {
    location.hash = 'run=0&hottest=0'
  })
  await settle(page)
  expect(ended).toBe(await pixels(page))
  await page.close()
})

test('matrices are laid out after the first picture', async () => {
  const { page, errors } = await openPage(browser)
  await page.addInitScript(() => {
    new MutationObserver(() => {
      if (!document.querySelector('.matrices canvas')) return
      if (performance.getEntriesByName('matrices').length === 0) performance.mark('matrices')
    }).observe(document, { childList: true, subtree: true })
  })
  await openView(page, inject('urls')['all']!, 'run=0')
  const [picture, matrices] = await page.evaluate(() =>
    ['odonata-first-picture', 'matrices'].map((name) => performance.getEntriesByName(name)[0]!.startTime),
  )
  expect(matrices).toBeGreaterThan(picture!)
  expect(errors).toEqual([])
  await page.close()
})
