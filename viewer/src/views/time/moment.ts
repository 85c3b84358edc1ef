/** What the time view shows: tables, columns and rows, and the machine at the chosen time. */
import type { Block } from '../../data/block'
import { MomentModel, type DerivedRun } from '../../data/model'
import type { Run } from '../../data/run'
import {
  Frames,
  groupings,
  isOfMany,
  keyOf,
  partsOf,
  seriesLines,
  seriesTables,
  totalsOverTime,
  type Grouping,
  type Lines,
  type SeriesTable,
  type SeriesValue,
} from '../../data/series'
import type { RunInfo } from '../../data/source'
import type { Aggregate, ViewState } from '../../data/state'
import type { Session } from '../session/session'

export interface SeriesColumn {
  readonly id: string
  readonly label: string
  readonly table: SeriesTable
  readonly value: SeriesValue
}

function columnsOf(tables: readonly SeriesTable[]): SeriesColumn[] {
  const several = tables.length > 1
  return tables.flatMap((table) =>
    table.values.map((value) => ({
      id: `${table.name}.${value.column}`,
      label: several ? `${value.label} (${table.name})` : value.label,
      table,
      value,
    })),
  )
}

/** Columns for line charts. */
export function lineColumns(info: RunInfo): SeriesColumn[] {
  return columnsOf(seriesTables(info).filter((table) => !isOfMany(table)))
}

/** Columns for heat maps, headlines first. */
export function heatColumns(info: RunInfo): SeriesColumn[] {
  const weight = ({ value }: SeriesColumn): number => (value.headline ? 0 : 1)
  return columnsOf(seriesTables(info).filter(isOfMany)).sort((a, b) => weight(a) - weight(b))
}

/** The chosen line column, or all headlines. */
export function chosenLines(info: RunInfo, state: ViewState): SeriesColumn[] {
  const all = lineColumns(info)
  const named = all.filter(({ id }) => id === state.series)
  if (named.length > 0) return named
  const usual = all.filter(({ value }) => value.headline)
  return usual.length > 0 ? usual : all.slice(0, 1)
}

export function chosenHeat(info: RunInfo, state: ViewState): SeriesColumn | undefined {
  const all = heatColumns(info)
  return all.find(({ id }) => id === state.heat) ?? all[0]
}

export function chosenRows({ table }: SeriesColumn, state: ViewState): Grouping {
  const all = groupings(table)
  return all.find((grouping) => grouping === state.rows) ?? all[0]!
}

const models = new WeakMap<Block, MomentModel>()

/** The machine at the chosen time, if the heat map's table has links. */
export function runAtTime(session: Session, run: Run, state: ViewState): DerivedRun | null {
  const heat = chosenHeat(run.info, state)
  if (!heat || !heat.table.subjects.includes('link')) return null
  const block = blockOf(session, run, heat)
  if (block === undefined || typeof block === 'string') return null
  let model = models.get(block)
  if (!model) {
    const { column, weight, merge, unit } = heat.value
    const [time, link, values] = [heat.table.time, 'link', column].map((name) => block.numbers.get(name)!)
    const weights = weight === undefined ? undefined : block.numbers.get(weight)
    const frames = new Frames(run.links.count, time!, link!, values!, merge, weights)
    const measure = { id: column, label: heat.label, unit, merge }
    models.set(block, (model = new MomentModel(run, frames, measure)))
  }
  return model.derive(state)
}

export function blockOf(
  session: Session,
  run: Run,
  { table, value }: SeriesColumn,
): Block | string | undefined {
  const weight = value.weight === undefined ? [] : [value.weight]
  return session.block(run.id, table.name, [
    ...new Set([table.time, ...table.subjects, value.column, ...weight]),
  ])
}

/** The lines of a column, or a message. In a heat map, the links of a row are aggregated. */
export function linesOf(
  session: Session,
  run: Run,
  column: SeriesColumn,
  by: Grouping,
  aggregate: Aggregate | null = null,
): Lines | string {
  const block = blockOf(session, run, column)
  if (block === undefined) return 'Loading time series …'
  if (typeof block === 'string') return block
  let known = lines.get(block)
  if (!known) lines.set(block, (known = new Map()))
  const key = `${column.id} ${by} ${aggregate}`
  let found = known.get(key)
  if (!found) {
    const parts = aggregate && partsOf(run, block, by, aggregate)
    found = seriesLines(block, column.table.time, keyOf(run, block, by), column.value, parts)
    known.set(key, found)
  }
  return found
}

/** The totals of the heat map's column, and its worst interval; null while loading or without one. */
export function totalsOf(
  session: Session,
  run: Run,
  column: SeriesColumn | undefined,
): { times: Float64Array; values: Float64Array; worst: number } | null {
  const block = column && blockOf(session, run, column)
  if (!column || typeof block !== 'object') return null
  let found = totals.get(block)
  if (!found) {
    const { times, values } = totalsOverTime(block, column.table.time, column.value)
    const worst = values.reduce((best, value, i) => (value > values[best]! ? i : best), 0)
    totals.set(block, (found = { times, values, worst: times[worst] ?? 0 }))
  }
  return found
}

const totals = new WeakMap<Block, { times: Float64Array; values: Float64Array; worst: number }>()

/** How a row of the heat map merges its links, such as `, max of their links`; empty if it is one link. */
export function mergeText(run: Run, block: Block, by: Grouping, how: Aggregate): string {
  const parts = partsOf(run, block, by, how)
  return parts ? `, ${how} of their ${parts.noun}` : ''
}

/** Hidden and subtracted jobs have no line. */
export const shownLines = (all: Lines, by: Grouping, jobs: ViewState['jobs']): Lines =>
  by === 'job' ? { ...all, lines: all.lines.filter(({ subject }) => jobs[subject] === undefined) } : all

const lines = new WeakMap<Block, Map<string, Lines>>()
