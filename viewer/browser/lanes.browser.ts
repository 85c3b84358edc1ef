/** Rank activity over time. */
import { expect, test } from 'vitest'
import { percent, quantity } from '../src/base/format'
import type { Picture } from '../src/layout/picture'
import { radialPicture } from '../src/layout/radial'
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
  runOf,
  set,
  settle,
  text,
  tipAt,
  useBrowser,
} from './stage'

useBrowser()

const { ranks, first, last, waits, computes, waiting_of_first, computing_share, waiting_share } =
  expected.lanes

/** The whole run, which the lanes show at first: it can end after the last activity of a rank. */
const fullSpan = (): Promise<[number, number]> =>
  page.evaluate(
    () =>
      (document.querySelector('#odonata') as unknown as { odonata: { fullSpan: [number, number] } }).odonata
        .fullSpan,
  )

/** Screen position of a time of the first rank; a click has whole pixels, and its row starts at 8. */
async function placeAt(time: number, [from, until] = [first, last]): Promise<[number, number]> {
  const box = (await at('lanes').boundingBox())!
  const full = await fullSpan()
  const [a, b] = from === first && until === last ? full : [from, until]
  return [box.x + 92 + ((box.width - 110) * (time - a)) / (b - a), box.y + 9]
}

/** Wait until all charts have their size; until then, charts below move. */
const openLanes = (more = ''): Promise<void> =>
  openUntil(
    'ranks',
    `view=time${more}`,
    '[data-test=lanes] canvas',
    '[data-test=series-heat] canvas',
    '.moments .picture canvas',
    'body:not(:has(.loading))',
  )

const middle = ([a, b]: readonly number[]): number => (a! + b!) / 2

test('computing, communicating and waiting equal the tables', async () => {
  await openLanes()
  expect(await text('lane-rows')).toContain(`${number(ranks)} of ${number(ranks)} ranks`)
  expect(await text('share-computing')).toBe(percent(computing_share))
  expect(await text('share-waiting')).toBe(percent(waiting_share))
  const waiting = await tipAt(...(await placeAt(middle(waits))))
  expect(waiting.split('\n')[0]).toMatch(/^fft, rank 0 on /)
  expect(waiting).toMatch(/State\s+waiting \(/)
  expect(waiting).toContain(quantity(waiting_of_first, 'ps'))
  expect(await tipAt(...(await placeAt(middle(computes))))).toMatch(/State\s+computing/)
  await keepPicture('lanes')
})

test('a click selects the time and focuses the rank’s router', async () => {
  await openLanes()
  const [x, y] = await placeAt(middle(waits))
  await page.mouse.click(x, y)
  await settle(page)
  const settings = await address()
  expect(settings.get('focus')).toMatch(/^node:/)
  expect(Math.abs(Number(settings.get('time')) - middle(waits))).toBeLessThan((last - first) / 200)
  await page.waitForSelector('.moments .picture-title')
})

test('W and S zoom around the cursor, A and D pan, and reset', async () => {
  await openLanes(`&time=${Math.round(middle(waits))}`)
  const [begin, end] = await fullSpan()
  await press('w', 'w', 'w')
  const span = (await address()).get('span')!.split(',').map(Number)
  expect((span[1]! - span[0]!) * 1.5 ** 3).toBeCloseTo(end - begin, -8)
  expect(span[0]!).toBeLessThan(middle(waits))
  expect(span[1]!).toBeGreaterThan(middle(waits))
  // The drawing matches the axis.
  expect(await tipAt(...(await placeAt(middle(waits), [span[0]!, span[1]!])))).toMatch(/State\s+waiting \(/)
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

test('ranks of a communicator are marked, according to the messages', async () => {
  const { groups, several, routers } = expected.communicators
  const of = groups[several]!
  await open('ranks', 'colours=1')
  await click('communicators')
  await at('communicator').selectOption(String(several))
  await at('communicator-group').selectOption('1')
  expect(await text('communicator-facts')).toContain(`${number(of[1]!.length)} ranks marked`)
  expect((await address()).get('communicator')).toBe(`0.${several}.1`)
  const options = await at('communicator-group').locator('option').allInnerTexts()
  expect(options.length).toBe(of.length + 1)
  of.forEach((ranks, i) => expect(options[i + 1]).toContain(`${i}: ${ranks.length} ranks, ${ranks[0]} to`))
  const run = await runOf('ranks', 0)
  const picture = radialPicture(run)
  const inked = await page.evaluate(
    () => document.querySelector<HTMLCanvasElement>('.picture .overlay')!.toDataURL().length,
  )
  await keepPicture('communicator')
  await at('communicator').selectOption('')
  await settle(page)
  const bare = await page.evaluate(
    () => document.querySelector<HTMLCanvasElement>('.picture .overlay')!.toDataURL().length,
  )
  expect(inked).toBeGreaterThan(bare)
  // Only the rings of these routers are drawn.
  await address()
  await set(`communicator=0.${several}.1`)
  await page.waitForSelector('[data-test=communicator-facts]')
  await settle(page)
  for (const r of run.routers.up.keys()) {
    const [x, y] = [picture.routers[2 * r]!, picture.routers[2 * r + 1]!]
    expect([r, await ringAt(x, y, picture)]).toEqual([r, routers.includes(r)])
  }
})

/** Whether the overlay has a ring around a scene position. */
async function ringAt(x: number, y: number, { width, height, routerRadius }: Picture): Promise<boolean> {
  return page.evaluate(
    ([x, y, width, height, radius]) => {
      const canvas = document.querySelector<HTMLCanvasElement>('.picture .overlay')!
      const scale = Math.min(canvas.width / width, canvas.height / height)
      const [left, top] = [(canvas.width - width * scale) / 2, (canvas.height - height * scale) / 2]
      const reach = radius * scale + 2.5 * devicePixelRatio
      const context = canvas.getContext('2d')!
      const ink = (dx: number, dy: number): boolean => {
        const [px, py] = [left + x * scale + dx * reach, top + y * scale + dy * reach].map(Math.round)
        return context.getImageData(px! - 1, py! - 1, 3, 3).data.some((value, i) => i % 4 === 3 && value > 0)
      }
      return ink(1, 0) && ink(-1, 0) && ink(0, 1) && ink(0, -1)
    },
    [x, y, width, height, routerRadius] as const,
  )
}
