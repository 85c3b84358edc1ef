/** The hottest links at a click, inverted selections, typed ends of the colours, and the way back. */
import { expect, test } from 'vitest'
import { quantity } from '../src/base/format'
import {
  address,
  at,
  click,
  expected,
  keepPicture,
  number,
  open,
  openUntil,
  page,
  press,
  reload,
  settle,
  text,
  useBrowser,
} from './stage'

useBrowser()

const edison = expected.runs['edison']!

const selectedIn = async (): Promise<number> => {
  const counts = await page.locator('[data-test^=count-]').allInnerTexts()
  return counts.reduce((sum, line) => sum + Number(line.split(' ')[0]!.replaceAll(',', '')), 0)
}

test('the first picture tells of the hottest 5 %, says so, and a click shows all', async () => {
  await open('all')
  const wanted = edison.loaded * 0.05
  const said = (await text('hottest-said')).replace(/\s+/g, ' ')
  const found = await selectedIn()
  // Links that equal the last of them are among them.
  expect(found).toBeGreaterThanOrEqual(wanted)
  expect(found).toBeLessThan(wanted * 1.1)
  expect(said).toContain(`${number(found)} of ${number(edison.links)}`)
  expect((await address()).get('hottest')).toBe('5')
  await keepPicture('hottest')
  await click('hottest-undo')
  expect(await at('hottest-said').count()).toBe(0)
  expect(await selectedIn()).toBe(edison.links)
  // A reload keeps what was chosen.
  expect((await address()).get('hottest')).toBe('0')
  await reload()
  expect(await selectedIn()).toBe(edison.links)
})

test('1, 5 and 25 % at a click; inverted they are the rest; a typed range takes their place', async () => {
  await open('all', 'hottest=0')
  const found: number[] = []
  for (const share of [1, 5, 25]) {
    await click(`hottest-${share}`)
    found.push(await selectedIn())
  }
  expect([...found].sort((a, b) => a - b)).toEqual(found)
  await click('range-invert')
  expect(await selectedIn()).toBe(edison.links - found[2]!)
  expect((await address()).get('inverted')).toBe('1')
  await press('i')
  expect(await selectedIn()).toBe(found[2])
  await at('range-from').fill(quantity(edison.max / 2, 'bytes', 12))
  await at('range-from').press('Enter')
  await settle(page)
  const above = Object.values(edison.classes).reduce((sum, { above_half }) => sum + above_half, 0)
  expect(await selectedIn()).toBe(above)
  expect(await at('hottest-said').count()).toBe(0)
})

test('of a difference the largest changes are selected, whatever their sign', async () => {
  const settings = 'view=compare&compared=0,1&difference=1&hottest=1'
  // Until the second run is there, what is said is of the first.
  await openUntil('all', settings, '[data-test=hottest-said]:has-text("changed")')
  expect(await text('hottest-said')).toContain('largest 1 % of each class of links, of those that changed')
  const changes = await page.locator('.links tbody [data-test=hot-value]').allInnerTexts()
  expect(changes[0]).toMatch(/[+−]/)
  expect(await selectedIn()).toBeGreaterThan(100)
  await keepPicture('hottest-changes')
})

test('the ends of the colours can be typed; ends in the wrong order are not taken', async () => {
  await open('all', 'hottest=0')
  await at('colour-to').fill('64 MiB')
  await at('colour-to').press('Enter')
  await settle(page)
  expect((await text('ramp-labels')).split('\n').at(-1)).toBe('64 MiB')
  expect((await address()).get('frozen')).toBe(`0,${64 * 2 ** 20}`)
  await at('colour-from').fill('100 MiB')
  expect(await page.locator('.range .wrong').count()).toBe(1)
  await at('colour-from').press('Enter')
  expect((await address()).get('frozen')).toBe(`0,${64 * 2 ** 20}`)
  await at('colour-from').fill('16 MiB')
  await at('colour-from').press('Enter')
  await settle(page)
  expect((await text('ramp-labels')).split('\n')[0]).toBe('16 MiB')
  await at('colour-from').fill('')
  await at('colour-from').press('Enter')
  await settle(page)
  expect((await text('ramp-labels')).split('\n').at(-1)).toBe(quantity(edison.max, 'bytes'))
})

test('the browser’s way back undoes settled changes one by one, its way forward does them again', async () => {
  await open('all', 'hottest=0')
  await click('hottest-1')
  await address()
  await press('l')
  await address()
  // Two changes within a moment are one step.
  await press('h', 'r')
  expect(Object.fromEntries(await address())).toEqual({
    hottest: '1',
    scale: 'log',
    histogram: 'log',
    routers: 'value',
  })
  const back = async (way: 'goBack' | 'goForward'): Promise<Record<string, string>> => {
    await page[way]()
    await settle(page)
    return Object.fromEntries(await address())
  }
  expect(await back('goBack')).toEqual({ hottest: '1', scale: 'log' })
  expect(await back('goBack')).toEqual({ hottest: '1' })
  expect(await at('hottest-1').getAttribute('aria-pressed')).toBe('true')
  expect(await back('goBack')).toEqual({ hottest: '0' })
  expect(await selectedIn()).toBe(edison.links)
  expect(await back('goForward')).toEqual({ hottest: '1' })
  expect(await at('hottest-said').count()).toBe(1)
})
