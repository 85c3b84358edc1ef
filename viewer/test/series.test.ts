import { describe, expect, test } from 'vitest'
import type { Unit } from '../src/base/format'
import { MomentModel } from '../src/data/model'
import { linkName } from '../src/data/run'
import {
  Frames,
  groupings,
  indexAt,
  intervalAt,
  keyOf,
  nameOfKey,
  partsOf,
  seriesLines,
  seriesTables,
  stepOf,
  strongest,
  type SeriesValue,
} from '../src/data/series'
import type { Columns, Merge } from '../src/data/source'
import { DEFAULTS } from '../src/data/state'
import { twoJobs } from './machines'

describe('time series', () => {
  const numbers = (columns: Record<string, number[]>) =>
    new Map(Object.entries(columns).map(([k, v]) => [k, Float64Array.from(v)]))
  /**
   * Links 0 and 1 leave router 0 of `tiny`; the second interval of link 1 has two rows with latency 250 and
   * peak 9.
   */
  const block = {
    rows: 4,
    numbers: numbers({
      start_ps: [0, 500, 500, 500],
      link: [0, 0, 1, 1],
      stall_ps: [7, 30, 4, 5],
      peak_bytes: [1, 2, 9, 3],
      latency_mean_ns: [100, 200, 250, 300],
      packets: [1, 2, 1, 1],
      held_bytes: [5, 6, 7, 8],
    }),
    coded: new Map(),
    strings: new Map(),
  }
  const run = twoJobs()
  const value = (column: string, unit: Unit, merge: Merge, weight?: string): SeriesValue =>
    weight === undefined
      ? { column, label: column, unit, merge }
      : { column, label: column, unit, merge, weight }
  const stall = value('stall_ps', 'ps', 'sum')
  const table = { name: 'link_series', time: 'start_ps', subjects: ['link'], values: [stall] }

  test('time tables have subject keys and measures', () => {
    const column = (unit: Unit, merge: Merge) => ({ type: 'f64', unit, merge, label: 'x' })
    const columns = {
      start_ps: column('ps', 'key'),
      link: column('none', 'key'),
      class: column('none', 'attribute'),
      length_ps: column('ps', 'attribute'),
      stall_ps: column('ps', 'sum'),
    }
    const [found, ...others] = seriesTables({
      ...run.info,
      tables: {
        link_series: { rows: 4, columns },
        latency: { rows: 2, columns: { latency_lower_ps: column('ps', 'key') } },
      },
    })
    expect([found!.time, found!.subjects, found!.values.map(({ column }) => column), others]).toEqual([
      'start_ps',
      ['link'],
      ['stall_ps'],
      [],
    ])
  })

  test('link rows can be grouped by link, sending router, group and class', () => {
    expect(groupings(table)).toEqual(['router', 'link', 'group', 'class'])
    expect(groupings({ ...table, subjects: ['job'] })).toEqual(['job'])
    expect(groupings({ ...table, subjects: ['router', 'port'] })).toEqual(['router', 'port', 'group'])
    expect(groupings({ ...table, subjects: [] })).toEqual(['whole'])
    for (const by of ['router', 'link', 'group', 'class'] as const) {
      const key = keyOf(run, block, by)
      const first = {
        link: 0,
        router: run.links.source[0]!,
        group: run.routers.group[run.links.source[0]!]!,
        class: run.links.class[0]!,
      }
      expect(key(0)).toBe(first[by])
    }
    expect(nameOfKey(run, block, 'link', 0)).toBe(linkName(run, 0))
  })

  test('rows are merged by the rule of their column; missing rows have no value', () => {
    const lines = (shown: SeriesValue, by: 'whole' | 'link') =>
      seriesLines(block, 'start_ps', keyOf(run, block, by), shown).lines.map((line) => [...line.values])
    expect(lines(stall, 'whole')).toEqual([[7, 39]])
    expect(lines(stall, 'link')).toEqual([
      [7, 30],
      [NaN, 9],
    ])
    expect(lines(value('peak_bytes', 'bytes', 'max'), 'whole')).toEqual([[1, 9]])
    expect(lines(value('held_bytes', 'bytes', 'last'), 'whole')).toEqual([[5, 8]])
    expect(lines(value('latency_mean_ns', 'ns', 'mean'), 'whole')).toEqual([[100, 250]])
    // (2 x 200 + 250 + 300) / 4
    expect(lines(value('latency_mean_ns', 'ns', 'mean', 'packets'), 'whole')).toEqual([[100, 237.5]])
  })

  test('a row of the heat map aggregates its links as chosen', () => {
    const rows = (shown: SeriesValue, by: 'group' | 'link', how: 'max' | 'mean' | 'sum') =>
      seriesLines(block, 'start_ps', keyOf(run, block, by), shown, partsOf(run, block, by, how)).lines.map(
        (line) => [...line.values],
      )
    const links = run.links.source.filter((router) => router < 2).length
    expect(links).toBe(4)
    expect(rows(stall, 'group', 'max')).toEqual([[7, 30]])
    expect(rows(stall, 'group', 'sum')).toEqual([[7, 39]])
    expect(rows(stall, 'group', 'mean')).toEqual([[7 / links, 39 / links]])
    // Links without packets have no latency.
    expect(rows(value('latency_mean_ns', 'ns', 'mean'), 'group', 'mean')[0]![0]).toBe(100)
    expect(rows(stall, 'link', 'mean')).toEqual(rows(stall, 'link', 'max'))
  })

  test('the machine at a time: link values of that interval, on one scale for all times', () => {
    const at = (name: string) => block.numbers.get(name)!
    const frames = new Frames(run.links.count, at('start_ps'), at('link'), at('stall_ps'), 'sum')
    const model = new MomentModel(run, frames, { id: 'stall_ps', label: 'Stall', unit: 'ps', merge: 'sum' })
    const peaks = new Frames(run.links.count, at('start_ps'), at('link'), at('peak_bytes'), 'max')
    expect([...peaks.at(500).slice(0, 3)]).toEqual([2, 9, 0])
    const means = new Frames(
      run.links.count,
      at('start_ps'),
      at('link'),
      at('stall_ps'),
      'mean',
      at('packets'),
    )
    expect([...means.at(500).slice(0, 3)]).toEqual([30, 4.5, 0])
    const derived = (time: number) => model.derive({ ...DEFAULTS, time })
    expect([...derived(499).values.slice(0, 3)]).toEqual([7, 0, 0])
    expect([...derived(500).values.slice(0, 3)]).toEqual([30, 9, 0])
    // No value after the end.
    expect([...derived(1e9).values.slice(0, 3)]).toEqual([0, 0, 0])
    expect([derived(0).scale.high, derived(500).scale.high]).toEqual([30, 30])
    expect(derived(0).measure.label).toBe('Stall')
  })

  test('of too many rows, the largest are kept in their order', () => {
    const lines = [3, 9, 1, 7].map((v, subject) => ({ subject, values: Float64Array.of(v, NaN) }))
    const kept = strongest({ times: Float64Array.of(0, 1), lines }, 2)
    expect(kept.lines.map((line) => line.subject)).toEqual([1, 3])
  })

  test('the interval at a time', () => {
    const times = Float64Array.of(0, 10, 20)
    expect([-5, 0, 9, 10, 25].map((time) => indexAt(times, time))).toEqual([0, 0, 0, 1, 2])
  })
})

test('an interval without a row is empty', () => {
  const frames = new Frames(
    2,
    Float64Array.of(0, 100, 400),
    Uint32Array.of(0, 1, 1),
    Float64Array.of(5, 6, 7),
    'sum',
  )
  expect(stepOf(frames.times)).toBe(100)
  expect([...frames.at(199)]).toEqual([0, 6])
  expect([...frames.at(200)]).toEqual([0, 0])
  expect([...frames.at(399)]).toEqual([0, 0])
  expect([...frames.at(450)]).toEqual([0, 7])
  expect(intervalAt(frames.times, 350)).toEqual({ begin: 300, i: -1 })
  expect(intervalAt(frames.times, 120)).toEqual({ begin: 100, i: 1 })
})

test('a list of ranks is no series, and neither is a time column that is not a key', () => {
  const column = (merge: Merge) => ({ type: 'f64', unit: 'ps' as const, merge, label: '' })
  const tablesOf = (columns: Columns) =>
    seriesTables({ ...twoJobs().info, tables: { t: { rows: 1, columns } } }).length
  expect(tablesOf({ start_ps: column('key'), job: column('key'), x: column('sum') })).toBe(1)
  expect(
    tablesOf({ start_ps: column('key'), job: column('key'), rank: column('key'), x: column('sum') }),
  ).toBe(0)
  expect(tablesOf({ start_ps: column('attribute'), job: column('key'), x: column('sum') })).toBe(0)
})
