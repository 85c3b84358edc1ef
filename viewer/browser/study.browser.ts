/** Studies: the Pareto front of a search and the slowdown between jobs; each row opens its runs. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { quantity } from '../src/base/format'
import { address, at, expected, keepPicture, open, page, press, settle, text, useBrowser } from './stage'

useBrowser()

const { search, interference } = expected
const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length

async function csv(): Promise<string[]> {
  const download = page.waitForEvent('download')
  await at('export').click()
  await at('export-csv').click()
  return readFileSync(await (await download).path(), 'utf8')
    .trim()
    .split('\r\n')
}

test('the Pareto front of a search, with its trials first', async () => {
  await open('search', 'view=study')
  expect(await text('study-reading')).toContain(
    `${search.trials.length} combinations, ${search.front.length} on the Pareto front`,
  )
  expect(search.front.length).toBeGreaterThan(1)
  const rows = await page
    .locator('[data-test=trials] tbody tr')
    .evaluateAll((all) => all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText)))
  expect(rows).toHaveLength(search.trials.length)
  search.front.forEach((trial, i) => {
    expect(rows[i]![0]).toBe(String(trial['trial']))
    expect(rows[i]).toContain(quantity(trial['slowest job'] as number, 's'))
    expect(rows[i]).toContain(trial['machine.edit'])
    expect(rows[i]!.at(-1)).toBe('on the front')
  })
  await keepPicture('study-front')
})

test('a trial opens its run and the run of the file’s own values', async () => {
  await open('search', 'view=study')
  const number = search.front[0]!['trial'] as number
  await at(`trial-${number}`).click()
  await settle(page)
  const compared = (await address()).get('compared')!.split(',').map(Number)
  expect((await address()).get('view')).toBe('compare')
  // Two seeds per trial: the first trial has runs 0 and 1.
  expect(compared).toEqual([0, 2 * number])
  await page.goBack()
  await settle(page)
  await at('front').focus()
  await press('.')
  expect(await text('tooltip')).toContain('Slowest job')
})

test('interference: one table per job; a cell opens both runs', async () => {
  await open('interference', 'view=study')
  const cell = (panel: string, row: string, column: number) =>
    page
      .locator(`.panels section[aria-label="${panel}"] tbody tr`)
      .filter({ has: page.locator('th', { hasText: new RegExp(`^${row}$`) }) })
      .locator('td')
      .nth(column)
  // Backgrounds against routings, means over seeds.
  for (const { target, routing, slowdowns } of interference) {
    const background = target === 'fft' ? 'halo' : 'fft'
    const shown = await cell(target, background, ['min', 'par'].indexOf(routing)).innerText()
    expect(shown).toContain(quantity(mean(slowdowns), 'ratio'))
  }
  await keepPicture('study-interference')
  await at('study-panels').selectOption('-')
  await at('study-rows').selectOption('target')
  await at('study-columns').selectOption('background')
  await settle(page)
  for (const [target, column] of [
    ['fft', 1],
    ['halo', 0],
  ] as const) {
    const all = interference.filter((row) => row.target === target).flatMap(({ slowdowns }) => slowdowns)
    expect(await cell('all', target, column).innerText()).toContain(quantity(mean(all), 'ratio'))
  }
  await cell('all', 'halo', 0).locator('button').click()
  await settle(page)
  const settings = await address()
  expect(settings.get('view')).toBe('compare')
  const labels = await page.locator('[data-test=run] option').allInnerTexts()
  const [alone, shared] = settings
    .get('compared')!
    .split(',')
    .map((id) => labels[Number(id)]!)
  expect(alone).toContain('jobs=halo,')
  expect(shared).toBe(alone!.replace('jobs=halo', 'jobs=fft+halo'))
})

test('each cell opens its own runs with the same seed', async () => {
  await open('interference', 'view=study')
  const tables = await page.locator('.panels section').count()
  expect(tables).toBe(2)
  let visited = 0
  for (let panel = 0; panel < tables; panel++) {
    const section = page.locator('.panels section').nth(panel)
    const target = await section.getAttribute('aria-label')
    const columns = (await section.locator('thead th').allInnerTexts()).slice(-2)
    const rows = await section.locator('tbody tr').count()
    for (let row = 0; row < rows; row++) {
      const background = (await section.locator('tbody tr').nth(row).locator('th').innerText()).trim()
      for (const [column, routing] of columns.entries()) {
        const cell = section.locator('tbody tr').nth(row).locator('td').nth(column).locator('button')
        if ((await cell.count()) === 0) continue
        await cell.click()
        await settle(page)
        const settings = await address()
        const labels = await page.locator('[data-test=run] option').allInnerTexts()
        // A job alone has no base.
        const others = ['fft', 'halo'].includes(background)
        expect(settings.get('view')).toBe(others ? 'compare' : null)
        const [alone, shared] = (settings.get('compared') ?? settings.get('run') ?? '0')
          .split(',')
          .map((id) => labels[Number(id)]!)
        expect(alone).toContain(`jobs=${target},`)
        expect(alone).toContain(`, routing=${routing.trim()},`)
        // The base is the same run without competing jobs.
        expect(shared).toBe(others ? alone!.replace(`jobs=${target},`, 'jobs=fft+halo,') : undefined)
        visited++
        await page.goBack()
        await settle(page)
      }
    }
  }
  // Two targets, each alone and with the other job, with two routings.
  expect(visited).toBe(8)
})

test('a dot of the front opens its runs', async () => {
  await open('search', 'view=study')
  const box = (await at('front').boundingBox())!
  for (let i = 0; i < 2400; i++) {
    const [x, y] = [box.x + 100 + ((i % 60) * (box.width - 120)) / 60, box.y + 20 + Math.floor(i / 60) * 9]
    await page.mouse.move(x, y)
    if ((await page.locator('.tooltip').count()) === 0) continue
    const trial = Number(/^Trial (\d+)/.exec(await text('tooltip'))![1])
    await page.mouse.click(x, y)
    await settle(page)
    const settings = await address()
    // The first trial is the file's own values, so there is nothing to compare it with.
    if (trial === 0) expect(settings.get('view')).toBeNull()
    else expect(settings.get('compared')).toBe(`0,${2 * trial}`)
    return
  }
  expect.fail('no dot under the pointer')
})

test('an interference sweep opens with its largest slowdown', async () => {
  await open('interference', '')
  const [largest] = interference
    .map((one) => ({ ...one, mean: mean(one.slowdowns) }))
    .sort((a, b) => b.mean - a.mean)
  const said = await text('study-headline')
  expect(said).toMatch(/^(Largest slowdown|No slowdown beyond the spread of seeds; the largest): /)
  expect(said).toContain(`${largest!.target} × ${quantity(largest!.mean, 'ratio')} with `)
  expect(said).toContain(`engine.routing=${largest!.routing}`)
})

test('the map of a figure of jobs asks for the table of all runs once', async () => {
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname.replace(/^\/[^/]+\//, '')))
  await open('grid', 'view=sweep&sweepShow=map')
  // The cells come with the answer.
  await page.locator('[data-test=pivot] .pivot-cell').nth(3).waitFor()
  expect(await page.locator('[data-test=pivot] .pivot-cell').count()).toBe(4)
  expect(asked.filter((path) => path.endsWith('/jobs'))).toEqual(['api/runs/all/jobs'])
})

test('the export has all entries', async () => {
  await open('interference', 'view=study')
  const lines = await csv()
  expect(lines[0]).toMatch(/^target,background,engine.routing,engine.seed,/)
  expect(lines).toHaveLength(1 + 16)
  await open('search', 'view=study')
  expect(await csv()).toHaveLength(1 + search.trials.length)
})

test('other runs have no study view', async () => {
  await open('sweep', 'view=study')
  expect(await text('refused')).toContain('no study is open')
  expect(await page.locator('[data-test=view-study]').count()).toBe(0)
})

test.each([1440, 1000, 390])('fits %d pixels, light and dark', async (width) => {
  await page.setViewportSize({ width, height: 900 })
  for (const theme of ['light', 'dark'])
    for (const server of ['search', 'interference']) {
      await open(server, `view=study&theme=${theme}`)
      const wide =
        'document.querySelector(".frame").scrollWidth > document.querySelector(".frame").clientWidth'
      expect(await page.evaluate(wide)).toBe(false)
      await keepPicture(`study-${server}-${width}-${theme}`)
    }
})
