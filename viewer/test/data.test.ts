import { describe, expect, test } from 'vitest'
import { aggregateMarks, groupJobTraffic, marksFrom } from '../src/data/aggregate'
import { decodeBlock } from '../src/data/block'
import { selectionCsv } from '../src/data/csv'
import { describeLinks, describeRouter, routerJobs } from '../src/data/describe'
import type { Unit } from '../src/base/format'
import { findLink, resolveFocus, search, translation } from '../src/data/focus'
import { axisTicks, binCounts, valueAxis } from '../src/data/histogram'
import { RunModel } from '../src/data/model'
import { communicationMatrix } from '../src/data/placement'
import { linkName } from '../src/data/run'
import type { Merge } from '../src/data/source'
import { colorScale, EMPTY, FILTERED, FIRST_SHADE, SHADES, shadeAll } from '../src/data/scale'
import { hottest, selectLinks } from '../src/data/selection'
import { DEFAULTS, readUrl, writeUrl, type ViewState } from '../src/data/state'
import { classStats, nth, percentile, sortedByClass } from '../src/data/stats'
import { countedJobs, jobsOnLink, linkValues } from '../src/data/values'
import { edison, edisonDescription, makeRun, random, tiny, twoJobs } from './machines'

describe('column blocks', () => {
  test('columns are views of the buffer, including text and codes', () => {
    const header = { rows: 2, columns: [] as object[] }
    const columns = [
      { name: 'x', type: 'f64', offset: 0, bytes: 16 },
      { name: 'class', type: 'u8', offset: 16, bytes: 2, dictionary: ['green', 'blue'] },
      { name: 'name', type: 'str', offset: 24, bytes: 3 * 4 + 4 },
    ]
    const length = 400
    const base = 8 + length
    header.columns = columns.map((c) => ({ ...c, offset: c.offset + base }))
    const buffer = new ArrayBuffer(base + 40)
    new Uint8Array(buffer).set(new TextEncoder().encode('ODB2'))
    new DataView(buffer).setUint32(4, length, true)
    new Uint8Array(buffer).set(new TextEncoder().encode(JSON.stringify(header).padEnd(length)), 8)
    new Float64Array(buffer, base, 2).set([1.5, -2])
    new Uint8Array(buffer, base + 16).set([1, 0])
    new Uint32Array(buffer, base + 24, 3).set([0, 3, 4])
    new Uint8Array(buffer, base + 36).set(new TextEncoder().encode('éab'))
    const block = decodeBlock(buffer)
    expect([...block.numbers.get('x')!]).toEqual([1.5, -2])
    expect(block.numbers.get('x')!.buffer).toBe(buffer)
    expect(block.coded.get('class')!.names[block.coded.get('class')!.codes[0]!]).toBe('blue')
    expect(block.strings.get('name')!.toArray()).toEqual(['éa', 'b'])
  })

  test('other data is refused', () => {
    expect(() => decodeBlock(new ArrayBuffer(4))).toThrow('not a column block')
    expect(() => decodeBlock(new TextEncoder().encode('{"error":"nothing here"}').buffer)).toThrow(
      'not a column block',
    )
  })
})

test('data for the drawing thread is copied, so the received buffer is not sent', () => {
  const { up, count } = twoJobs().routers
  expect(up.buffer.byteLength).toBe(count)
})

describe('values by job', () => {
  test('all jobs: the engine’s total; one job: its own; without one: the rest', () => {
    const run = twoJobs()
    const [bytes] = run.measures
    const values = (modes: ViewState['jobs']) => [
      ...linkValues(bytes!, run.links, run.linkJobs, countedJobs(2, modes)),
    ]
    const first = Array.from({ length: 12 }, (_, l) => (l + 1) * 1024)
    const second = Array.from({ length: 12 }, (_, l) => (l % 2 === 0 ? 10240 : 0))
    expect(values({})).toEqual(first.map((v, l) => v + second[l]!))
    expect(values({ 1: 'hidden' })).toEqual(first)
    expect(values({ 0: 'subtracted' })).toEqual(second)
    expect(values({ 0: 'hidden', 1: 'subtracted' })).toEqual(first.map(() => 0))
  })

  test('jobs on a link, largest first', () => {
    const run = twoJobs()
    expect(jobsOnLink(run.measures[0]!, run.linkJobs, countedJobs(2, {}), 0)).toEqual([
      { job: 1, value: 10240 },
      { job: 0, value: 1024 },
    ])
  })
})

describe('statistics', () => {
  test('a percentile is the value at rank ceil(p/100 n)', () => {
    const ten = Float64Array.from({ length: 10 }, (_, i) => i + 1)
    // ceil(0.9 * 10) = 9, ceil(0.99 * 10) = 10, ceil(0.5 * 10) = 5
    expect([50, 90, 99].map((p) => percentile(ten, p))).toEqual([5, 9, 10])
    expect(percentile(Float64Array.of(7), 50)).toBe(7)
    expect(percentile(new Float64Array(0), 50)).toBe(0)
  })

  test('zeros count in means, but not as non-zero', () => {
    const stats = classStats(Float64Array.of(0, 0, 2, 4))
    expect(stats).toMatchObject({ links: 4, nonzero: 2, sum: 6, mean: 1.5, max: 4, min: 0 })
  })

  test('each link is among the sorted values of its class', () => {
    const parts = sortedByClass(Float64Array.of(3, 1, 2, 0), Uint8Array.of(0, 1, 0, 1), 2)
    expect(parts.map((part) => [...part])).toEqual([
      [2, 3],
      [0, 1],
    ])
  })
})

describe('histogram', () => {
  const next = random(3)
  const values = Float64Array.from({ length: 5000 }, () => (next() < 0.2 ? 0 : 10 ** (next() * 6))).sort()

  test.each(['linear', 'log'] as const)('%s: each link is in one bin or counted as zero', (kind) => {
    const axis = valueAxis(
      kind,
      0,
      values[4999]!,
      values.find((v) => v > 0)!,
    )
    const { counts, zeros } = binCounts(values, axis, 40)
    expect(counts.reduce((a, b) => a + b, 0) + zeros).toBe(5000)
    expect(zeros).toBe(kind === 'log' ? values.filter((v) => v === 0).length : 0)
    for (let p = 0; p <= 1; p += 0.1) expect(axis.position(axis.value(p))).toBeCloseTo(p, 9)
  })

  test('a symmetric axis for differences keeps zero between the signs', () => {
    const axis = valueAxis('log', -1000, 1000, 1)
    expect(axis.position(0)).toBeCloseTo(0.5)
    expect(axis.position(-1000)).toBeCloseTo(0)
    expect(axis.value(1)).toBeCloseTo(1000)
  })

  test('ticks are round and few', () => {
    expect(axisTicks(valueAxis('linear', 0, 100, 1), 4)).toEqual([0, 50, 100])
    expect(axisTicks(valueAxis('linear', 0, 3 * 1024 ** 3, 1), 4, 2).map((t) => t / 1024 ** 3)).toEqual([
      0, 1, 2, 3,
    ])
    expect(axisTicks(valueAxis('log', 0, 1e6, 1), 3)).toEqual([1, 100, 1e4, 1e6])
  })
})

describe('colour scale', () => {
  const sorted = Float64Array.from({ length: 1001 }, (_, i) => i)

  test.each(['linear', 'log', 'quantile'] as const)(
    '%s: shades increase with the values and use the whole ramp',
    (kind) => {
      const scale = colorScale(kind, sorted, false, null)
      const shades = shadeAll(sorted, scale)
      expect(shades[0]).toBe(EMPTY)
      for (let i = 2; i <= 1000; i++) expect(shades[i]!).toBeGreaterThanOrEqual(shades[i - 1]!)
      expect(shades[1000]).toBe(FIRST_SHADE + SHADES - 1)
      expect(scale.value(1)).toBeCloseTo(1000)
    },
  )

  test('a quantile scale uses half of its shades for half of the values', () => {
    const spread = sorted.map((v) => v ** 4)
    const shades = shadeAll(spread, colorScale('quantile', spread, false, null))
    const low = shades.filter((s) => s !== EMPTY && s < FIRST_SHADE + SHADES / 2).length
    expect(low).toBeGreaterThan(480)
    expect(low).toBeLessThan(520)
  })

  test.each(['linear', 'log', 'quantile'] as const)(
    '%s, diverging: zero is the middle of the ramp',
    (kind) => {
      const both = Float64Array.from({ length: 401 }, (_, i) => (i - 200) ** 3)
      const scale = colorScale(kind, both, true, null)
      const middle = FIRST_SHADE + SHADES / 2
      expect(Math.abs(scale.shade(both[199]!) - middle)).toBeLessThan(4)
      expect(scale.shade(both[400]!)).toBe(FIRST_SHADE + SHADES - 1)
      expect(scale.shade(both[0]!)).toBe(FIRST_SHADE)
    },
  )

  test('a frozen range does not depend on the values', () => {
    const scale = colorScale('linear', sorted, false, [0, 10])
    expect(scale.shade(500)).toBe(FIRST_SHADE + SHADES - 1)
    expect([scale.low, scale.high]).toEqual([0, 10])
  })
})

describe('selection', () => {
  const next = random(5)
  const n = 4000
  const values = Float64Array.from({ length: n }, () => (next() < 0.1 ? 0 : next() * 100))
  const classOf = Uint8Array.from({ length: n }, () => Math.floor(next() * 3))
  const shades = values.map((v) => (v === 0 ? EMPTY : 100)) as unknown as Uint8Array

  const between = (low: number, high: number) => ({
    lows: Float64Array.of(low, low, low),
    highs: Float64Array.of(high, high, high),
    inverted: false,
    ends: null,
  })

  test('one pass equals three separate filters', () => {
    const focus = Uint8Array.from({ length: n }, () => (next() < 0.5 ? 1 : 0))
    const range = between(20, 70)
    const filter = { range, classOn: Uint8Array.of(1, 0, 1), focus }
    const result = selectLinks(values, Uint8Array.from(shades), classOf, filter)
    const wanted = [...values.keys()].filter(
      (l) => values[l]! >= 20 && values[l]! <= 70 && classOf[l] !== 1 && focus[l] === 1,
    )
    expect([...result.selected.keys()].filter((l) => result.selected[l] === 1)).toEqual(wanted)
    expect(result.count).toBe(wanted.length)
    for (const code of [0, 1, 2]) {
      const mine = wanted.filter((l) => classOf[l] === code)
      expect(result.counts[code]).toBe(mine.length)
      expect(result.sums[code]).toBeCloseTo(
        mine.reduce((sum, l) => sum + values[l]!, 0),
        6,
      )
    }
    values.forEach((v, l) =>
      expect(result.looks[l]).toBe(v === 0 ? EMPTY : result.selected[l] === 1 ? 100 : FILTERED),
    )
  })

  test('reused buffers are overwritten completely', () => {
    const all = { range: between(-Infinity, Infinity), classOn: Uint8Array.of(1, 1, 1), focus: null }
    const first = selectLinks(values, Uint8Array.from(shades), classOf, {
      ...all,
      range: between(50, Infinity),
    })
    const second = selectLinks(values, Uint8Array.from(shades), classOf, all, first)
    expect(second.count).toBe(n)
    expect(second.selected.every((s) => s === 1)).toBe(true)
    expect(second.selected).toBe(first.selected)
  })

  test('the hottest links equal the top of a full sort', () => {
    const selected = Uint8Array.from({ length: n }, () => (next() < 0.7 ? 1 : 0))
    const sorted = [...values.keys()]
      .filter((l) => selected[l] === 1 && values[l] !== 0)
      .sort((a, b) => values[b]! - values[a]! || a - b)
    expect(hottest(values, selected, 50)).toEqual(sorted.slice(0, 50))
    expect(hottest(values, selected, 0)).toEqual([])
    expect(hottest(values, new Uint8Array(n), 5)).toEqual([])
  })
})

describe('aggregation', () => {
  const marks = marksFrom(Int32Array.of(0, 1, 0, -1, 1, 0), 3)

  test('links keep their order within a mark', () => {
    expect([...marks.links.subarray(marks.offsets[0], marks.offsets[1])]).toEqual([0, 2, 5])
    expect(marks.offsets[3]! - marks.offsets[2]!).toBe(0)
  })

  test('max by absolute value, mean and sum of the selected links', () => {
    const values = Float64Array.of(1, 5, -7, 100, 2, 3)
    const selected = Uint8Array.of(1, 1, 1, 1, 0, 1)
    expect([...aggregateMarks(marks, values, selected, 'max').values]).toEqual([-7, 5, 0])
    expect([...aggregateMarks(marks, values, selected, 'sum').values]).toEqual([-3, 5, 0])
    expect([...aggregateMarks(marks, values, selected, 'mean').values]).toEqual([-1, 5, 0])
    expect([...aggregateMarks(marks, values, selected, 'sum').selected]).toEqual([3, 1, 0])
  })

  test('group bands contain all counted traffic of the selection once', () => {
    const run = twoJobs()
    const { routers, links, linkJobs, measures } = run
    const bands = groupJobTraffic(
      routers.group,
      3,
      2,
      links,
      linkJobs,
      measures[0]!.perJob!,
      Uint8Array.of(1, 1),
      new Uint8Array(12).fill(1),
    )
    expect(bands.reduce((a, b) => a + b, 0)).toBe(measures[0]!.total.reduce((a, b) => a + b, 0))
  })
})

describe('the address', () => {
  test('only non-default settings are written, and read back equal', () => {
    expect(writeUrl(DEFAULTS)).toBe('')
    const state: ViewState = {
      ...DEFAULTS,
      view: 'compare',
      compared: [2, 0],
      difference: false,
      classesOff: ['a,b', '100%'],
      jobs: { 1: 'hidden', 3: 'subtracted' },
      low: 1.25e6,
      frozen: [0, 5e8],
      focus: 'link:g0r0c0>g0r0c1:green.0',
      zoom: [2.5, -10, 30.5],
      theme: 'dark',
    }
    expect(readUrl(writeUrl(state))).toMatchObject({ state, problems: [] })
  })

  test('a subtracted job 0 is not hidden', () => {
    const state: ViewState = { ...DEFAULTS, jobs: { 0: 'subtracted' } }
    expect(readUrl(writeUrl(state)).state.jobs).toEqual({ 0: 'subtracted' })
  })

  test.each(['low=abc', 'zoom=1,2', 'frozen=5', 'nonsense=1', 'scale='])(
    '%s keeps the default and reports it',
    (text) => {
      const { state, problems } = readUrl(text)
      expect(state).toEqual(DEFAULTS)
      expect(problems).toHaveLength(1)
    },
  )
})

describe('focus and search', () => {
  const run = edison()

  test('names and links map to each other', () => {
    for (const l of [0, 777, 30_000, 48_239]) expect(findLink(run, linkName(run, l))).toBe(l)
    expect(findLink(run, 'g0r0c0>g0r0c0:green.0')).toBe(-1)
    expect(findLink(run, 'nonsense')).toBe(-1)
  })

  test('a router focus keeps its links: 15 green, 15 black and its blue ones, in both directions', () => {
    const focus = resolveFocus(run, 'router:g3r2c14')!
    const kept = focus.mask!.reduce((n, on) => n + on, 0)
    // Column 14 = 2 * 7: one other group of 14 (k = 7), 2 parallel links.
    expect(kept).toBe(2 * (15 + 15 + 2))
  })

  test('a pair of groups has 24 links', () => {
    expect(resolveFocus(run, 'pair:3>9')!.mask!.reduce((n, on) => n + on, 0)).toBe(24)
  })

  test('unknown names resolve to null', () => {
    for (const text of ['group:15', 'group:x', 'router:g99r0c0', 'link:x', 'job:0', 'whatever', 'what:ever'])
      expect(resolveFocus(run, text), text).toBeNull()
  })

  test('search finds groups, routers, nodes and links, shortest name first', () => {
    expect(
      search(run, 'g1')
        .map((f) => f.label)
        .slice(0, 2),
    ).toEqual(['group 1', 'g1r0c0'])
    expect(search(run, 'g14r5c15').map((f) => f.kind)).toEqual(['router', 'node'])
    expect(search(run, 'g0r0c0>g0r1c0')).toHaveLength(3)
    expect(search(run, '')).toEqual([])
    expect(search(run, 'blu')[0]).toEqual({ focus: 'class:blue', label: 'blue links', kind: 'class' })
    expect(resolveFocus(run, 'class:blue')!.mask!.filter((on) => on === 1)).toHaveLength(
      run.links.class.filter((code) => run.links.classes[code] === 'blue').length,
    )
    const name = run.nodes.names.at(17)
    for (const words of ['17', 'node 17', 'nid00017'])
      expect(search(run, words)).toContainEqual({
        focus: `node:${name}`,
        label: `node 17: ${name}`,
        kind: 'node',
      })
    expect(search(run, `node ${run.nodes.count}`).map(({ kind }) => kind)).not.toContain('node')
  })
})

describe('tooltips', () => {
  test('a link shows ends, class, value and job shares', () => {
    const run = twoJobs()
    const d = new RunModel(run).derive(DEFAULTS)
    const tip = describeLinks(d, [0], '')
    expect(tip.title).toBe('g0r0>g0r1:local.0')
    expect(tip.rows).toContainEqual(['From', 'g0r0 (group 0, router 0)'])
    expect(tip.rows).toContainEqual(['Traffic', '11 KiB'])
    expect(tip.shares!.map((s) => [s.name, s.text])).toEqual([
      ['halo', '10 KiB (90.9 %)'],
      ['fft', '1 KiB (9.1 %)'],
    ])
  })

  test('a router shows the sums of its links', () => {
    const run = twoJobs()
    const d = new RunModel(run).derive({ ...DEFAULTS, jobs: { 1: 'hidden' } })
    // Router 0: links 0 (outgoing, 1 KiB), 1 (incoming, 2 KiB), 6 (outgoing, 7 KiB), 7 (incoming, 8 KiB).
    const tip = describeRouter(d, 0, -1)
    expect(tip.rows).toContainEqual(['Outgoing, sum (max)', '8 KiB (7 KiB)'])
    expect(tip.rows).toContainEqual(['Incoming, sum (max)', '10 KiB (8 KiB)'])
  })

  test('a router with two jobs is marked, unless one is hidden', () => {
    const run = tiny({
      nodesPerRouter: 2,
      jobs: ['a', 'b'],
      jobOf: (n) => [0, 1, 0, 0, -1, -1, 1, -1][n] ?? -1,
    })
    expect([...routerJobs(run, () => false)].slice(0, 4)).toEqual([-2, 0, -1, 1])
    expect([...routerJobs(run, (job) => job === 1)].slice(0, 4)).toEqual([0, 0, -1, -1])
  })
})

test('the CSV has the selected links and a column per counted job, with quoting', () => {
  const run = tiny({ jobs: ['fft, big', '=1+1'], traffic: (l) => [l, 100] })
  const d = new RunModel(run).derive({ ...DEFAULTS, low: 110, jobs: {} })
  const lines = selectionCsv(d).trimEnd().split('\r\n')
  expect(lines[0]).toBe('link,source,target,class,parallel,bytes,"job fft, big",job =1+1')
  expect(lines.slice(1)).toEqual(['10,g1r0,g2r0,global,0,110,10,100', '11,g2r0,g1r0,global,0,111,11,100'])
})

describe('the matrix of ranks', () => {
  test('cells equal the table', () => {
    const columns = {
      job: [0, 1, 1],
      source: [0, 0, 4],
      destination: [0, 2, 0],
      ranks_per_cell: [1, 2, 2],
      messages: [1, 5, 2],
      bytes: [8, 50, 20],
    }
    const table = {
      rows: 3,
      numbers: new Map(Object.entries(columns).map(([k, v]) => [k, Float64Array.from(v)])),
      coded: new Map(),
      strings: new Map(),
    }
    const map = communicationMatrix(table, 1, 5)
    expect([map.columns, map.rows, map.perRow, map.most]).toEqual([3, 3, 2, 50])
    expect([...map.values]).toEqual([0, 50, 0, 0, 0, 0, 20, 0, 0])
    expect([...map.messages]).toEqual([0, 5, 0, 0, 0, 0, 2, 0, 0])
  })
})

describe('other machines', () => {
  test('links and routers are matched between runs by name', () => {
    const base = edison()
    const fewer = makeRun({
      ...edisonDescription(),
      wires: edisonDescription().wires.filter((_, l) => l % 3 !== 1),
    })
    const { link, router } = translation(base, fewer)
    for (const l of [0, 2, 3, 1002]) expect(linkName(fewer, link(l))).toBe(linkName(base, l))
    expect(link(1)).toBe(-1)
    expect(router(7)).toBe(7)
    expect(translation(base, base).link(5)).toBe(5)
  })
})

describe('declared columns', () => {
  const column = (merge: Merge, unit: Unit, label: string, type = 'f64') => ({ type, unit, merge, label })
  const declared = {
    link: column('key', 'none', 'Link'),
    source_group: column('attribute', 'none', 'Source group'),
    latency_ps: column('attribute', 'ps', 'Latency'),
    bytes: column('sum', 'bytes', 'Traffic'),
    peak_bytes: column('max', 'bytes', 'Peak occupancy'),
  }
  const run = tiny({ traffic: (l) => [l], links: declared })

  test('columns with a merge rule are measures; keys and attributes are not', () => {
    expect(run.measures.map(({ id, label, unit, merge }) => [id, label, unit, merge])).toEqual([
      ['bytes', 'Traffic', 'bytes', 'sum'],
      ['peak_bytes', 'Peak occupancy', 'bytes', 'max'],
    ])
  })

  test('several links have a sum only for summed measures', () => {
    const rows = (measure: string) =>
      describeLinks(new RunModel(run).derive({ ...DEFAULTS, measure }), [1, 2], 'two').rows.map(
        ([name]) => name,
      )
    expect(rows('bytes')).toContain('sum')
    expect(rows('peak_bytes')).not.toContain('sum')
    const router = (measure: string) =>
      describeRouter(new RunModel(run).derive({ ...DEFAULTS, measure }), 0, -1).rows.map(([name]) => name)
    expect(router('bytes')).toContain('Outgoing, sum (max)')
    expect(router('peak_bytes')).toContain('Outgoing, max (max)')
  })

  test('a job has its declared figures in order, without its number', () => {
    const jobs = {
      job: column('key', 'none', 'Job'),
      nodes: column('attribute', 'count', 'Nodes'),
    }
    const [job] = tiny({ jobs: ['fft'], jobColumns: jobs }).jobs
    expect(job!.figures).toEqual([{ id: 'nodes', label: 'Nodes', unit: 'count', meaning: '', value: 1 }])
  })

  test('a job without a value lacks the figure', () => {
    const hops = 'byte_hops_mean'
    const jobColumns = { [hops]: column('mean', 'hops', 'Mean hops per byte') }
    const { jobs } = tiny({ jobs: ['sends', 'silent'], jobColumns, figures: { [hops]: [1.5, NaN] } })
    expect(jobs.map(({ figures }) => figures.map(({ value }) => value))).toEqual([[1.5], []])
  })
})

test('quickselect equals sorting, with ties and any order', () => {
  let seed = 1
  const next = (): number => (seed = (seed * 16807) % 2147483647)
  for (const distinct of [1, 2, 5, 1000])
    for (let n = 1; n < 60; n++) {
      const values = Float64Array.from({ length: n }, () => (next() % distinct) - 2)
      const sorted = values.slice().sort()
      for (let rank = 0; rank < n; rank++) expect(nth(values.slice(), rank)).toBe(sorted[rank])
    }
})
