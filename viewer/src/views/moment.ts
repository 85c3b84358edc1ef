/** What the time view shows: which tables, columns and rows, and the machine at one moment. */
import type { Block } from '../data/block'
import { MomentModel, type Derived } from '../data/model'
import { measureLabel, unitOf, type Run } from '../data/run'
import { Frames, groupings, isOfMany, seriesTables, type Grouping, type SeriesTable } from '../data/series'
import type { RunInfo } from '../data/source'
import type { ViewState } from '../data/state'
import type { Session } from './session'

export const hasSeries = (info: RunInfo): boolean => seriesTables(info).length > 0

export interface SeriesColumn {
  readonly id: string
  readonly label: string
  readonly table: SeriesTable
  readonly column: string
}

function columnsOf(tables: readonly SeriesTable[]): SeriesColumn[] {
  const several = tables.length > 1
  return tables.flatMap((table) =>
    table.values.map((column) => ({
      id: `${table.name}.${column}`,
      label: several ? `${measureLabel(column)} (${table.name})` : measureLabel(column),
      table,
      column,
    })),
  )
}

/** The columns that lines are drawn of. */
export function lineColumns(info: RunInfo): SeriesColumn[] {
  return columnsOf(seriesTables(info).filter((table) => !isOfMany(table)))
}

/** The columns that heat maps are made of; what stalls comes first. */
export function heatColumns(info: RunInfo): SeriesColumn[] {
  const weight = ({ column }: SeriesColumn): number => (column.includes('stall') ? 0 : 1)
  return columnsOf(seriesTables(info).filter(isOfMany)).sort((a, b) => weight(a) - weight(b))
}

const BY_DEFAULT = ['bytes_per_s', 'latency_mean_ns']

/** The lines that the settings name: one column, or throughput and latency. */
export function chosenLines(info: RunInfo, state: ViewState): SeriesColumn[] {
  const all = lineColumns(info)
  const named = all.filter(({ id }) => id === state.series)
  if (named.length > 0) return named
  const usual = BY_DEFAULT.flatMap((column) => all.find((c) => c.column === column) ?? [])
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

/** The machine at the moment that the settings name, if the heat map's table tells links apart. */
export function momentOf(session: Session, run: Run, state: ViewState): Derived | null {
  const heat = chosenHeat(run.info, state)
  if (!heat || !heat.table.subjects.includes('link')) return null
  const block = blockOf(session, run, heat)
  if (block === undefined || typeof block === 'string') return null
  let model = models.get(block)
  if (!model) {
    const [time, link, values] = [heat.table.time, 'link', heat.column].map((name) =>
      block.numbers.get(name)!,
    )
    const frames = new Frames(run.links.count, time!, link!, values!)
    const measure = { id: heat.column, label: heat.label, unit: unitOf(heat.column) }
    models.set(block, (model = new MomentModel(run, frames, measure)))
  }
  return model.derive(state)
}

export function blockOf(
  session: Session,
  run: Run,
  { table, column }: SeriesColumn,
): Block | string | undefined {
  return session.block(run.id, table.name, [table.time, ...table.subjects, column])
}
