/** Pointers, fingers, wheel and typed values: sizes of targets, zoom and its reset, search, paper. */
import { expect, test } from 'vitest'
import { chromium } from 'playwright-core'
import {
  address,
  at,
  expected,
  familyOf,
  keepPicture,
  numberOf,
  open,
  page,
  press,
  settle,
  text,
  urls,
} from './stage'
import { useBrowser } from './stage'
import { findChromium, openView } from './chromium'

useBrowser()

const PAGES: Record<string, [string, string]> = {
  overview: ['all', ''],
  colours: ['all', 'run=0&colours=1'],
  why: ['all', 'run=0&panel=bottlenecks'],
  group: ['all', 'run=0&panel=group&focus=group%3A2'],
  edits: ['allowed', 'run=0'],
  compare: ['all', 'view=compare&compared=0,1&difference=1'],
  time: ['all', `view=time&run=${numberOf('packet')}`],
  jobs: ['all', `view=jobs&run=${numberOf('packet')}`],
  costs: ['families', `view=costs&run=${familyOf('amg')}`],
  ranking: ['grid', ''],
  map: ['grid', 'view=sweep&sweepShow=map'],
  search: ['search', ''],
}

/** Visible controls smaller than `side`, without words of a sentence, marks of a picture and boxes in a label. */
const small = (side: number): string => `(() => [...document.querySelectorAll(
    '.odonata button, .odonata select, .odonata input, .odonata summary')]
  .filter((e) => e.closest('p, .headline, td, .callout, .router-grid, [aria-hidden]') === null && e.type !== 'range')
  .map((e) => e.type === 'checkbox' ? e.closest('label') ?? e : e)
  .map((e) => [e, e.getBoundingClientRect()])
  .filter(([, box]) => box.width > 0 && (box.width < ${side} - 0.5 || box.height < ${side} - 0.5))
  .map(([e, box]) => (e.getAttribute('data-test') ?? e.textContent ?? e.tagName).slice(0, 30) +
    ' ' + box.width.toFixed(0) + ' x ' + box.height.toFixed(0)))()`

test.each(Object.entries(PAGES))('targets are at least 24 px: %s', async (_, [server, settings]) => {
  await openView(page, urls[server]!, settings)
  expect(await page.evaluate(small(24))).toEqual([])
})

test('targets are at least 44 px under a finger', async () => {
  const browser = await chromium.launch({
    executablePath: findChromium()!,
    args: ['--no-sandbox', '--disable-gpu'],
  })
  const context = await browser.newContext({
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
  })
  const phone = await context.newPage()
  for (const [name, [server, settings]] of Object.entries(PAGES)) {
    await openView(phone, urls[server]!, settings)
    if (process.env['ODONATA_VIEWER_RUNS'] !== undefined)
      await phone.screenshot({ path: `${process.env['ODONATA_VIEWER_RUNS']}/finger-${name}.png` })
    expect([name, await phone.evaluate(small(44))]).toEqual([name, []])
  }
  await browser.close()
})

test('the wheel scrolls the page until the picture has the focus; a button shows the whole machine', async () => {
  await open('dragonfly')
  const box = (await page.locator('.picture .canvas-frame').boundingBox())!
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
  await page.mouse.move(x, y)
  await page.mouse.wheel(0, 300)
  await settle(page)
  expect((await address()).has('zoom')).toBe(false)
  await page.waitForFunction(() => document.querySelector('.centre')!.scrollTop > 0)
  await page.evaluate(() => (document.querySelector('.centre')!.scrollTop = 0))
  await page.mouse.click(x, y)
  await page.mouse.wheel(0, -300)
  await settle(page)
  expect(Number((await address()).get('zoom')!.split(',')[0])).toBeGreaterThan(1.2)
  await keepPicture('zoomed')
  await page.getByRole('button', { name: 'Whole machine' }).click()
  await settle(page)
  expect((await address()).has('zoom')).toBe(false)
  expect(await page.getByRole('button', { name: 'Whole machine' }).count()).toBe(0)
})

test('two fingers zoom around their middle', async () => {
  await open('dragonfly')
  const box = (await page.locator('.picture .canvas-frame').boundingBox())!
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
  const session = await page.context().newCDPSession(page)
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', apart: number) =>
    session.send('Input.dispatchTouchEvent', {
      type,
      touchPoints:
        type === 'touchEnd'
          ? []
          : [
              { x: x - apart, y, id: 0 },
              { x: x + apart, y, id: 1 },
            ],
    })
  await touch('touchStart', 40)
  for (const apart of [50, 60, 70, 80]) await touch('touchMove', apart)
  await touch('touchEnd', 80)
  await settle(page)
  const [k, left, top] = (await address()).get('zoom')!.split(',').map(Number) as [number, number, number]
  expect(k).toBeCloseTo(2, 1)
  // The middle stays.
  expect(Math.abs(left - (500 - 500 * k))).toBeLessThan(8)
  expect(Math.abs(top - (500 - 500 * k))).toBeLessThan(8)
})

test('typed ends of a range take units in any case, or say why not', async () => {
  await open('dragonfly', 'run=0')
  await at('range-from').fill('100 kib')
  await press('Enter')
  expect((await address()).get('low')).toBe(String(100 * 1024))
  await at('range-to').fill('2 parsec')
  await press('Tab')
  expect(await page.getByRole('alert').innerText()).toMatch(/^Invalid value; expected for instance 1\.5 MiB/)
  expect(await at('range-to').inputValue()).toBe('2 parsec')
  await keepPicture('typed')
  await at('range-to').fill('2 mb')
  await press('Enter')
  expect((await address()).get('high')).toBe('2000000')
  expect(await page.getByRole('alert').count()).toBe(0)
})

test('search knows classes, numbers of nodes, and machines', async () => {
  await openView(page, urls['all']!)
  const find = async (words: string, found: RegExp): Promise<void> => {
    await page.getByRole('combobox', { name: 'Find by name' }).fill(words)
    await page.getByRole('option', { name: found }).first().click()
    await settle(page)
  }
  await find('blue', /^blue links/)
  expect(await text('focus')).toMatch(/^class blue/)
  await find('node 17', /^node 17: /)
  expect((await address()).get('focus')).toMatch(/^node:/)
  await find('bgp', /run on bgp-midplane/)
  expect((await address()).get('run')).toBe(String(numberOf('torus')))
  expect(expected.runs['torus']!.links).toBeGreaterThan(0)
})

test('on paper: the whole page without controls', async () => {
  await openView(page, urls['all']!)
  await page.emulateMedia({ media: 'print' })
  await settle(page)
  expect(await page.getByRole('navigation', { name: 'Views' }).isVisible()).toBe(false)
  expect(await page.locator('.left').isVisible()).toBe(false)
  expect(await page.locator('.headline').isVisible()).toBe(true)
  expect(await page.locator('.picture').isVisible()).toBe(true)
  const cut = await page.evaluate(() => {
    const frame = document.querySelector('.odonata')!
    return frame.scrollHeight - frame.clientHeight
  })
  expect(cut).toBeLessThanOrEqual(1)
  await page.emulateMedia({ media: 'screen' })
})
