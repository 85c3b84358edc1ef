/**
 * Times of a model-engine run by job, scenario, level, phase and term, summed into bars.
 *
 * Multigrid cycles have their own table, `cycle`. Other models list the terms of each job's slowest rank.
 */
import { quantity } from '../base/format'
import type { Block } from './block'
import { jobName, type Run } from './run'
import type { RunInfo } from './source'

/** Axes that times can be split by; the scenario is a separate panel. */
export const COST_AXES = ['job', 'level', 'phase', 'term'] as const
export type CostAxis = (typeof COST_AXES)[number]

/** The table of multigrid cycles and the columns used. */
export const CYCLE = 'cycle'
export const CYCLE_COLUMNS = ['job', 'scenario', 'level', 'phase', 'term', 'term_time_s'] as const

interface CostCell {
  /** Index into `scenarios`. */
  readonly scenario: number
  /** Indices into `names`; 0 along an axis that the run lacks. */
  readonly at: Readonly<Record<CostAxis, number>>
  readonly seconds: number
}

export interface Costs {
  readonly scenarios: readonly string[]
  /** Names along each axis; a single name along an axis that the run lacks. */
  readonly names: Readonly<Record<CostAxis, readonly string[]>>
  /** Axes that the run has. */
  readonly axes: readonly CostAxis[]
  /** Job number for each entry of the job axis. */
  readonly jobs: readonly number[]
  readonly cells: readonly CostCell[]
}

export const hasCycle = (info: RunInfo): boolean => (info.tables[CYCLE]?.rows ?? 0) > 0

export const hasCosts = (info: RunInfo): boolean =>
  hasCycle(info) || ((info.tables['rank_costs']?.rows ?? 0) > 0 && termsOf(info).length > 0)

/** The terms of a job's time that are also columns of the rank table. */
function termsOf(info: RunInfo): string[] {
  const ranks = info.tables['rank_costs']?.columns ?? {}
  return Object.entries(info.tables['jobs']?.columns ?? {}).flatMap(([name, { unit, merge }]) =>
    unit === 's' && merge === 'attribute' && ranks[name] ? [name] : [],
  )
}

/** Names in order of appearance, with the index of each. */
class Names {
  readonly all: string[] = []
  private readonly index = new Map<string, number>()

  at(name: string): number {
    let at = this.index.get(name)
    if (at === undefined) {
      this.index.set(name, (at = this.all.length))
      this.all.push(name)
    }
    return at
  }
}

/** Reads the table `cycle`. */
export function cycleCosts(run: Run, block: Block): Costs {
  const of = { scenario: new Names(), phase: new Names(), term: new Names() }
  const words = (column: keyof typeof of): number[] => {
    const coded = block.coded.get(column)
    if (!coded) throw new Error(`the column ${column} is missing`)
    return Array.from(coded.codes, (code) => of[column].at(coded.names[code]!))
  }
  const [scenario, phase, term] = [words('scenario'), words('phase'), words('term')]
  const [job, level, time] = ['job', 'level', 'term_time_s'].map((name) => block.numbers.get(name)!)
  const jobs = [...new Set(job)]
  return {
    scenarios: of.scenario.all,
    names: {
      job: jobs.map((number) => jobName(run, number)),
      level: Array.from({ length: Math.max(0, ...level!) + 1 }, (_, l) => `level ${l}`),
      phase: of.phase.all,
      term: of.term.all,
    },
    axes: COST_AXES,
    jobs,
    cells: scenario.map((of, i) => ({
      scenario: of,
      at: { job: jobs.indexOf(job![i]!), level: level![i]!, phase: phase[i]!, term: term[i]! },
      seconds: time![i]!,
    })),
  }
}

/** Terms of each job's slowest rank. */
export function rankCosts(run: Run): Costs {
  const terms = termsOf(run.info)
  const columns = run.info.tables['jobs']!.columns
  return {
    scenarios: ['slowest rank'],
    names: {
      job: run.jobs.map(({ name }) => name),
      level: [''],
      phase: [''],
      term: terms.map((name) => columns[name]!.label),
    },
    axes: ['job', 'term'],
    jobs: run.jobs.map(({ job }) => job),
    cells: run.jobs.flatMap(({ figures }, job) =>
      terms.map((name, term) => ({
        scenario: 0,
        at: { job, level: 0, phase: 0, term },
        seconds: figures.find(({ id }) => id === name)?.value ?? 0,
      })),
    ),
  }
}

interface CostPanel {
  readonly scenario: string
  /** Seconds by row, then part. */
  readonly bars: readonly (readonly number[])[]
  readonly total: number
}

export interface CostBars {
  readonly rows: readonly string[]
  readonly parts: readonly string[]
  readonly panels: readonly CostPanel[]
  /** The longest bar of all panels; they share one scale. */
  readonly most: number
}

export interface CostChoice {
  readonly rows: CostAxis
  readonly parts: CostAxis
}

/** The requested axes if the run has them; rows and parts always differ. */
export function costChoice({ axes }: Costs, rows: CostAxis, parts: CostAxis): CostChoice {
  const row = axes.includes(rows) ? rows : axes[0]!
  return { rows: row, parts: axes.includes(parts) && parts !== row ? parts : axes.find((a) => a !== row)! }
}

/**
 * Sums the counted jobs into bars.
 *
 * Args:
 * only: The one job to show, -1 for all. Times of different jobs are never summed: without a job axis, one
 * job must be chosen.
 * counts: Whether a job is included.
 */
export function costBars(
  costs: Costs,
  { rows, parts }: CostChoice,
  only: number,
  counts: (job: number) => boolean = () => true,
): CostBars {
  const { names, cells, scenarios, jobs } = costs
  const sums = scenarios.map(() => names[rows].map(() => names[parts].map(() => 0)))
  for (const { scenario, at, seconds } of cells) {
    const job = jobs[at.job]!
    if (only >= 0 ? job !== only : !counts(job)) continue
    sums[scenario]![at[rows]]![at[parts]]! += seconds
  }
  const all = sums.flat()
  const keptParts = names[parts].flatMap((_, p) => (all.some((bar) => bar[p]! > 0) ? [p] : []))
  const keptRows = names[rows].flatMap((_, r) => (sums.some((bars) => total(bars[r]!) > 0) ? [r] : []))
  const panels = sums.map((bars, s) => ({
    scenario: scenarios[s]!,
    bars: keptRows.map((r) => keptParts.map((p) => bars[r]![p]!)),
    total: total(bars.map(total)),
  }))
  return {
    rows: keptRows.map((r) => names[rows][r]!),
    parts: keptParts.map((p) => names[parts][p]!),
    panels,
    most: Math.max(0, ...panels.flatMap(({ bars }) => bars.map(total))),
  }
}

/** The job with the longest time in the first scenario, which is the run's own; -1 without jobs. */
export function slowestJob({ cells, jobs }: Costs): number {
  const times = jobs.map(() => 0)
  for (const { scenario, at, seconds } of cells) if (scenario === 0) times[at.job]! += seconds
  return jobs[times.indexOf(Math.max(...times))] ?? -1
}

/** A sentence with the longest bar of each scenario; empty if there is nothing to choose from. */
export function costHeadline({ rows, parts, panels }: CostBars, of: string): string {
  if (rows.length < 2) return ''
  const largest = (values: readonly number[]): number => values.indexOf(Math.max(...values))
  // Scenarios with the same answer share it.
  const found = new Map<string, string[]>()
  for (const { scenario, bars, total: all } of panels) {
    const row = largest(bars.map(total))
    const answer = `${rows[row]!}, mostly ${parts[largest(bars[row]!)]!}`
    const time = `${quantity(total(bars[row]!), 's')} of ${quantity(all, 's')} in ${scenario}`
    found.set(answer, [...(found.get(answer) ?? []), time])
  }
  const answers = [...found].map(([answer, times]) => `${answer} (${times.join(', ')})`)
  return `${of} takes longest at ${answers.join('; at ')}.`
}

export const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)
