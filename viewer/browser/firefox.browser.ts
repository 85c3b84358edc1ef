/** Main views in Firefox: open, show table values, draw, no errors. */
import type { Browser, Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { quantity } from '../src/base/format'
import { findFirefox, launchFirefox, openFirefoxPage, openInFirefox } from './firefox'
import { expected, number, urls } from './stage'

const firefox = findFirefox()
if (firefox === undefined)
  console.warn('SKIPPED: the viewer in Firefox; there is none here (scripts/bootstrap firefox)')

/** Whether a canvas has more than two colours. */
const drawn = (page: Page): Promise<boolean> =>
  page.evaluate(() =>
    [...document.querySelectorAll('canvas')].some((canvas) => {
      if (canvas.width === 0) return false
      // A canvas with a transferred bitmap has no readable context.
      const context = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d')!
      context.drawImage(canvas, 0, 0)
      const pixels = new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer)
      return new Set(pixels).size > 2
    }),
  )

describe.skipIf(firefox === undefined)('Firefox', () => {
  let browser: Browser
  let page: Page
  let errors: string[]

  beforeAll(async () => {
    browser = await launchFirefox(firefox!)
    ;({ page, errors } = await openFirefoxPage(browser))
  })
  afterAll(async () => browser?.close())

  const text = (test: string): Promise<string> =>
    page.$eval(`[data-test="${test}"]`, (element) => (element as HTMLElement).innerText.trim())
  const quiet = (): void => expect(errors.splice(0)).toEqual([])

  test('each machine: hottest link and link count equal the tables', async () => {
    for (const [run, name] of ['edison', 'edison-K', 'dragonfly', 'torus', 'tree'].entries()) {
      await openInFirefox(page, urls['all']!, `run=${run}&hottest=100`)
      const { max, links } = expected.runs[name]!
      expect([name, await text('hot-value')]).toEqual([name, quantity(max, 'bytes')])
      expect(await text('selected-count')).toContain(`${number(links)} in total`)
      expect([name, await drawn(page)]).toEqual([name, true])
    }
    quiet()
  })

  test('a range selects the same links as in Chromium', async () => {
    const { max, classes } = expected.runs['dragonfly']!
    await openInFirefox(page, urls['all']!, `run=2&low=${max / 2}`)
    const above = Object.values(classes).reduce((sum, { above_half }) => sum + above_half, 0)
    expect(await text('selected-count')).toContain(`${number(above)} selected`)
    quiet()
  })

  test.each(['compare', 'time', 'jobs', 'sweep'])('the view %s opens and draws', async (view) => {
    await openInFirefox(page, urls[view === 'time' ? 'ranks' : 'all']!, `view=${view}`)
    await page.waitForSelector('canvas, table, svg')
    // The Content-Security-Policy forbids injected functions.
    await page.waitForSelector('.loading', { hidden: true })
    const pressed = await page.$eval(`[data-test=view-${view}]`, (e) => e.getAttribute('aria-pressed'))
    expect(pressed).toBe('true')
    quiet()
  })

  test('a standalone page', async () => {
    await openInFirefox(page, inject('standalone'))
    expect(await text('hot-value')).toBe(quantity(expected.runs['dragonfly']!.max, 'bytes'))
    quiet()
  })
})
