/** Time series: tables with a time column and a job, router, port or link per row. */
import { marksFrom, type Marks } from './aggregate'
import type { Block, NumericArray } from './block'
import { jobName, linkName, type Run } from './run'
import type { Aggregate } from './state'
import { isMeasure, type ColumnInfo, type RunInfo } from './source'

/** Time keys of series tables. */
const TIME_COLUMNS = ['time_ps', 'start_ps'] as const
const SUBJECTS = ['job', 'link', 'router', 'port', 'class', 'group', 'vc'] as const

export interface SeriesTable {
  readonly name: string
  readonly time: string
  /** Keys of a row. */
  readonly subjects: readonly string[]
  /** Columns for lines and heat maps. */
  readonly values: readonly SeriesValue[]
}

export interface SeriesValue extends Pick<ColumnInfo, 'label' | 'unit' | 'merge' | 'weight' | 'headline'> {
  readonly column: string
}

export function seriesTables(info: RunInfo): SeriesTable[] {
  return Object.entries(info.tables).flatMap(([name, { columns, rows }]) => {
    const keys = Object.keys(columns).filter((column) => columns[column]!.merge === 'key')
    const time = TIME_COLUMNS.find((column) => keys.includes(column))
    const subjects = SUBJECTS.filter((column) => keys.includes(column))
    // With other keys, several rows share a time: this is a list, not a series.
    if (time === undefined || rows === 0 || subjects.length + 1 < keys.length) return []
    const values = Object.entries(columns)
      .filter(([, info]) => isMeasure(info))
      .map(([column, info]) => ({ ...info, column }))
    return values.length > 0 ? [{ name, time, subjects, values }] : []
  })
}

export const hasSeries = (info: RunInfo): boolean => seriesTables(info).length > 0

/** Whether a table has many subjects (heat map) or few (lines). */
export function isOfMany({ subjects }: SeriesTable): boolean {
  return subjects.some((subject) => subject === 'link' || subject === 'router' || subject === 'group')
}

export const GROUPINGS = ['whole', 'job', 'router', 'port', 'link', 'class', 'group', 'vc'] as const
export type Grouping = (typeof GROUPINGS)[number]

/** Possible groupings of a table, the default first. */
export function groupings({ subjects }: SeriesTable): Grouping[] {
  const has = (name: string): boolean => subjects.includes(name)
  const found: Grouping[] = []
  if (has('job')) found.push('job')
  if (has('router') || has('link')) found.push('router')
  if (has('link')) found.push('link')
  else if (has('router') && has('port')) found.push('port')
  if (found.includes('router') || has('group')) found.push('group')
  if (has('link') || has('class')) found.push('class')
  if (has('vc')) found.push('vc')
  return found.length > 0 ? found : ['whole']
}

const PORTS = 4096

type Key = (row: number) => number

/** Numeric key of each row. A link belongs to its sending router and port. */
export function keyOf(run: Run, block: Block, grouping: Grouping): Key {
  const column = (name: string): NumericArray | null =>
    block.numbers.get(name) ?? block.coded.get(name)?.codes ?? null
  const own = column(grouping)
  const router = column('router')
  const link = column('link')
  switch (grouping) {
    case 'whole':
      return () => 0
    case 'port': {
      const port = column('port')!
      return (row) => router![row]! * PORTS + port[row]!
    }
    case 'router':
      return router ? (row) => router[row]! : (row) => run.links.source[link![row]!]!
    case 'group':
      if (own) break
      return router
        ? (row) => run.routers.group[router[row]!]!
        : (row) => run.routers.group[run.links.source[link![row]!]!]!
    case 'class':
      if (own) break
      return (row) => run.links.class[link![row]!]!
    case 'job':
    case 'link':
    case 'vc':
      break
  }
  return (row) => own![row]!
}

/** Name of a key. */
export function nameOfKey(run: Run, block: Block, grouping: Grouping, key: number): string {
  switch (grouping) {
    case 'whole':
      return 'the whole machine'
    case 'job':
      return jobName(run, key)
    case 'router':
      return run.routers.names.at(key)
    case 'port':
      return `${run.routers.names.at(Math.floor(key / PORTS))} port ${key % PORTS}`
    case 'link':
      return linkName(run, key)
    case 'class':
      return block.coded.get('class')?.names[key] ?? run.links.classes[key] ?? `class ${key}`
    case 'group':
    case 'vc':
      return `${grouping} ${key}`
  }
}

/** Router of a key, -1 if none. */
export function routerOfKey(run: Run, grouping: Grouping, key: number): number {
  if (grouping === 'router') return key
  if (grouping === 'port') return Math.floor(key / PORTS)
  return grouping === 'link' ? run.links.source[key]! : -1
}

/** One line per subject, or one in total. */
export interface Line {
  readonly subject: number
  readonly values: Float64Array
}

export interface Lines {
  readonly times: Float64Array
  readonly lines: readonly Line[]
}

/** Merges several values incrementally; NaN before the first. */
class MergedValue {
  readonly values: Float64Array
  private readonly weights: Float64Array

  constructor(
    length: number,
    private readonly merge: ColumnInfo['merge'],
  ) {
    this.values = new Float64Array(length).fill(NaN)
    this.weights = new Float64Array(merge === 'mean' ? length : 0)
  }

  add(i: number, value: number, weight: number): void {
    const before = this.values[i]!
    if (this.merge === 'mean') {
      const all = (this.weights[i]! += weight)
      const mean = before || 0
      if (all > 0) this.values[i] = mean + (value - mean) * (weight / all)
      return
    }
    if (Number.isNaN(before) || this.merge === 'last') this.values[i] = value
    else this.values[i] = this.merge === 'max' ? Math.max(before, value) : before + value
  }
}

/** The links or ports of a subject, such as a router's, and how they become one value. */
export interface Parts {
  readonly noun: 'links' | 'ports'
  readonly key: Key
  readonly aggregate: Aggregate
  /** Number of parts of a subject, also of those without a row. */
  count(subject: number): number
}

/** The parts of the subjects of a grouping; null if each subject is one part. */
export function partsOf(run: Run, block: Block, grouping: Grouping, aggregate: Aggregate): Parts | null {
  const noun = block.numbers.has('link') ? 'links' : block.numbers.has('port') ? 'ports' : null
  if (noun === null || !['router', 'group', 'class'].includes(grouping)) return null
  const key = keyOf(run, block, noun === 'links' ? 'link' : 'port')
  const counts = new Map<number, number>()
  const add = (subject: number): void => void counts.set(subject, (counts.get(subject) ?? 0) + 1)
  if (noun === 'links') {
    const ofLink = keyOf(
      run,
      { ...block, numbers: new Map([['link', run.links.source.map((_, l) => l)]]) },
      grouping,
    )
    for (let l = 0; l < run.links.count; l++) add(ofLink(l))
  } else {
    const [subject, seen] = [keyOf(run, block, grouping), new Set<number>()]
    for (let row = 0; row < block.rows; row++) {
      if (seen.has(key(row))) continue
      seen.add(key(row))
      add(subject(row))
    }
  }
  return { noun, key, aggregate, count: (of) => counts.get(of) ?? 1 }
}

/**
 * Rows with the same time and subject are merged by the rule of the column; times without a row are NaN. With
 * parts, this gives a value per part, and the parts are aggregated.
 */
export function seriesLines(
  block: Block,
  time: string,
  key: Key,
  value: SeriesValue,
  parts: Parts | null = null,
): Lines {
  if (parts) return aggregateLines(seriesLines(block, time, parts.key, value), block, key, value, parts)
  const at = block.numbers.get(time)!
  const values = block.numbers.get(value.column)!
  const weights = value.weight === undefined ? undefined : block.numbers.get(value.weight)
  const times = Float64Array.from(new Set(at)).sort()
  const index = new Map(Array.from(times, (t, i) => [t, i] as const))
  const lines = new Map<number, MergedValue>()
  let [last, i] = [NaN, 0]
  for (let row = 0; row < block.rows; row++) {
    if (Number.isNaN(values[row]!)) continue
    const subject = key(row)
    let line = lines.get(subject)
    if (!line) lines.set(subject, (line = new MergedValue(times.length, value.merge)))
    if (at[row] !== last) [last, i] = [at[row]!, index.get(at[row]!)!]
    line.add(i, values[row]!, weights ? weights[row]! : 1)
  }
  return {
    times,
    lines: [...lines].sort((a, b) => a[0] - b[0]).map(([subject, { values }]) => ({ subject, values })),
  }
}

function aggregateLines(
  all: Lines,
  block: Block,
  key: Key,
  { merge }: SeriesValue,
  { key: part, aggregate, count }: Parts,
): Lines {
  const subjectOf = new Map<number, number>()
  for (let row = 0; row < block.rows; row++) subjectOf.set(part(row), key(row))
  const found = new Map<number, { values: Float64Array; known: Uint32Array }>()
  for (const line of all.lines) {
    const subject = subjectOf.get(line.subject)!
    let into = found.get(subject)
    if (!into) {
      const length = line.values.length
      into = { values: new Float64Array(length).fill(NaN), known: new Uint32Array(length) }
      found.set(subject, into)
    }
    const { values, known } = into
    line.values.forEach((value, i) => {
      if (Number.isNaN(value)) return
      values[i] =
        known[i] === 0 ? value : aggregate === 'max' ? Math.max(values[i]!, value) : values[i]! + value
      known[i]!++
    })
  }
  // A link without a row has no latency, but zero bytes.
  if (aggregate === 'mean')
    for (const [subject, { values, known }] of found)
      values.forEach((sum, i) => (values[i] = sum / (merge === 'mean' ? known[i]! : count(subject))))
  return {
    times: all.times,
    lines: [...found].sort((a, b) => a[0] - b[0]).map(([subject, { values }]) => ({ subject, values })),
  }
}

/** The `rows` lines with the largest sums, in their original order. */
export function strongest({ times, lines }: Lines, rows: number): Lines {
  if (lines.length <= rows) return { times, lines }
  const sum = (line: Line): number => line.values.reduce((total, v) => total + (Number.isNaN(v) ? 0 : v), 0)
  const order = lines
    .map((line) => ({ line, total: sum(line) }))
    .sort((a, b) => b.total - a.total || a.line.subject - b.line.subject)
    .slice(0, rows)
    .sort((a, b) => a.line.subject - b.line.subject)
  return { times, lines: order.map(({ line }) => line) }
}

export function largestOf({ lines }: Lines): number {
  let most = 0
  for (const { values } of lines) for (const v of values) if (v > most) most = v
  return most
}

/** Total of a column over each interval; for a column that has no sum, its largest value. */
export function totalsOverTime(
  block: Block,
  time: string,
  { column, merge }: SeriesValue,
): Lines['lines'][0] & Pick<Lines, 'times'> {
  const [at, values] = [block.numbers.get(time)!, block.numbers.get(column)!]
  const times = Float64Array.from(new Set(at)).sort()
  const index = new Map(Array.from(times, (t, i) => [t, i] as const))
  const totals = new Float64Array(times.length)
  for (let row = 0; row < block.rows; row++) {
    const [i, value] = [index.get(at[row]!)!, values[row]!]
    if (!Number.isNaN(value)) totals[i] = merge === 'sum' ? totals[i]! + value : Math.max(totals[i]!, value)
  }
  return { subject: -1, times, values: totals }
}

/** Interval length. Empty intervals have no row, so it is the shortest distance between times. */
export function stepOf(times: Float64Array): number {
  let step = Infinity
  for (let i = 1; i < times.length; i++) step = Math.min(step, times[i]! - times[i - 1]!)
  return Number.isFinite(step) ? step : 0
}

/** The interval at a time: its start, and its index (-1 if it has no row). */
export function intervalAt(times: Float64Array, time: number): { begin: number; i: number } {
  const [i, step] = [indexAt(times, time), stepOf(times)]
  const before = times[i]
  if (before === undefined) return { begin: 0, i: -1 }
  if (step === 0 || time < before + step) return { begin: before, i }
  return { begin: before + step * Math.floor((time - before) / step), i: -1 }
}

/** Index of the last time <= `time`. */
export function indexAt(times: Float64Array, time: number): number {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (times[middle]! <= time) low = middle + 1
    else high = middle
  }
  return Math.max(0, low - 1)
}

/** A column by link and time, to show the machine at any time. */
export class Frames {
  readonly times: Float64Array
  /** All non-zero values, sorted, for one colour scale over all times. */
  readonly sorted: Float64Array
  /** Rows of each time. */
  private readonly byTime: Marks

  constructor(
    private readonly links: number,
    time: NumericArray,
    private readonly link: NumericArray,
    private readonly values: NumericArray,
    private readonly merge: ColumnInfo['merge'],
    private readonly weights?: NumericArray,
  ) {
    this.times = Float64Array.from(new Set(time)).sort()
    const index = new Map(Array.from(this.times, (t, i) => [t, i] as const))
    this.byTime = marksFrom(
      Int32Array.from(time, (t) => index.get(t)!),
      this.times.length,
    )
    let positive = 0
    for (let row = 0; row < values.length; row++) if (values[row]! > 0) positive++
    this.sorted = new Float64Array(positive)
    for (let row = 0, at = 0; row < values.length; row++)
      if (values[row]! > 0) this.sorted[at++] = values[row]!
    this.sorted.sort()
  }

  /** Values of all links at a time; zero without a row. Several rows of a link are merged. */
  at(time: number): Float64Array {
    const { i } = intervalAt(this.times, time)
    if (i < 0) return new Float64Array(this.links)
    const merged = new MergedValue(this.links, this.merge)
    const { offsets, links: rows } = this.byTime
    for (let k = offsets[i]!; k < offsets[i + 1]!; k++) {
      const row = rows[k]!
      const value = this.values[row]!
      if (!Number.isNaN(value)) merged.add(this.link[row]!, value, this.weights ? this.weights[row]! : 1)
    }
    return merged.values.map((value) => (Number.isNaN(value) ? 0 : value))
  }
}
