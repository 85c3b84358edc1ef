/** Several runs: side by side, their difference, and sweeps. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { quantity, signed } from '../src/base/format'
import { radialPicture } from '../src/layout/radial'
import {
  at,
  click,
  expected,
  open,
  page,
  keepPicture,
  placeOf,
  press,
  runOf,
  set,
  settle,
  text,
  tipAt,
  useBrowser,
} from './stage'

useBrowser()

const [base, fewer] = [expected.runs['edison']!, expected.runs['edison-K']!]

describe('comparison', () => {
  test('-K against Edison: means per class and job', async () => {
    await open('all', 'view=compare&compared=0,1&difference=0')
    const changes = async (name: string, before: number, after: number) => {
      const shown = await text(`change-${name}-mean-1`)
      const change = before === after ? '±0' : (100 * (after / before - 1)).toFixed(1).replace('-', '−')
      expect(shown).toContain(quantity(after, 'bytes'))
      expect(shown.replace('+', '')).toContain(`${change} %`)
    }
    for (const code of ['green', 'black', 'blue']) {
      const [before, after] = [base.classes[code]!, fewer.classes[code]!]
      await changes(code, before.mean, after.mean)
      for (const [job, { name }] of base.jobs.entries())
        await changes(`${name}, ${code}`, before.mean_by_job[job]!, after.mean_by_job[job]!)
    }
    // One scale for both runs.
    expect((await text('ramp-labels')).split('\n').at(-1)).toBe(
      quantity(Math.max(base.max, fewer.max), 'bytes'),
    )
  })

  test('up to four runs of any machines on one scale', async () => {
    await open('all', 'view=compare&compared=0,1&difference=0')
    await click('compare-add')
    await click('compare-add')
    await page.waitForFunction(() => document.querySelectorAll('.pictures .picture').length === 4)
    expect(await at('compare-add').count()).toBe(0)
    const most = Math.max(
      ...['edison', 'edison-K', 'dragonfly', 'torus'].map((run) => expected.runs[run]!.max),
    )
    expect((await text('ramp-labels')).split('\n').at(-1)).toBe(quantity(most, 'bytes'))
    expect(await page.locator('.changes thead').innerText()).toContain('torus')
    await keepPicture('compare-four')
    await page.getByLabel('Remove edison-K').click()
    await settle(page)
    expect(await page.locator('.pictures .picture').count()).toBe(3)
  })

  test('opens on what changed, not on two circles; another run puts them side by side', async () => {
    await open('all', 'view=compare')
    expect(await page.locator('.picture').count()).toBe(1)
    expect(await page.locator('.class-bars button').count()).toBe(3)
    expect(await at('difference').getAttribute('aria-pressed')).toBe('true')
    await click('compare-add')
    await page.waitForFunction(() => document.querySelectorAll('.pictures .picture').length === 3)
  })

  test('difference: paired links, unpaired cables, both values in the tooltip', async () => {
    await open('all', 'view=compare&compared=0,1&difference=1')
    expect(await text('pairing')).toContain('41,040 links in both; 7,200 only in edison (removed)')
    const { from, to, before, after } = expected.difference
    const row = page.locator('.links tbody tr').first()
    expect(await row.innerText()).toMatch(new RegExp(`^${from}>${to}:`))
    await row.hover()
    await settle(page)
    const tip = await text('tooltip')
    expect(tip).toContain(signed(after - before, 'bytes'))
    expect(tip).toMatch(new RegExp(`edison\\s+${quantity(before, 'bytes')}`))
    expect(tip).toContain(quantity(after, 'bytes'))
    await keepPicture('difference')
  })

  test('a hover or search in one run is marked in the other', async () => {
    await open('all', 'view=compare&compared=0,1&difference=0')
    const frames = page.locator('.pictures .canvas-frame')
    const marked = () =>
      frames.nth(1).evaluate((frame) => {
        const overlay = frame.querySelector<HTMLCanvasElement>('.overlay')!
        const { data } = overlay.getContext('2d')!.getImageData(0, 0, overlay.width, overlay.height)
        return data.reduce((n, v, i) => n + Number(i % 4 === 3 && v > 0), 0)
      })
    expect(await marked()).toBe(0)
    const run = await runOf('all', 0)
    const drawing = radialPicture(run)
    const place = await placeOf(frames.first(), drawing)
    await tipAt(...place(drawing.routers[0]!, drawing.routers[1]!))
    expect(await marked()).toBeGreaterThan(10)
    await set('view=compare&compared=0,1&difference=0&focus=router%3Ag3r2c14')
    expect(await text('focus')).toContain('g3r2c14')
    expect(await marked()).toBeGreaterThan(10)
  })
})

describe('a sweep', () => {
  const mean = (values: number[]): number => values.reduce((sum, v) => sum + v, 0) / values.length
  const rows = () => page.locator('[data-test=pivot] tbody tr')

  test('map of settings: mean over seeds, min and max', async () => {
    await open('grid', 'view=sweep&sweepShow=map&sweepFigure=class%3Abytes_max%3Aall')
    expect(await at('sweep-rows').inputValue()).toBe('routing')
    expect(await at('sweep-columns').inputValue()).toBe('job.near.ranks')
    const check = async (of: 'most' | 'latency', unit: 'bytes' | 'ns'): Promise<void> => {
      for (const { routing, ranks, [of]: values } of expected.grid) {
        const row = rows().filter({ has: page.locator('th', { hasText: new RegExp(`^${routing}$`) }) })
        const cell = await row
          .locator('td')
          .nth(ranks === 32 ? 0 : 1)
          .innerText()
        expect(cell).toContain(quantity(mean(values), unit))
        const [least, most] = [Math.min(...values), Math.max(...values)]
        expect(cell).toContain(`${quantity(least, unit)} – ${quantity(most, unit)}, 3 runs`)
      }
    }
    await check('most', 'bytes')
    await at('sweep-figure').selectOption('job:latency_mean_ns:far')
    await page.waitForFunction(() => !document.querySelector('.page .loading'))
    await settle(page)
    await check('latency', 'ns')
    await keepPicture('sweep-map')
    await at('sweep-order').selectOption('value')
    await settle(page)
    const of = (routing: string): number =>
      mean(expected.grid.filter((cell) => cell.routing === routing).flatMap((cell) => cell.latency))
    const order = ['min', 'ugal-g'].sort((a, b) => of(b) - of(a))
    expect(await rows().locator('th').allInnerTexts()).toEqual(order)
    await click('sweep-lines')
    // A mark per cell of the map, with its numbers.
    await at('interactions').focus()
    const tips: string[] = []
    for (const _ of [1, 2, 3, 4]) {
      await press('.')
      tips.push(await text('tooltip'))
    }
    expect(new Set(tips).size).toBe(4)
    // The fourth is the last.
    await press('.')
    expect(await text('tooltip')).toBe(tips[3])
    expect(await page.locator('.interactions .legend li').count()).toBe(2)
    expect(tips.filter((tip) => tip.includes('ugal-g')).length).toBe(2)
    await keepPicture('sweep-lines')
  })

  test('a cell opens a comparison with the first of its row or column with the same seed', async () => {
    await open('grid', 'view=sweep&sweepShow=map&sweepFigure=class%3Abytes_max%3Aall')
    const chosen = () =>
      page
        .locator('.compare .pickers select')
        .evaluateAll((all) =>
          all.map((select) => (select as HTMLSelectElement).selectedOptions[0]!.textContent),
        )
    const cell = rows().nth(1).locator('td').nth(1).locator('button')
    await cell.focus()
    await press('Enter')
    await page.waitForSelector('.compare [data-test=pairing]')
    // Titles are settings, not directory names.
    expect(await chosen()).toEqual([
      'routing=ugal-g, job.near.ranks=32, seed=1',
      'routing=ugal-g, job.near.ranks=64, seed=1',
    ])
    await set('view=sweep&sweepShow=map&sweepFigure=class%3Abytes_max%3Aall&sweepBase=column')
    await cell.click()
    await page.waitForSelector('.compare [data-test=pairing]')
    expect((await chosen())[0]).toBe('routing=min, job.near.ranks=64, seed=1')
  })

  test('exports equal the view: map, lines and thumbnails', async () => {
    const download = async (kind: string): Promise<string> => {
      await page.locator('[data-test=export]').click()
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.locator(`[data-test=export-${kind}]`).click(),
      ])
      return readFileSync(await file.path(), 'utf8')
    }
    await open('grid', 'view=sweep&sweepShow=map&sweepFigure=class%3Abytes_max%3Aall')
    const lines = (await download('csv')).trimEnd().split('\r\n')
    expect(lines[0]).toBe('routing,job.near.ranks,mean,min,max,runs')
    for (const { routing, ranks, most } of expected.grid) {
      const line = lines.find((line) => line.startsWith(`${routing},${ranks},`))!.split(',')
      expect(Number(line[2])).toBeCloseTo(mean(most), 3)
      expect(line.slice(3).map(Number)).toEqual([Math.min(...most), Math.max(...most), 3])
    }
    expect(await download('svg')).toContain('>ugal-g</text>')
    await set('view=sweep&sweepShow=runs')
    await page.waitForTimeout(1500)
    const svg = await download('svg')
    expect(svg.match(/<image /g)).toHaveLength(12)
    expect((await download('csv')).trimEnd().split('\r\n')).toHaveLength(13)
  })

  test('a thumbnail per run in any order; a click opens it', async () => {
    await open('sweep', 'view=sweep&sweepShow=runs')
    expect(await page.locator('.thumbnail').count()).toBe(3)
    const names = async () =>
      (await page.locator('.thumbnail b').allTextContents()).map((name) => name.split('/').at(-1))
    expect(await names()).toEqual(['seed-1', 'seed-2', 'seed-3'])
    const keys = await page.locator('[data-test=sweep-key] option').allTextContents()
    expect(keys).toContain('seed')
    expect(keys).toContain('mean per link')
    await at('sweep-key').selectOption('mean per link')
    await settle(page)
    const means = [1, 2, 3].map((seed) => [expected.sweep[`seed-${seed}`]!, `seed-${seed}`] as const)
    expect(await names()).toEqual(means.sort((a, b) => a[0] - b[0]).map(([, name]) => name))
    await click('thumbnail-2')
    await page.waitForSelector('[data-test=selected-count]')
    expect(await page.locator('[data-test=run]').inputValue()).toBe('2')
  })
})
