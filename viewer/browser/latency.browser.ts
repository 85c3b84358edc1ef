/** Packet latency and stalls: displayed values equal the engine's tables. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { quantity } from '../src/base/format'
import {
  address,
  at,
  click,
  expected,
  familyOf,
  keepPicture,
  number,
  open,
  openUntil,
  page,
  press,
  settle,
  text,
  useBrowser,
} from './stage'

useBrowser()

const { latency } = expected
const RUN = `view=latency&run=${familyOf('packet')}`

const arrived = (settings = RUN): Promise<void> =>
  openUntil('families', settings, '[data-test=latency-boxes]', '[data-test=group-map]')

async function rows(nth: number): Promise<string[][]> {
  await page.locator('[data-test=as-table]').nth(nth).click()
  await settle(page)
  const found = await at('table')
    .locator('tbody tr')
    .evaluateAll((all) => all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText)))
  await press('Escape')
  return found
}

test('percentiles of each job, with 95 and 99 %', async () => {
  await arrived()
  const far = (await rows(0)).find(([job, part]) => job === 'far' && part === 'since creation')!
  expect(far[2]).toBe(number(latency.packets))
  const [p50, p95, p99] = [latency.p50_ns, latency.p95_ns, latency.p99_ns].map((ns) =>
    quantity(1000 * ns, 'ps'),
  )
  expect([far[5], far[7], far[8]]).toEqual([p50, p95, p99])
})

test('pointer and keys show a tooltip; Enter opens the job', async () => {
  await arrived()
  await at('latency-boxes').focus()
  await press('.')
  const tooltips = await text('tooltip')
  expect(tooltips).toContain('99 %')
  const slowest = (await rows(0))[0]!
  expect(tooltips).toContain(`${slowest[0]}, ${slowest[1]}`)
  await at('latency-boxes').focus()
  await press('.', 'Enter')
  expect((await address()).get('view')).toBe('jobs')
})

test('a click on a box opens its job', async () => {
  await arrived()
  const box = (await at('latency-boxes').boundingBox())!
  // From the low end, so it is not the first job in keyboard order.
  for (let y = box.height - 1; y > 0; y -= 6) {
    await page.mouse.move(box.x + box.width / 2, box.y + y)
    await settle(page)
    if ((await page.locator('.tooltip').count()) === 0) continue
    const job = (await text('tooltip')).split(',')[0]!
    await page.mouse.click(box.x + box.width / 2, box.y + y)
    await settle(page)
    expect((await address()).get('view')).toBe('jobs')
    const named = page.locator('nav[aria-label=Job] [aria-pressed=true]:not([data-test=all-matrices])')
    expect((await named.innerText()).trim()).toBe(job)
    return
  }
  expect.fail('no box under the pointer')
})

test('group matrix by congestion, by other measures, and stalls per link', async () => {
  await arrived()
  const { worst } = latency
  const [cell, index] = (await rows(1))[0]!
  const { source_group: from, target_group: to } = worst
  expect(cell).toBe(from === to ? `Inside group ${from}` : `Group ${from} to group ${to}`)
  expect(index).toBe(quantity(worst.congestion_index, 'share'))
  await at('group-measure').selectOption('stall_ps')
  await settle(page)
  expect((await address()).get('groupMeasure')).toBe('stall_ps')
  await keepPicture('latency')
  await click('stall-map')
  const settings = await address()
  expect([settings.get('view'), settings.get('measure')]).toEqual([null, 'stall_ps'])
  expect(await at('measure').inputValue()).toBe('stall_ps')
})

test('a hidden job has no box; the export is complete', async () => {
  await arrived(`${RUN}&jobs=0`)
  expect(new Set((await rows(0)).map(([job]) => job))).toEqual(new Set(['far']))
  const download = page.waitForEvent('download')
  await at('export').click()
  await at('export-csv').click()
  const lines = readFileSync(await (await download).path(), 'utf8')
    .trim()
    .split('\r\n')
  expect(lines[0]).toBe('what,from,to,value')
  const p99 = lines.find((line) => line.startsWith('latency_p99_ps,far,since creation'))!
  expect(Number(p99.split(',')[3]) / 1000).toBeCloseTo(latency.p99_ns, 6)
  const { source_group: from, target_group: to, congestion_index: index } = latency.worst
  expect(lines).toContain(`congestion_index,${from},${to},${index}`)
})

test('a run without packets has no such page', async () => {
  await open('families', `view=latency&run=${familyOf('dragonfly')}`)
  expect(await text('refused')).toContain('this run has no packet latencies')
  expect(await page.locator('[data-test=view-latency]').count()).toBe(0)
})

test.each([1440, 1000, 390])('fits %d pixels, light and dark', async (width) => {
  for (const theme of ['light', 'dark']) {
    await page.setViewportSize({ width, height: 900 })
    await arrived(`${RUN}&theme=${theme}`)
    const cut = await page.evaluate(
      'document.querySelector(".frame").scrollWidth > document.querySelector(".frame").clientWidth',
    )
    expect(cut).toBe(false)
    await keepPicture(`latency-${width}-${theme}`)
  }
})
