/** What ranks of programs do over time. */
import { expect, test } from 'vitest'
import { percent, quantity } from '../src/base/format'
import {
  address,
  at,
  expected,
  keepPicture,
  number,
  open,
  page,
  press,
  set,
  settle,
  text,
  tipAt,
  useBrowser,
} from './stage'

useBrowser()

const { ranks, first, last, waits, computes, waiting_of_first, computing_share, waiting_share } =
  expected.lanes

/** Where a time of the first rank is on the screen. */
async function placeAt(time: number, [from, until] = [first, last]): Promise<[number, number]> {
  const box = (await at('lanes').boundingBox())!
  const full = (await page.evaluate(
    () =>
      (document.querySelector('#odonata') as unknown as { odonata: { fullSpan: [number, number] } }).odonata
        .fullSpan,
  )) as [number, number]
  const [a, b] = from === first && until === last ? full : [from, until]
  return [box.x + 92 + ((box.width - 110) * (time - a)) / (b - a), box.y + 8.5]
}

const middle = ([a, b]: readonly number[]): number => (a! + b!) / 2

test('computing, sending and waiting are those of the tables', async () => {
  await open('ranks', 'view=time')
  await page.waitForSelector('[data-test=lanes] canvas')
  await settle(page)
  expect(await text('lane-rows')).toContain(`${number(ranks)} of ${number(ranks)} ranks drawn`)
  expect(await text('share-computing')).toBe(percent(computing_share))
  expect(await text('share-waiting')).toBe(percent(waiting_share))
  const waiting = await tipAt(...(await placeAt(middle(waits))))
  expect(waiting.split('\n')[0]).toMatch(/^fft, rank 0 on /)
  expect(waiting).toMatch(/Does\s+waiting \(/)
  expect(waiting).toContain(quantity(waiting_of_first, 'ps'))
  expect(await tipAt(...(await placeAt(middle(computes))))).toMatch(/Does\s+computing/)
  await keepPicture('lanes')
})

test('in step with the links: a click goes to the time and the rank’s router', async () => {
  await open('ranks', 'view=time')
  await page.waitForSelector('[data-test=lanes] canvas')
  const [x, y] = await placeAt(middle(waits))
  await page.mouse.click(x, y)
  await settle(page)
  const settings = await address()
  expect(settings.get('focus')).toMatch(/^node:/)
  expect(Math.abs(Number(settings.get('time')) - middle(waits))).toBeLessThan((last - first) / 200)
  await page.waitForSelector('.moments .picture-title')
})

test('W and S zoom around the cursor, A and D pan, and all of it comes back', async () => {
  await open('ranks', `view=time&time=${Math.round(middle(waits))}`)
  await page.waitForSelector('[data-test=lanes] canvas')
  await press('w', 'w', 'w')
  const span = (await address()).get('span')!.split(',').map(Number)
  expect((span[1]! - span[0]!) * 1.5 ** 3).toBeCloseTo((last - first) * 1, -8)
  expect(span[0]!).toBeLessThan(middle(waits))
  expect(span[1]!).toBeGreaterThan(middle(waits))
  // What is drawn is what the axis says.
  expect(await tipAt(...(await placeAt(middle(waits), [span[0]!, span[1]!])))).toMatch(/Does\s+waiting \(/)
  await press('d')
  const panned = (await address()).get('span')!.split(',').map(Number)
  expect(panned[0]! - span[0]!).toBeGreaterThan(0)
  expect(panned[1]! - panned[0]!).toBeCloseTo(span[1]! - span[0]!, -1)
  await at('span-all').click()
  await settle(page)
  expect((await address()).get('span')).toBeNull()
  await set('view=time&jobs=0')
  expect(await text('lane-rows')).toContain('64 of 64 ranks')
})
