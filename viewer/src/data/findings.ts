/** What a study says over its runs: the trials of an optimization, or what jobs cost each other. Every row leads to its runs. */
import type { Unit } from '../base/format'
import { pivotOf, type Pivot } from './pivot'
import type { Index } from './source'

export interface Fact {
  readonly name: string
  readonly label: string
  readonly unit: Unit
  readonly meaning: string
}

export interface Finding {
  /** Numbers of the runs that it is about, and of those that they are held against. */
  readonly runs: readonly number[]
  readonly base: readonly number[]
  readonly keys: Readonly<Record<string, string | number>>
  /** Those that there are. */
  readonly values: Readonly<Record<string, number>>
  /** Of a trial: whether it keeps the limits, whether none beats it, and why it cannot be run. */
  readonly allowed?: boolean
  readonly front?: boolean
  readonly reason?: string | null
}

export interface Findings {
  readonly kind: 'front' | 'interference'
  /** Figures that count most: what is minimised, or the slowdown. */
  readonly aims: readonly string[]
  readonly keys: readonly Fact[]
  readonly figures: readonly Fact[]
  readonly entries: readonly Finding[]
}

export const factOf = (facts: readonly Fact[], name: string): Fact | undefined =>
  facts.find((fact) => fact.name === name)

/** Figures in the order in which they are offered: the aims first. */
export function offered({ aims, figures }: Findings): Fact[] {
  const first = aims.flatMap((aim) => factOf(figures, aim) ?? [])
  return [...first, ...figures.filter((fact) => !first.includes(fact))]
}

export interface FindingsTable {
  /** The value of the key that has a table for each; empty for the only one. */
  readonly panel: string
  readonly pivot: Pivot
  /** Number of the finding of each run number of a cell of the pivot. */
  readonly entries: readonly number[]
}

export interface FindingsPanels {
  readonly panelKey: string
  readonly rowKey: string
  readonly columnKey: string
  readonly figure: Fact
  /** All on the scale of all of them. */
  readonly tables: readonly FindingsTable[]
}

export interface Chosen {
  readonly panels: string
  readonly rows: string
  readonly columns: string
  readonly figure: string
}

/**
 * A table for each target, its backgrounds against the first other setting, or whatever is chosen; cells are means over all other keys.
 * `-` as a key is none.
 */
export function findingsPanels(findings: Findings, chosen: Chosen): FindingsPanels | null {
  const { keys, entries } = findings
  const options = offered(findings)
  const figure = options.find(({ name }) => name === chosen.figure) ?? options[0]
  if (!figure) return null
  const names = keys.map(({ name }) => name)
  // Seeds are what means are over.
  const settings = names.filter((name) => !/seed$/.test(name))
  const usual = settings.length > 2 ? settings : ['', ...settings]
  const [panels = '', rows = '', columns = ''] = usual
  const keyOf = (asked: string, otherwise: string): string =>
    asked === '-' ? '' : names.includes(asked) ? asked : otherwise
  const panelKey = keyOf(chosen.panels, panels)
  const rowKey = keyOf(chosen.rows, rows)
  const across = keyOf(chosen.columns, columns)
  const columnKey = across === rowKey ? '' : across
  const values = entries.map((entry) => entry.values[figure.name] ?? NaN)
  const groups = new Map<string, number[]>()
  entries.forEach((entry, i) => {
    if (Number.isNaN(values[i]!)) return
    const panel = panelKey === '' ? '' : String(entry.keys[panelKey])
    groups.set(panel, [...(groups.get(panel) ?? []), i])
  })
  const tables = [...groups].map(([panel, mine]) => ({
    panel,
    entries: mine,
    pivot: pivotOf(
      mine.map((i) => entries[i]!),
      mine.map((i) => values[i]!),
      rowKey,
      columnKey,
      'key',
    ),
  }))
  const low = Math.min(...tables.map(({ pivot }) => pivot.low))
  const high = Math.max(...tables.map(({ pivot }) => pivot.high))
  return {
    panelKey,
    rowKey,
    columnKey,
    figure,
    tables: tables.map((table) => ({ ...table, pivot: { ...table.pivot, low, high } })),
  }
}

/** Runs to look at for a finding: beside its base, run by run of one seed, or alone. */
export function lookAt(
  { runs, base }: Finding,
  index: Index,
): { compared: number[] } | { run: number } | null {
  const [run] = runs
  if (run === undefined) return null
  // The base with the same seed, which is there in the same order.
  const seed = index.runs[run]?.summary.seed
  const partner = base.find((id) => index.runs[id]?.summary.seed === seed) ?? base[0]
  return partner === undefined || partner === run ? { run } : { compared: [partner, run] }
}

/** Those that have both aims, and those of them that none beats, by the first aim. */
export function frontOf(findings: Findings): {
  readonly points: readonly number[]
  readonly front: readonly number[]
} {
  const { aims, entries } = findings
  const points = [...entries.keys()].filter((i) => aims.every((aim) => entries[i]!.values[aim] !== undefined))
  const first = (i: number): number => entries[i]!.values[aims[0]!]!
  const front = points.filter((i) => entries[i]!.front === true).sort((a, b) => first(a) - first(b))
  return { points, front }
}
