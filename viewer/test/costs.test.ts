/** Costs of a model run: hand-solved sums, layout to the pixel, tooltips. */
import { expect, test } from 'vitest'
import type { Block, NumericArray } from '../src/data/block'
import {
  costBars,
  costChoice,
  costHeadline,
  cycleCosts,
  hasCosts,
  rankCosts,
  slowestJob,
} from '../src/data/costs'
import { costRows } from '../src/data/rows'
import { barAt, barsPicture, barTip } from '../src/layout/bars'
import { makeRun, type Description } from './machines'

const MACHINE: Description = {
  name: 'pair',
  shape: 'graph',
  axes: ['router'],
  routers: [[0], [1]],
  groupOf: () => 0,
  wires: [{ source: 0, target: 1, class: 'cable' }],
  jobs: ['many', 'few'],
}
const run = makeRun(MACHINE)

/** Job, scenario, level, phase, term, seconds; code order differs from order of appearance. */
const ROWS = [
  [0, 'with', 0, 'smooth', 'compute', 8],
  [0, 'with', 0, 'restrict', 'latency', 2],
  [0, 'with', 1, 'smooth', 'compute', 1],
  [0, 'with', 1, 'smooth', 'latency', 3],
  [0, 'without', 0, 'smooth', 'compute', 8],
  [0, 'without', 1, 'smooth', 'compute', 1],
  [1, 'with', 0, 'smooth', 'compute', 16],
] as const

function blockOf(rows: readonly (readonly [number, string, number, string, string, number])[]): Block {
  const coded = (i: 1 | 3 | 4) => {
    const names = [...new Set(rows.map((row) => row[i]))].reverse()
    return { names, codes: Uint8Array.from(rows, (row) => names.indexOf(row[i])) }
  }
  return {
    rows: rows.length,
    numbers: new Map<string, NumericArray>([
      ['job', Uint32Array.from(rows, (row) => row[0])],
      ['level', Uint32Array.from(rows, (row) => row[2])],
      ['term_time_s', Float64Array.from(rows, (row) => row[5])],
    ]),
    coded: new Map([
      ['scenario', coded(1)],
      ['phase', coded(3)],
      ['term', coded(4)],
    ]),
    strings: new Map(),
  }
}

const costs = cycleCosts(run, blockOf(ROWS))

test('bars by level, parts by term, a panel per scenario, one job', () => {
  expect(costBars(costs, { rows: 'level', parts: 'term' }, 0)).toEqual({
    rows: ['level 0', 'level 1'],
    parts: ['compute', 'latency'],
    panels: [
      {
        scenario: 'with',
        bars: [
          [8, 2],
          [1, 3],
        ],
        total: 14,
      },
      {
        scenario: 'without',
        bars: [
          [8, 0],
          [1, 0],
        ],
        total: 9,
      },
    ],
    most: 10,
  })
})

test('a sentence names the longest bar of each scenario', () => {
  const bars = costBars(costs, { rows: 'level', parts: 'term' }, 0)
  expect(costHeadline(bars, 'many').replace(/\s/g, ' ')).toBe(
    'many takes longest at level 0, mostly compute (10 s of 14 s in with, 8 s of 9 s in without).',
  )
  expect(costHeadline({ ...bars, rows: ['level 0'] }, 'many')).toBe('')
})

test('jobs have separate bars; a hidden job has none', () => {
  const all = costBars(costs, { rows: 'job', parts: 'phase' }, -1)
  expect([all.rows, all.parts, all.panels[0]!.bars]).toEqual([
    ['many', 'few'],
    ['smooth', 'restrict'],
    [
      [12, 2],
      [16, 0],
    ],
  ])
  const one = costBars(costs, { rows: 'job', parts: 'phase' }, -1, (job) => job !== 0)
  expect([one.rows, one.parts, one.panels.map(({ total }) => total)]).toEqual([['few'], ['smooth'], [16, 0]])
})

test('all splits have the same sum', () => {
  const all = ROWS.filter(([job, scenario]) => job === 0 && scenario === 'with')
  const sum = all.reduce((total, row) => total + row[5], 0)
  const axes = ['job', 'level', 'phase', 'term'] as const
  const splits = axes.flatMap((rows) => axes.map((parts) => ({ rows, parts })))
  for (const split of splits.filter(({ rows, parts }) => rows !== parts))
    expect(costBars(costs, split, 0).panels[0]!.total).toBe(sum)
})

test('invalid axes are replaced: rows equal to parts, axes that the run lacks', () => {
  expect(costChoice(costs, 'term', 'term')).toEqual({ rows: 'term', parts: 'job' })
  const ranks = rankCosts(makeRun({ ...MACHINE, ...PRICED }))
  expect(costChoice(ranks, 'level', 'term')).toEqual({ rows: 'job', parts: 'term' })
})

const SECONDS = { type: 'f64', unit: 's', label: '' } as const
const PRICED: Partial<Description> = {
  jobColumns: {
    predicted_time_s: { ...SECONDS, merge: 'max', label: 'Time' },
    startup_s: { ...SECONDS, merge: 'attribute', label: 'Start-ups' },
    bandwidth_s: { ...SECONDS, merge: 'attribute', label: 'Bandwidth' },
    // Not a term: the rank table has no such column.
    timeout_s: { ...SECONDS, merge: 'attribute', label: 'Timeout' },
  },
  figures: { predicted_time_s: [3, 7], startup_s: [1, 2], bandwidth_s: [2, 5], timeout_s: [9, 9] },
}

test('the slowest job counts in the first scenario only', () => {
  const at = { level: 0, phase: 0, term: 0 }

  const cells = [
    { scenario: 0, at: { ...at, job: 0 }, seconds: 1 },
    { scenario: 0, at: { ...at, job: 1 }, seconds: 2 },
    { scenario: 1, at: { ...at, job: 0 }, seconds: 9 },
  ]
  expect(slowestJob({ ...costs, jobs: [4, 7], cells })).toBe(7)
  expect(slowestJob({ ...costs, jobs: [], cells: [] })).toBe(-1)
})

test('rank models: terms of the slowest rank sum to its time', () => {
  const priced = makeRun({ ...MACHINE, ...PRICED })
  const tables = {
    ...priced.info.tables,
    rank_costs: { rows: 2, columns: PRICED.jobColumns! },
  }
  delete (tables.rank_costs.columns as Record<string, unknown>)['timeout_s']
  const ranked = { ...priced, info: { ...priced.info, tables } }
  expect(hasCosts(priced.info)).toBe(false)
  expect(hasCosts(ranked.info)).toBe(true)
  const bars = costBars(rankCosts(ranked), { rows: 'job', parts: 'term' }, -1)
  expect([bars.rows, bars.parts, bars.panels[0]!.bars]).toEqual([
    ['many', 'few'],
    ['Start-ups', 'Bandwidth'],
    [
      [1, 2],
      [2, 5],
    ],
  ])
})

test('layout: adjacent parts, lengths by time, one scale, panels wrap', () => {
  const bars = costBars(costs, { rows: 'level', parts: 'term' }, 0)
  const wide = barsPicture(bars, 1000, false)
  const lengths = wide.marks.map(({ width, seconds }) => width / seconds)
  for (const length of lengths) expect(length).toBeCloseTo(lengths[0]!, 9)
  expect(wide.marks).toHaveLength(6)
  expect(wide.marks[1]!.x).toBeCloseTo(wide.marks[0]!.x + wide.marks[0]!.width, 9)
  expect(wide.marks[4]!.x).toBeCloseTo(wide.marks[0]!.x + 512, 9)
  // The longest bar leaves room for its total inside the panel.
  expect(wide.marks[1]!.x + wide.marks[1]!.width).toBeLessThanOrEqual(488 - 68 + 1e-9)
  const narrow = barsPicture(bars, 390, false)
  expect(narrow.height).toBe(2 * wide.height)
  expect(narrow.marks[4]!.x).toBe(narrow.marks[0]!.x)
  const shares = barsPicture(bars, 1000, true)
  const whole = (row: number): number =>
    shares.marks
      .filter((mark) => mark.panel === 0 && mark.row === row)
      .reduce((sum, { width }) => sum + width, 0)
  expect(whole(0)).toBeCloseTo(whole(1), 9)
})

test('hit testing and tooltip', () => {
  const bars = costBars(costs, { rows: 'level', parts: 'term' }, 0)
  const picture = barsPicture(bars, 1000, false)
  const { x, y, width, height } = picture.marks[3]!
  expect(barAt(picture, x + width / 2, y + height / 2)).toBe(3)
  expect(barAt(picture, x + width / 2, y + height + 2)).toBeNull()
  expect(barTip(bars, picture.marks[3]!)).toEqual({
    title: 'level 1, latency',
    rows: [
      ['Scenario', 'with'],
      ['Time', '3 s'],
      ['Share of the bar', '75.0 %'],
      ['Share of the scenario', '21.4 %'],
    ],
  })
  const table = costRows(bars, 'Costs', 'level', 'term')
  expect([table.all, table.rows[0], table.rows.at(-1)]).toEqual([
    6,
    ['with', 'level 0', 'compute', '8 s', '57.1 %'],
    ['without', 'level 1', 'compute', '1 s', '11.1 %'],
  ])
})

test('a heading fits its panel without cutting the total', () => {
  const bars = costBars(costs, { rows: 'level', parts: 'term' }, 0)
  const scenario = 'alpha-beta-gamma-with-all-its-penalties'
  const named = { ...bars, panels: bars.panels.map((panel) => ({ ...panel, scenario })) }
  const headsAt = (width: number): string[] =>
    barsPicture(named, width, false)
      .labels.filter(({ strong }) => strong)
      .map(({ text }) => text)
  for (const head of headsAt(1600))
    expect(head).toMatch(/^alpha-beta-gamma-with-all-its-penalties, total .*$/)
  // Two panels of 300 pixels each.
  for (const head of headsAt(624)) {
    expect(head).toMatch(/^alpha.*…, [\d.,]+ \S?s$/)
    expect(head.length * 7.4).toBeLessThanOrEqual(300)
  }
})
