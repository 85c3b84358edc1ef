/** Hottest links, inverted selections, typed colour ends, and undo. */
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

test('the first picture shows the hottest 5 % with a note; a click shows all', async () => {
  await open('all')
  const wanted = edison.loaded * 0.05
  const said = (await text('hottest-said')).replace(/\s+/g, ' ')
  const found = await selectedIn()
  // Ties with the last link are included.
  expect(found).toBeGreaterThanOrEqual(wanted)
  expect(found).toBeLessThan(wanted * 1.1)
  expect(said).toContain(`${number(found)} of ${number(edison.links)}`)
  expect((await address()).get('hottest')).toBe('5')
  await keepPicture('hottest')
  await click('hottest-undo')
  expect(await at('hottest-said').count()).toBe(0)
  expect(await selectedIn()).toBe(edison.links)
  // A reload keeps the settings.
  expect((await address()).get('hottest')).toBe('0')
  await reload()
  expect(await selectedIn()).toBe(edison.links)
})

test('1, 5 and 25 % by button; inverted; a typed range replaces them', async () => {
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

test('for a difference, the largest absolute changes are selected', async () => {
  const settings = 'view=compare&compared=0,1&difference=1&hottest=1'
  // Until the second run is loaded, the texts refer to the first.
  await openUntil('all', settings, '[data-test=hottest-said]:has-text("changed")')
  expect(await text('hottest-said')).toContain('largest 1 % of the changed links, per class')
  const changes = await page.locator('.links tbody [data-test=hot-value]').allInnerTexts()
  expect(changes[0]).toMatch(/[+−]/)
  expect(await selectedIn()).toBeGreaterThan(100)
  await keepPicture('hottest-changes')
})

test('colour ends can be typed; the wrong order is refused', async () => {
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

test('the browser’s back and forward buttons undo and redo changes', async () => {
  await open('all', 'hottest=0')
  await click('hottest-1')
  await address()
  await press('l')
  await address()
  // Two quick changes are one history entry.
  await press('h', 'r')
  expect(Object.fromEntries(await address())).toEqual({
    hottest: '1',
    scale: 'log',
    histogram: 'log',
    routers: 'value',
  })
  const back = async (direction: 'goBack' | 'goForward'): Promise<Record<string, string>> => {
    await page[direction]()
    await settle(page)
    return Object.fromEntries(await address())
  }
  expect(await back('goBack')).toEqual({ hottest: '1', scale: 'log' })
  expect(await back('goBack')).toEqual({ hottest: '1' })
  expect(await at('hottest-1').getAttribute('aria-pressed')).toBe('true')
  // The address names no default, since it is not empty: *Colours* are open.
  expect(await back('goBack')).toEqual({})
  expect(await selectedIn()).toBe(edison.links)
  expect(await back('goForward')).toEqual({ hottest: '1' })
  expect(await at('hottest-said').count()).toBe(1)
})
