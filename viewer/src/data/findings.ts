/**
 * Results of a study: the trials of an optimization, or the slowdown between jobs. Each row links to its
 * runs.
 */
import { count, quantity, signedPercent, type Unit } from '../base/format'
import { isNothing, pivotOf, type Pivot } from './pivot'
import type { Index } from './source'

export interface FieldInfo {
  readonly name: string
  /** Whether it is a seed of random choices. */
  readonly seed?: boolean
  readonly label: string
  readonly unit: Unit
  readonly meaning: string
}

export interface Finding {
  /** Numbers of the runs of this entry, and of the runs it is compared with. */
  readonly runs: readonly number[]
  readonly base: readonly number[]
  readonly keys: Readonly<Record<string, string | number>>
  /** Available values only. */
  readonly values: Readonly<Record<string, number>>
  /**
   * Trials only: whether the constraints hold, whether it is on the Pareto front, and why it could not run.
   */
  readonly allowed?: boolean
  readonly front?: boolean
  readonly reason?: string | null
}

export interface Findings {
  readonly kind: 'front' | 'interference'
  /** The main figures: the objectives, or the slowdown. */
  readonly objectives: readonly string[]
  readonly keys: readonly FieldInfo[]
  readonly figures: readonly FieldInfo[]
  readonly entries: readonly Finding[]
}

export const fieldOf = (facts: readonly FieldInfo[], name: string): FieldInfo | undefined =>
  facts.find((fact) => fact.name === name)

/** Figures in menu order: objectives first. */
export function offeredFigures({ objectives, figures }: Findings): FieldInfo[] {
  const first = objectives.flatMap((objective) => fieldOf(figures, objective) ?? [])
  return [...first, ...figures.filter((fact) => !first.includes(fact))]
}

interface FindingsTable {
  /** Value of the panel key; empty if there is one panel. */
  readonly panel: string
  readonly pivot: Pivot
  /** Entry number for each run number of a pivot cell. */
  readonly entries: readonly number[]
}

export interface FindingsPanels {
  readonly panelKey: string
  readonly rowKey: string
  readonly columnKey: string
  readonly figure: FieldInfo
  /** All panels share one scale. */
  readonly tables: readonly FindingsTable[]
}

export interface FindingsChoice {
  readonly panels: string
  readonly rows: string
  readonly columns: string
  readonly figure: string
}

/**
 * One table per target; rows are backgrounds, columns the first other setting, unless chosen otherwise. Cells
 * are means over all other keys. `-` means no key.
 */
export function findingsPanels(findings: Findings, chosen: FindingsChoice): FindingsPanels | null {
  const { keys, entries } = findings
  const options = offeredFigures(findings)
  const figure = options.find(({ name }) => name === chosen.figure) ?? options[0]
  if (!figure) return null
  const names = keys.map(({ name }) => name)
  // Means are taken over seeds.
  const settings = keys.filter(({ seed }) => !seed).map(({ name }) => name)
  const defaults = settings.length > 2 ? settings : ['', ...settings]
  const [panels = '', rows = '', columns = ''] = defaults
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
      [rowKey].filter(Boolean),
      [columnKey].filter(Boolean),
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

/** The runs to open for an entry: run and base with the same seed, or the run alone. */
export function runsToOpen(
  { runs, base }: Finding,
  index: Index,
): { compared: number[] } | { run: number } | null {
  const [run] = runs
  if (run === undefined) return null
  // The base run with the same seed; both lists have the same order.
  const seed = index.runs[run]?.summary.seed
  const partner = base.find((id) => index.runs[id]?.summary.seed === seed) ?? base[0]
  return partner === undefined || partner === run ? { run } : { compared: [partner, run] }
}

/** Entries with both objectives, and the Pareto front sorted by the first objective. */
export function frontOf(findings: Findings): {
  readonly points: readonly number[]
  readonly front: readonly number[]
} {
  const { objectives, entries } = findings
  const points = [...entries.keys()].filter((i) =>
    objectives.every((objective) => entries[i]!.values[objective] !== undefined),
  )
  const first = (i: number): number => entries[i]!.values[objectives[0]!]!
  const front = points.filter((i) => entries[i]!.front === true).sort((a, b) => first(a) - first(b))
  return { points, front }
}

/** Settings in which entries differ, and those that they share. */
function settingsOf(
  { keys, entries }: Findings,
  some: readonly number[],
): { differ: FieldInfo[]; same: FieldInfo[] } {
  const values = (name: string): number => new Set(some.map((i) => String(entries[i]!.keys[name]))).size
  const settings = keys.filter(({ seed }) => !seed)
  return {
    differ: settings.filter(({ name }) => values(name) > 1),
    same: settings.filter(({ name }) => values(name) === 1),
  }
}

/** What distinguishes an entry of the front from the others: its values of the settings in which they differ. */
export function frontNames(findings: Findings): ReadonlyMap<number, string> {
  const { front } = frontOf(findings)
  const { differ } = settingsOf(findings, front)
  const nameOf = (i: number): string =>
    differ.map(({ name }) => settingText(findings.entries[i]!, name)).join(' · ')
  return new Map(front.map((i) => [i, nameOf(i)]))
}

function settingText({ keys }: Finding, name: string): string {
  const text = String(keys[name] ?? '–')
  return isNothing(text) ? 'none' : text
}

/** The best of each objective, compared with the file's own values, and what distinguishes the front. */
export function frontSentences(findings: Findings): string[] {
  const { objectives, figures, entries } = findings
  const { front } = frontOf(findings)
  if (front.length === 0) return []
  const { differ, same } = settingsOf(findings, front)
  const own = entries[0]!
  const best = objectives.map((objective) => {
    const { label, unit } = fieldOf(figures, objective)!
    const value = (i: number): number => entries[i]!.values[objective]!
    const least = front.reduce((found, i) => (value(i) < value(found) ? i : found))
    const before = own.values[objective]
    const change = before === undefined || before === 0 ? NaN : value(least) / before - 1
    const against =
      least === 0
        ? ', the file’s own values'
        : Number.isNaN(change)
          ? ''
          : `, ${signedPercent(change)} from the file’s own values`
    const settings = differ.map(({ name, label: key }) => `${key}=${settingText(entries[least]!, name)}`)
    const where = settings.length > 0 ? ` with ${settings.join(', ')}` : ''
    return `Best ${label.toLowerCase()}: ${quantity(value(least), unit)}${where}${against}.`
  })
  const shared = same.map(({ name, label }) => `${label}=${settingText(entries[front[0]!]!, name)}`)
  const named = differ.map(({ label }) => label).join(' and ')
  const among =
    front.length === 1
      ? 'One combination is best'
      : `The ${count(front.length)} on the front differ in ${named}`
  return [...best, `${among}${shared.length > 0 ? `; all have ${shared.join(', ')}` : ''}.`]
}

/** Background of a job that runs alone. */
const ALONE = 'none'

interface Slowdown {
  readonly of: Finding
  readonly values: readonly number[]
}

/**
 * The largest slowdown by other jobs, mean over seeds, and whether the seeds distinguish it from 1; empty
 * without slowdowns.
 */
export function slowdownSentence(findings: Findings): string {
  const { keys, entries } = findings
  const [figure] = offeredFigures(findings)
  if (figure?.unit !== 'ratio') return ''
  const settings = keys.filter(({ seed }) => !seed)
  const found = new Map<string, { of: Finding; values: number[] }>()
  for (const of of entries) {
    const value = of.values[figure.name]
    if (value === undefined || of.keys['background'] === ALONE) continue
    const place = settings.map(({ name }) => String(of.keys[name])).join('\n')
    const known = found.get(place)
    if (known) known.values.push(value)
    else found.set(place, { of, values: [value] })
  }
  const ordered = [...found.values()].sort((a, b) => meanOf(b) - meanOf(a))
  const certain = ordered.find((one) => meanOf(one) - rangeOf(one) > 1)
  const shown = certain ?? ordered[0]
  if (!shown) return ''
  const start = certain
    ? 'Largest slowdown'
    : shown.values.length > 1
      ? 'No slowdown beyond the spread of seeds; the largest'
      : 'No slowdown; the largest'
  const { target, background } = shown.of.keys
  const where = settings
    .filter(({ name }) => name !== 'target' && name !== 'background')
    .map(({ name, label }) => `, ${label}=${settingText(shown.of, name)}`)
    .join('')
  const [low, high] = [Math.min(...shown.values), Math.max(...shown.values)]
  const seeds =
    shown.values.length > 1
      ? ` (${quantity(low, 'ratio')} to ${quantity(high, 'ratio')}, ${count(shown.values.length)} seeds)`
      : ''
  return `${start}: ${target} × ${quantity(meanOf(shown), 'ratio')} with ${background}${where}${seeds}.`
}

const meanOf = ({ values }: Slowdown): number => values.reduce((sum, value) => sum + value, 0) / values.length
const rangeOf = ({ values }: Slowdown): number => Math.max(...values) - Math.min(...values)
