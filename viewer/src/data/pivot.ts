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
  readonly rows: readonly string[]
  readonly columns: readonly string[]
  /** By row and column; null if no run has both settings. */
  readonly cells: readonly (readonly (PivotCell | null)[])[]
  readonly low: number
  readonly high: number
}

/** Keys that are settings; the others are figures. */
const settings = ({ keys }: Index): SweepKey[] => keys.filter(({ unit }) => unit === 'none')

/** Their names. */
export const settingKeys = (index: Index): string[] => settings(index).map(({ name }) => name)

/** Default rows and columns: settings that are not resampled, such as seeds. */
export function defaultKeys(index: Index): [string, string] {
  const keys = settings(index)
  const [first, second] = [...keys.filter(({ seed }) => !seed), ...keys.filter(({ seed }) => seed)]
  return [first?.name ?? '', !second || second.seed ? '' : second.name]
}

const STATISTICS = [
  ['bytes_mean', 'mean'],
  ['bytes_p99', '99th percentile'],
  ['bytes_max', 'largest'],
] as const

/** Figures of classes (from the summary), then of jobs (from the table `jobs`). */
export function figureOptions({ runs }: Index): FigureOption[] {
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

/** Default figure: slowdown of the first job, or its time, if available. */
export function defaultFigure(options: readonly FigureOption[]): string {
  const wanted = ['job:slowdown:', 'job:completion_time_s:', 'job:latency_mean_ns:', 'class:bytes_max:all']
  return (
    wanted.flatMap((start) => options.find(({ id }) => id.startsWith(start))?.id ?? [])[0] ??
    options[0]?.id ??
    ''
  )
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
const isNothing = (text: string): boolean => /^(–||\[\]|\{\})$/.test(text)

/** Unset values first, as the base; then by number. */
const byNumber = (a: string, b: string): number =>
  Number(isNothing(b)) - Number(isNothing(a)) || a.localeCompare(b, 'en', { numeric: true })

/** A run, or a study entry, with values of keys. */
type KeyValues = Pick<RunInfo, 'keys'>

const keyText = (run: KeyValues, key: string): string => (key === '' ? '' : String(run.keys[key] ?? '–'))

/** `values` by run, NaN if missing. Orders rows and columns by setting or by mean. */
export function pivotOf(
  runs: readonly KeyValues[],
  values: ArrayLike<number>,
  rowKey: string,
  columnKey: string,
  order: 'key' | 'value',
): Pivot {
  const found = new Map<string, Map<string, number[]>>()
  runs.forEach((run, id) => {
    if (Number.isNaN(values[id]!)) return
    const [row, column] = [keyText(run, rowKey), keyText(run, columnKey)]
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
  const sorted = (names: readonly string[], ids: (name: string) => number[]): string[] =>
    [...names].sort((a, b) => (order === 'value' ? meanOf(ids(b)) - meanOf(ids(a)) : 0) || byNumber(a, b))
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
  return { rows, columns, cells, low: Math.min(...means), high: Math.max(...means) }
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
  { rows, columns, cells }: Pivot,
  isSeed: { readonly rows: boolean; readonly columns: boolean },
): number[][] {
  const range = (some: readonly (PivotCell | null)[]): number => {
    const known = some.flatMap((cell) => cell ?? [])
    return known.length === 0
      ? 0
      : Math.max(...known.map(({ most }) => most)) - Math.min(...known.map(({ least }) => least))
  }
  return rows.map((_, r) =>
    columns.map((_, c) =>
      range(
        cells.flatMap((line, row) =>
          line.filter((_, column) => (row === r || isSeed.rows) && (column === c || isSeed.columns)),
        ),
      ),
    ),
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
