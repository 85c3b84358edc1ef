/** One job on a torus with two mappings: differences and ratios of VC traffic. */
import { describe, expect, test } from 'vitest'
import { quantity, signed } from '../src/base/format'
import { at, click, expected, keepPicture, open, page, set, settle, text, useBrowser } from './stage'

useBrowser()

const { links, plain, tilted } = expected.mappings
const OVERLAID = 'view=compare&compared=1,2&difference=1'

/** First rows of the link table, largest change first. */
async function rows(): Promise<string[][]> {
  // The table appears after the first picture.
  await page.locator('.links tbody tr').first().waitFor()
  const cells = await page
    .locator('.links tbody tr')
    .evaluateAll((all) => all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText)))
  return cells.map(([name, value]) => [name!.replace(/:.*/, ''), value!])
}

/** Changes of all links, ordered by the absolute value of another change of theirs. */
const largest = (change: (l: number) => number, order: (l: number) => number): number[] =>
  links
    .map((_, l) => l)
    .filter((l) => change(l) !== 0)
    .sort((a, b) => Math.abs(order(b)) - Math.abs(order(a)))
    .map(change)

/** log2 of the ratio, clamped from or to zero. */
const doublings = (before: number, after: number): number =>
  before === after ? 0 : Math.max(-10, Math.min(10, Math.log2(after / before)))

async function check(
  change: (l: number) => number,
  said: (value: number) => string,
  order = change,
): Promise<void> {
  const [found, wanted] = [await rows(), largest(change, order)]
  expect(found.length).toBe(Math.min(40, wanted.length))
  expect(found.map(([, value]) => value)).toEqual(wanted.slice(0, 40).map(said))
  // The order of ties is not checked.
  for (const [name, value] of found) expect(value).toBe(said(change(links.indexOf(name!))))
}

describe('two mappings', () => {
  test('difference of the dynamic VCs by link', async () => {
    await open('mapped', `${OVERLAID}&channel=dynamic`)
    expect(await text('pairing')).toBe('mapped-tilted minus mapped-plain: 384 links in both')
    await check(
      (l) => tilted.dynamic[l]! - plain.dynamic[l]!,
      (value) => signed(value, 'bytes'),
    )
    expect(await page.locator('[data-test=refused]').count()).toBe(0)
    await keepPicture('mappings-difference')
  })

  test('ratios, with links used by only one run at the ends', async () => {
    await open('mapped', `${OVERLAID}&channel=dynamic`)
    await click('ratio')
    expect(await text('pairing')).toBe('mapped-tilted / mapped-plain: 384 links in both')
    const ratio = (l: number): number => doublings(plain.dynamic[l]!, tilted.dynamic[l]!)
    expect(links.some((_, l) => Math.abs(ratio(l)) === 10)).toBe(true)
    // By bytes: a large ratio of little traffic is noise.
    await check(
      ratio,
      (value) => quantity(value, 'doublings'),
      (l) => tilted.dynamic[l]! - plain.dynamic[l]!,
    )
    // Colours are spread over finite values.
    const most = Math.max(...links.map((_, l) => Math.abs(ratio(l))).filter((size) => size < 10))
    const ends = [-most, 0, most].map((value) => quantity(value, 'doublings'))
    expect(await text('ramp-labels')).toBe(ends.join('\n'))
    // A range is typed as a ratio.
    await at('range-from').fill('×2')
    await at('range-from').press('Enter')
    await settle(page)
    expect(await text('selected-count')).toContain(
      `of ${links.filter((_, l) => ratio(l) >= 1).length} selected`,
    )
    await page.locator('.links tbody tr').first().hover()
    await settle(page)
    const tip = await text('tooltip')
    expect(tip).toMatch(/mapped-plain\s+[\d.]+ (B|KiB)/)
    expect(tip).toMatch(/factor\s+≥ ×1,024/)
    await keepPicture('mappings-ratio')
  })

  test('share of the dynamic VCs, its change, and distributions on one axis', async () => {
    await open('mapped', `${OVERLAID}&channel=share`)
    await check(
      (l) => tilted.share[l]! - plain.share[l]!,
      (value) => signed(value, 'share'),
    )
    expect(await at('both').isVisible()).toBe(true)
    expect(await at('both').locator('.axis text').last().textContent()).toBe('100 %')
    await set(`${OVERLAID}&channel=share&change=half`)
    expect(await page.locator('.odonata').innerText()).toContain(
      'unknown value half; expected difference, ratio',
    )
  })
})
