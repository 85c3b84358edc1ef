/** A sweep as a table: rows and columns are settings, cells are means of a figure over matching runs. */
import { quantity, type Unit } from '../base/format'
import type { Index, RunInfo, SweepKey } from './source'

export interface FigureOption {
  readonly id: string
  readonly label: string
  readonly unit: Unit
}

export interface PivotCell {
  readonly mean: number
  readonly least: number
  readonly most: number
  /** Runs that have the figure. */
  readonly runs: readonly number[]
}

export interface Pivot {
  /** The values of the nested keys, as one text. */
  readonly rows: readonly string[]
  readonly columns: readonly string[]
  /** The value of each key, outermost first. */
  readonly rowPaths: readonly (readonly string[])[]
  readonly columnPaths: readonly (readonly string[])[]
  /** By row and column; null if no run has both settings. */
  readonly cells: readonly (readonly (PivotCell | null)[])[]
  readonly low: number
  readonly high: number
}

/** Keys that are settings; the others are figures. */
const settings = ({ keys }: Index): SweepKey[] => keys.filter(({ unit }) => unit === 'none')

/** Their names. */
export const settingKeys = (index: Index): string[] => settings(index).map(({ name }) => name)

/** Default rows and columns: all settings but seeds, the larger half as rows; seeds if there is nothing else. */
export function defaultKeys(index: Index): { rows: string[]; columns: string[] } {
  const keys = settings(index)
  const names = keys.filter(({ seed }) => !seed).map(({ name }) => name)
  if (names.length === 0) return { rows: keys.slice(0, 1).map(({ name }) => name), columns: [] }
  // In turn, so that two settings span a square.
  return { rows: names.filter((_, i) => i % 2 === 0), columns: names.filter((_, i) => i % 2 === 1) }
}

const STATISTICS = [
  ['bytes_mean', 'mean'],
  ['bytes_p99', '99th percentile'],
  ['bytes_max', 'largest'],
] as const

/** By runs: each picture of a sweep of 1,000 runs asks again. */
const optionsKnown = new WeakMap<readonly RunInfo[], FigureOption[]>()
const defaultsKnown = new WeakMap<readonly FigureOption[], string>()

/** Figures of classes (from the summary), then of jobs (from the table `jobs`). */
export function figureOptions({ runs }: Index): FigureOption[] {
  let options = optionsKnown.get(runs)
  if (!options) optionsKnown.set(runs, (options = findOptions(runs)))
  return options
}

function findOptions(runs: readonly RunInfo[]): FigureOption[] {
  const names = (pick: (run: RunInfo) => readonly string[]): string[] => [
    ...new Set(runs.flatMap((run) => [...pick(run)])),
  ]
  const classes = names((run) => run.summary.classes.map((c) => c.class))
  const jobs = names((run) => (run.summary.jobs ?? []).map((job) => job.name))
  const columns = new Map(
    runs.flatMap((run) =>
      Object.entries(run.tables['jobs']?.columns ?? {}).filter(
        ([, { type, merge }]) => type !== 'str' && merge !== 'key',
      ),
    ),
  )
  return [
    ...classes.flatMap((name) =>
      STATISTICS.map(([id, word]) => ({
        id: `class:${id}:${name}`,
        label: `Traffic, ${name} links, ${word}`,
        unit: 'bytes' as const,
      })),
    ),
    ...jobs.flatMap((job) =>
      [...columns].map(([column, { label, unit }]) => ({
        id: `job:${column}:${job}`,
        label: `${job}: ${label}`,
        unit,
      })),
    ),
  ]
}

/** Kinds of figures that answer first. */
const FIRST_FIGURES = [
  'job:slowdown:',
  'job:completion_time_s:',
  'job:predicted_time_s:',
  'job:latency_mean_ns:',
  'class:bytes_max:all',
]

/** Default figure: the one that most runs have; of several, in the order of `FIRST_FIGURES`. */
export function defaultFigure(options: readonly FigureOption[], runs: readonly RunInfo[]): string {
  let figure = defaultsKnown.get(options)
  if (figure === undefined) defaultsKnown.set(options, (figure = findDefault(options, runs)))
  return figure
}

function findDefault(options: readonly FigureOption[], runs: readonly RunInfo[]): string {
  const first = FIRST_FIGURES.flatMap((start) => options.filter(({ id }) => id.startsWith(start)))
  const shared = (id: string): number => runs.filter((run) => hasFigure(run, id)).length
  const best = (some: readonly FigureOption[]): FigureOption | undefined => {
    const counts = some.map(({ id }) => shared(id))
    return some[counts.indexOf(Math.max(...counts))]
  }
  const found = best(first)
  return (found && shared(found.id) > 0 ? found : best(options))?.id ?? ''
}

/** Whether a run has a figure, judged by its summary. */
function hasFigure(run: RunInfo, id: string): boolean {
  const [of, column, name] = partsOf(id)
  if (of === 'class') return !Number.isNaN(classFigure(run, id))
  const hasJob = run.summary.jobs?.some((job) => job.name === name) ?? false
  return hasJob && run.tables['jobs']?.columns[column] !== undefined
}

/** Figure of a class from the summary; NaN if the run has no such class. */
export function classFigure(run: RunInfo, id: string): number {
  const [, statistic, name] = partsOf(id)
  const found = run.summary.classes.find((c) => c.class === name) as Record<string, unknown> | undefined
  const value = found?.[statistic]
  return typeof value === 'number' ? value : NaN
}

/** Splits an id into scope, column and name; the name may contain colons. */
export function partsOf(id: string): [string, string, string] {
  const [of = '', column = '', ...name] = id.split(':')
  return [of, column, name.join(':')]
}

/** An unset value: empty, or an empty list such as of edits. */
export const isNothing = (text: string): boolean => /^(–||\[\]|\{\})$/.test(text)

/** Unset values first, as the base; then by number. */
const byNumber = (a: string, b: string): number =>
  Number(isNothing(b)) - Number(isNothing(a)) || a.localeCompare(b, 'en', { numeric: true })

/** A run, or a study entry, with values of keys. */
type KeyValues = Pick<RunInfo, 'keys'>

const keyText = (run: KeyValues, key: string): string => String(run.keys[key] ?? '–')

/** Whether each word is in one of the settings of a run, such as `routing=par 32`. */
export function fitsWords({ keys }: KeyValues, words: string): boolean {
  const all = Object.entries(keys).map(([key, value]) => `${key}=${value}`.toLowerCase())
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.some((one) => one.includes(word)))
}

/**
 * `values` by run, NaN if missing. Orders rows and columns by setting or by mean.
 *
 * Args:
 * rowKeys, columnKeys: Nested keys, outermost first; none for a single row or column.
 */
export function pivotOf(
  runs: readonly KeyValues[],
  values: ArrayLike<number>,
  rowKeys: readonly string[],
  columnKeys: readonly string[],
  order: 'key' | 'value',
): Pivot {
  const paths = new Map<string, readonly string[]>()
  const textOf = (run: KeyValues, keys: readonly string[]): string => {
    const path = keys.map((key) => keyText(run, key))
    const text = path.join(' · ')
    paths.set(text, path)
    return text
  }
  const found = new Map<string, Map<string, number[]>>()
  runs.forEach((run, id) => {
    if (Number.isNaN(values[id]!)) return
    const [row, column] = [textOf(run, rowKeys), textOf(run, columnKeys)]
    const line = found.get(row) ?? new Map<string, number[]>()
    found.set(row, line)
    line.set(column, [...(line.get(column) ?? []), id])
  })
  const meanOf = (ids: readonly number[]): number =>
    ids.reduce((sum, id) => sum + values[id]!, 0) / ids.length
  const idsOf = (row: string | null, column: string | null): number[] =>
    [...found].flatMap(([r, line]) =>
      row !== null && r !== row
        ? []
        : [...line].flatMap(([c, ids]) => (column !== null && c !== column ? [] : ids)),
    )
  const byPath = (a: string, b: string): number =>
    paths.get(a)!.reduce((found, part, i) => found || byNumber(part, paths.get(b)![i]!), 0)
  const sorted = (names: readonly string[], ids: (name: string) => number[]): string[] =>
    [...names].sort((a, b) => (order === 'value' ? meanOf(ids(b)) - meanOf(ids(a)) : 0) || byPath(a, b))
  const rows = sorted([...found.keys()], (row) => idsOf(row, null))
  const columns = sorted([...new Set([...found.values()].flatMap((line) => [...line.keys()]))], (column) =>
    idsOf(null, column),
  )
  const cells = rows.map((row) =>
    columns.map((column): PivotCell | null => {
      const ids = found.get(row)!.get(column)
      if (!ids) return null
      const all = ids.map((id) => values[id]!)
      return { mean: meanOf(ids), least: Math.min(...all), most: Math.max(...all), runs: ids }
    }),
  )
  const means = cells.flat().flatMap((cell) => (cell ? [cell.mean] : []))
  const [low, high] = means.reduce(([least, most], mean) => [Math.min(least, mean), Math.max(most, mean)], [
    Infinity,
    -Infinity,
  ] as [number, number])
  const pathsOf = (names: readonly string[]) => names.map((name) => paths.get(name)!)
  return { rows, columns, rowPaths: pathsOf(rows), columnPaths: pathsOf(columns), cells, low, high }
}

/** Names of the seeds among the keys. */
export const seedKeys = ({ keys }: Index): string[] => keys.filter(({ seed }) => seed).map(({ name }) => name)

/** Whether two runs differ in seeds only, so that all their differences are noise. */
export function differInSeedsOnly(index: Index, a: number, b: number): boolean {
  const [one, other] = [index.runs[a], index.runs[b]]
  if (!one || !other || a === b) return false
  const differing = settings(index).filter(({ name }) => one.keys[name] !== other.keys[name])
  return differing.length > 0 && differing.every(({ seed }) => seed)
}

/**
 * The spread of each cell over seeds, by row and column. If a seed is a key of the table, it covers all cells
 * that differ only in this seed.
 */
export function spreadsOf(
  { rowPaths, columnPaths, cells }: Pivot,
  isSeed: { readonly rows: readonly boolean[]; readonly columns: readonly boolean[] },
): number[][] {
  const settingOf = (path: readonly string[], seeds: readonly boolean[]): string =>
    path.filter((_, i) => !seeds[i]).join(' · ')
  const [rows, columns] = [
    rowPaths.map((path) => settingOf(path, isSeed.rows)),
    columnPaths.map((path) => settingOf(path, isSeed.columns)),
  ]
  const ranges = new Map<string, readonly [number, number]>()
  const placeOf = (r: number, c: number): string => `${rows[r]!}\n${columns[c]!}`
  cells.forEach((line, r) =>
    line.forEach((cell, c) => {
      if (!cell) return
      const [least, most] = ranges.get(placeOf(r, c)) ?? [Infinity, -Infinity]
      ranges.set(placeOf(r, c), [Math.min(least, cell.least), Math.max(most, cell.most)])
    }),
  )
  return rows.map((_, r) =>
    columns.map((_, c) => {
      const [least, most] = ranges.get(placeOf(r, c)) ?? [0, 0]
      return most - least
    }),
  )
}

/** The run to compare with: the one that shares most other settings, such as the seed. */
export function partnerOf(index: Index, run: number, among: readonly number[]): number {
  const keys = settingKeys(index)
  const shared = (id: number): number =>
    keys.filter((key) => index.runs[id]!.keys[key] === index.runs[run]!.keys[key]).length
  return among.reduce((best, id) => (shared(id) > shared(best) ? id : best), among[0]!)
}

/** Cell text: the mean, and the range if there are several runs. */
export function cellText({ mean, least, most, runs }: PivotCell, unit: Unit): [string, string] {
  return [
    quantity(mean, unit),
    runs.length > 1 ? `${quantity(least, unit)} – ${quantity(most, unit)}, ${runs.length} runs` : '',
  ]
}
