/** Costs of model runs: bars equal the run's tables, by pointer, keyboard, table and file. */
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
  open,
  openUntil,
  page,
  press,
  set,
  settle,
  text,
  useBrowser,
} from './stage'

useBrowser()

const { costs } = expected
const [first] = Object.keys(costs.scenarios)
const AMG = `view=costs&run=${familyOf('amg')}&focus=job%3A1`

const arrived = (settings: string): Promise<void> => openUntil('families', settings, '[data-test=cost-bars]')

/** Rows of the table behind the bars. */
async function rows(): Promise<string[][]> {
  await click('as-table')
  const found = await at('table')
    .locator('tbody tr')
    .evaluateAll((all) => all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText)))
  await press('Escape')
  return found
}

test('a cycle by level and term, scenarios side by side', async () => {
  await arrived(AMG)
  await keepPicture('costs')
  const found = await rows()
  expect(found[0]![0]).toBe(costs.largest.scenario)
  expect(new Set(found.map(([, level]) => level)).size).toBe(costs.levels)
  expect(new Set(found.map(([scenario]) => scenario))).toEqual(new Set(Object.keys(costs.scenarios)))
  const finest = found.find((row) => row.slice(0, 3).join() === [first, 'level 0', 'compute'].join())!
  expect(finest[3]).toBe(quantity(costs.finest_compute, 's'))
})

test('keyboard: largest part first; same tooltip by pointer', async () => {
  await arrived(`${AMG}&costRows=phase&costScale=share`)
  const [largest] = await rows()
  await at('cost-bars').focus()
  await press('.')
  const tooltips = await text('tooltip')
  for (const word of largest!.slice(0, 4)) expect(tooltips).toContain(word)
  await keepPicture('costs-share')
})

test('other rows, parts and job, stored in the address', async () => {
  await arrived(AMG)
  await at('cost-rows').selectOption('term')
  await settle(page)
  expect(await at('cost-parts').inputValue()).toBe('level')
  await at('cost-parts').selectOption('job')
  await settle(page)
  // Jobs are separated, so none is chosen.
  expect(await page.locator('[data-test=cost-job]').count()).toBe(0)
  await at('cost-rows').selectOption('job')
  await settle(page)
  const settings = await address()
  expect([settings.get('costRows'), settings.get('costParts')]).toEqual(['job', null])
})

test('the exported sums equal the table', async () => {
  await arrived(AMG)
  const download = page.waitForEvent('download')
  await at('export').click()
  await at('export-csv').click()
  const lines = readFileSync(await (await download).path(), 'utf8')
    .trim()
    .split('\r\n')
  expect(lines[0]).toBe('scenario,level,term,term_time_s')
  for (const [scenario, seconds] of Object.entries(costs.scenarios)) {
    const mine = lines
      .slice(1)
      .map((line) => line.split(','))
      .filter(([name]) => name === scenario)
    expect(mine.reduce((sum, row) => sum + Number(row[3]), 0)).toBeCloseTo(seconds, 12)
  }
})

test('no panel is empty in a run that only computes times', async () => {
  for (const run of ['model', 'amg']) {
    await open('families', `run=${familyOf(run)}`)
    expect(await at('no-traffic').isVisible()).toBe(true)
    for (const empty of ['[aria-label=Distribution]', '.load', '.matrices', '.links', '.minimaps'])
      expect(await page.locator(empty).count()).toBe(0)
    const panels = await page.getByRole('group', { name: 'Panel' }).getByRole('button').allInnerTexts()
    expect(panels).toEqual(run === 'model' ? ['Why', 'Query'] : ['Query'])
    await set(`view=jobs&run=${familyOf(run)}`)
    expect(await page.locator('.picture-title').innerText()).toMatch(/^Routers of /)
    expect(await page.locator('[aria-label=Distribution]').count()).toBe(0)
    // A matrix of cells only where the run has the table.
    expect(await page.locator('[aria-label=Communication]').count()).toBe(run === 'model' ? 1 : 0)
    expect(await page.locator('[data-test=figure-messages]').count()).toBe(run === 'model' ? 1 : 0)
  }
})

test('rank model: terms of the slowest rank, linked from the empty picture', async () => {
  await open('families', `run=${familyOf('model')}`)
  await page.getByRole('button', { name: 'Show costs' }).click()
  await page.waitForSelector('[data-test=cost-bars]')
  const found = await rows()
  const largest = Math.max(...Object.values(costs.per_rank))
  expect(found[0]![3]).toBe(quantity(largest, 's'))
  expect(found).toHaveLength(Object.values(costs.per_rank).filter((value) => value > 0).length)
  const sum = Object.values(costs.per_rank).reduce((a, b) => a + b, 0)
  expect(sum).toBeCloseTo(costs.per_rank_time, 12)
})

test('a run without costs has no such page', async () => {
  await open('families', 'view=costs&run=0')
  expect(await text('refused')).toContain('this run has no costs')
  expect(await page.locator('[data-test=view-costs]').count()).toBe(0)
})
