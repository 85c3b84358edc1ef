/** Packet runs over time, and who sends to whom. */
import { expect, test } from 'vitest'
import { percent, quantity } from '../src/base/format'
import {
  address,
  at,
  click,
  expected,
  numberOf,
  open,
  page,
  press,
  settle,
  text,
  tipAt,
  useBrowser,
} from './stage'

useBrowser()

const RUN = `run=${numberOf('packet')}`
const { starts, third } = expected.series

test('throughput and latency of every job at the time of the scrubber', async () => {
  await open('all', `${RUN}&view=time&time=${starts[2]}`)
  for (const row of third) {
    expect(await text(`lines-bytes_per_s-${row['job']}`)).toBe(quantity(row['bytes_per_s']!, 'bytes_per_s'))
    expect(await text(`lines-latency_mean_ns-${row['job']}`)).toBe(quantity(row['latency_mean_ns']!, 'ns'))
  }
  expect(await text('time')).toContain(quantity(starts[2]!, 'ps'))
  await at('series').selectOption('series.non_minimal_share')
  await settle(page)
  for (const row of third)
    expect(await text(`lines-non_minimal_share-${row['job']}`)).toBe(percent(row['non_minimal_share']!))
})

test('the scrubber moves in steps of the interval, play runs to the end', async () => {
  await open('all', `${RUN}&view=time&time=${starts.at(-4)}`)
  await at('scrubber').focus()
  await press('ArrowRight')
  expect(Number((await address()).get('time'))).toBe(starts.at(-3))
  await click('play')
  await page.waitForFunction(() => document.querySelector('[data-test=play]')?.textContent === 'play')
  expect(Number((await address()).get('time'))).toBe(starts.at(-1))
})

test('hovering a chart tells every job at that time; a click goes there; a job that is hidden has no line', async () => {
  await open('all', `${RUN}&view=time`)
  const chart = (await at('lines-bytes_per_s').boundingBox())!
  // 92 pixels of labels, then 25 intervals over what is left but for 18.
  const x = chart.x + 92 + ((chart.width - 110) * 2.5) / starts.length
  const tip = await tipAt(x, chart.y + chart.height / 2)
  for (const row of third) expect(tip).toContain(quantity(row['bytes_per_s']!, 'bytes_per_s'))
  await page.mouse.click(x, chart.y + chart.height / 2)
  expect(Number((await address()).get('time'))).toBe(starts[2])
  await press('1')
  expect(await at('lines-bytes_per_s-0').count()).toBe(1)
  expect(await at('lines-bytes_per_s-1').count()).toBe(0)
})

test.each([
  ['packet', 0],
  ['edison', 1],
] as const)('who sends to whom in %s: cells of the table', async (run, i) => {
  await open('all', `run=${numberOf(run)}&view=jobs&focus=job%3A1`)
  await page.waitForSelector('[data-test=communication-map] canvas')
  await at('communication-map').scrollIntoViewIfNeeded()
  await settle(page)
  const { cells, bytes } = expected.communication[i]!
  const job = expected.runs[run]!.jobs[1]!
  const per = cells[0]!.ranks_per_cell
  const size = Math.ceil(job.ranks / per)
  expect(await text('communication-reading')).toContain(quantity(bytes, 'bytes'))
  const box = (await at('communication-map').boundingBox())!
  for (const cell of cells) {
    const tip = await tipAt(
      box.x + (box.width * (cell.target / per + 0.5)) / size,
      box.y + (box.height * (cell.source / per + 0.5)) / size,
    )
    expect(tip).toMatch(new RegExp(`Messages\\s+${cell.messages.toLocaleString('en-US')}`))
    expect(tip).toMatch(new RegExp(`Bytes\\s+${quantity(cell.bytes, 'bytes')}`))
  }
  expect(await text('figure-ranks')).toBe(job.ranks.toLocaleString('en-US'))
})

test('what the packet engine counts on links can be shown and filtered', async () => {
  await open('all', `${RUN}&measure=stall_ps`)
  const options = await at('measure').locator('option').allTextContents()
  for (const name of ['Traffic', 'Packets', 'Busy', 'Stall', 'Idle']) expect(options).toContain(name)
  expect(await page.locator('.jobs').innerText()).toContain('not known per job')
  expect(await page.locator('.facts').innerText()).not.toContain('NaN')
})
