/** Time series: any table of a run with a column of times, and a job, router or link that each row is of. */
import type { Block, NumericArray } from './block'
import type { RunInfo } from './source'

export const TIME_COLUMNS = ['time_ps', 'start_ps'] as const
export const SUBJECTS = ['job', 'link', 'router', 'port', 'class', 'group'] as const

export interface SeriesTable {
  readonly name: string
  readonly time: string
  /** What a row is of, the coarsest first. */
  readonly subjects: readonly string[]
  readonly values: readonly string[]
}

export function seriesTables(info: RunInfo): SeriesTable[] {
  return Object.entries(info.tables).flatMap(([name, { columns, rows }]) => {
    const time = TIME_COLUMNS.find((column) => column in columns)
    if (time === undefined || rows === 0) return []
    const subjects = SUBJECTS.filter((column) => column in columns)
    const values = Object.keys(columns).filter(
      (column) =>
        column !== time &&
        !subjects.includes(column as (typeof SUBJECTS)[number]) &&
        columns[column] !== 'str' &&
        column !== 'end_ps',
    )
    return values.length > 0 ? [{ name, time, subjects, values }] : []
  })
}

/** One line per subject, or one in all. */
export interface Line {
  readonly subject: number
  readonly values: Float64Array
}

export interface Lines {
  readonly times: Float64Array
  readonly lines: readonly Line[]
}

/** Rows of one time and subject are added up; a time without a row is NaN. */
export function seriesLines(block: Block, time: string, subject: string | null, column: string): Lines {
  const at = block.numbers.get(time)!
  const of: NumericArray | null =
    subject === null ? null : (block.numbers.get(subject) ?? block.coded.get(subject)?.codes ?? null)
  const values = block.numbers.get(column)!
  const times = Float64Array.from(new Set(at)).sort()
  const index = new Map(Array.from(times, (t, i) => [t, i] as const))
  const lines = new Map<number, Float64Array>()
  for (let row = 0; row < block.rows; row++) {
    const key = of === null ? 0 : of[row]!
    let line = lines.get(key)
    if (!line) lines.set(key, (line = new Float64Array(times.length).fill(NaN)))
    const i = index.get(at[row]!)!
    line[i] = (Number.isNaN(line[i]!) ? 0 : line[i]!) + values[row]!
  }
  return {
    times,
    lines: [...lines].sort((a, b) => a[0] - b[0]).map(([key, line]) => ({ subject: key, values: line })),
  }
}

/** The `rows` lines with the largest sums: what a heat map of thousands of ports shows. */
export function strongest({ times, lines }: Lines, rows: number): Lines {
  const sum = (line: Line): number => line.values.reduce((total, v) => total + (Number.isNaN(v) ? 0 : v), 0)
  const order = lines
    .map((line) => ({ line, total: sum(line) }))
    .sort((a, b) => b.total - a.total || a.line.subject - b.line.subject)
  return { times, lines: order.slice(0, rows).map(({ line }) => line) }
}
