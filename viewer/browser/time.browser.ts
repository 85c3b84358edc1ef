/** Packet runs over time, and communication. */
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
  keepPicture,
  press,
  set,
  settle,
  text,
  tipAt,
  useBrowser,
} from './stage'

useBrowser()

const RUN = `run=${numberOf('packet')}`
const { starts, third } = expected.series

test('throughput and latency of each job at the chosen time', async () => {
  await open('all', `${RUN}&view=time&time=${starts[2]}`)
  for (const row of third) {
    expect(await text(`lines-wire_bytes_per_s-${row['job']}`)).toBe(
      quantity(row['wire_bytes_per_s']!, 'bytes-per-s'),
    )
    expect(await text(`lines-latency_mean_ns-${row['job']}`)).toBe(quantity(row['latency_mean_ns']!, 'ns'))
  }
  expect(await text('time')).toContain(quantity(starts[2]!, 'ps'))
  await at('series').selectOption('series.non_minimal_share')
  await settle(page)
  for (const row of third)
    expect(await text(`lines-non_minimal_share-${row['job']}`)).toBe(percent(row['non_minimal_share']!))
})

test('the slider moves by intervals; play runs to the end', async () => {
  await open('all', `${RUN}&view=time&time=${starts.at(-4)}`)
  await at('scrubber').focus()
  await press('ArrowRight')
  expect(Number((await address()).get('time'))).toBe(starts.at(-3))
  await click('play')
  await page.waitForFunction(() => document.querySelector('[data-test=play]')?.textContent === 'play')
  expect(Number((await address()).get('time'))).toBe(starts.at(-1))
})

test('a chart tooltip shows all jobs; a click selects the time; a hidden job has no line', async () => {
  await open('all', `${RUN}&view=time`)
  const chart = (await at('lines-wire_bytes_per_s').boundingBox())!
  // 92 pixels of labels, then 25 intervals up to 18 pixels at the right.
  const x = chart.x + 92 + ((chart.width - 110) * 2.5) / starts.length
  const tip = await tipAt(x, chart.y + chart.height / 2)
  for (const row of third) expect(tip).toContain(quantity(row['wire_bytes_per_s']!, 'bytes-per-s'))
  await page.mouse.click(x, chart.y + chart.height / 2)
  expect(Number((await address()).get('time'))).toBe(starts[2])
  await press('1')
  expect(await at('lines-wire_bytes_per_s-0').count()).toBe(1)
  expect(await at('lines-wire_bytes_per_s-1').count()).toBe(0)
})

test('router stalls over time: each cell is the sum over its ports', async () => {
  await open('all', `${RUN}&view=time`)
  const { stalls_of_routers, starts } = expected.series
  const routers = Object.keys(stalls_of_routers)
  await page.waitForSelector('[data-test=series-heat] canvas')
  const stalled = routers.filter((router) => Object.keys(stalls_of_routers[router]!).length > 0)
  expect(await text('heat-rows')).toContain(`${stalled.length} of ${stalled.length} routers`)
  const box = (await at('series-heat').boundingBox())!
  // As in charts: 92 pixels of names, 18 right, 8 above, 22 below.
  const [width, height] = [box.width - 110, box.height - 30]
  for (const [row, i] of [
    [0, 10],
    [Math.floor(stalled.length / 2), 17],
    [stalled.length - 1, 20],
  ] as const) {
    const tip = await tipAt(
      box.x + 92 + (width * (i + 0.5)) / starts.length,
      box.y + 8 + (height * (row + 0.5)) / stalled.length,
    )
    expect(tip.split('\n')[0]).toBe(stalled[row])
    expect(tip).toMatch(
      new RegExp(`Stall\\s+${quantity(stalls_of_routers[stalled[row]!]![starts[i]!] ?? 0, 'ps')}`),
    )
  }
  await page.mouse.click(
    box.x + 92 + (width * 10.5) / starts.length,
    box.y + 8 + 0.5 * (height / stalled.length),
  )
  await settle(page)
  expect(await text('focus')).toContain(`router ${stalled[0]}`)
  expect(Number((await address()).get('time'))).toBe(starts[10])
  await keepPicture('stalls')
})

test('ports over time, and the machine at the chosen time', async () => {
  const { starts, tenth, link_stall_max } = expected.series
  await open('all', `${RUN}&view=time&time=${starts[10]}&rows=link`)
  await page.waitForFunction(() => document.querySelector('.moments .picture') !== null)
  await settle(page)
  expect(await text('heat-rows')).toContain('links')
  // One scale for all times, and the links of this one.
  expect((await text('ramp-labels')).split('\n').at(-1)).toBe(quantity(link_stall_max, 'ps'))
  expect(await page.locator('.moments .picture-title').innerText()).toContain(
    `Stall from ${quantity(starts[10]!, 'ps')}`,
  )
  await set(`${RUN}&view=time&time=${starts[10]}&low=1`)
  const counted = await Promise.all(['local', 'global'].map((code) => text(`count-${code}`)))
  expect(counted.reduce((sum, line) => sum + Number(line.split(' ')[0]), 0)).toBe(tenth.stalled)
  await set(`${RUN}&view=time&time=${starts[10]}&low=${tenth.stall_max}`)
  const largest = await Promise.all(['local', 'global'].map((code) => text(`count-${code}`)))
  expect(largest.reduce((sum, line) => sum + Number(line.split(' ')[0]), 0)).toBeGreaterThan(0)
  await set(`${RUN}&view=time&time=${starts[10]}&heat=link_series.bytes&low=${tenth.bytes_max + 1}`)
  const none = await Promise.all(['local', 'global'].map((code) => text(`count-${code}`)))
  expect(none.every((line) => line.startsWith('0 of'))).toBe(true)
})

test.each([
  ['packet', 0],
  ['edison', 1],
] as const)('communication matrix of %s: cells of the table', async (run, i) => {
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
      box.x + (box.width * (cell.destination / per + 0.5)) / size,
      box.y + (box.height * (cell.source / per + 0.5)) / size,
    )
    expect(tip).toMatch(new RegExp(`Messages\\s+${cell.messages.toLocaleString('en-US')}`))
    expect(tip).toMatch(new RegExp(`Bytes\\s+${quantity(cell.bytes, 'bytes')}`))
  }
  expect(await text('figure-ranks')).toBe(job.ranks.toLocaleString('en-US'))
})

test('packet-engine link columns can be shown and filtered', async () => {
  await open('all', `${RUN}&measure=stall_ps`)
  const options = await at('measure').locator('option').allTextContents()
  for (const name of ['Traffic', 'Packets', 'Busy', 'Stall', 'Idle']) expect(options).toContain(name)
  expect(await page.locator('.jobs').innerText()).toContain('is not attributed to jobs')
  expect(await page.locator('.facts').innerText()).not.toContain('NaN')
})
