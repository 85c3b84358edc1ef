/**
 * The change table of a comparison: mean and maximum per class, and per job and class, relative to the base.
 */
import { signedPercent } from '../base/format'
import type { DerivedRun } from './model'
import { jobNamed } from './run'
import { classStats, type ClassStats } from './stats'
import { sortedByClass } from './stats'

interface ChangeRow {
  readonly name: string
  /** Set for rows of one job. */
  readonly color: string | null
  readonly statistic: 'mean' | 'max'
  /** One per run; null if the run has no such class or job. */
  readonly values: readonly (number | null)[]
}

const ALL = 'all'

export function classChanges(runs: readonly DerivedRun[]): ChangeRow[] {
  const stats = runs.map((d) => statsByName(d.run.links.classes, d.stats))
  return rowsFor([...new Set(stats.flatMap((s) => [...s.keys()]))], stats, (name) => name, null)
}

/** Pairs jobs by name. */
export function jobChanges(runs: readonly DerivedRun[]): ChangeRow[] {
  const rows: ChangeRow[] = []
  for (const job of runs[0]!.run.jobs) {
    const stats = runs.map((d) => {
      const twin = jobNamed(d.run, job.name)
      return twin && d.measure.perJob !== null ? jobStats(d, twin.job) : new Map<string, ClassStats>()
    })
    rows.push(...rowsFor([...(stats[0]?.keys() ?? [])], stats, (name) => `${job.name}, ${name}`, job.color))
  }
  return rows
}

function rowsFor(
  names: readonly string[],
  stats: readonly ReadonlyMap<string, ClassStats>[],
  label: (name: string) => string,
  color: string | null,
): ChangeRow[] {
  return names.flatMap((name) =>
    (['mean', 'max'] as const).map((statistic) => ({
      name: label(name),
      color,
      statistic,
      values: stats.map((s) => {
        const found = s.get(name)
        return found ? (statistic === 'mean' ? found.mean : found.max) : null
      }),
    })),
  )
}

function jobStats({ run, measure }: DerivedRun, job: number): Map<string, ClassStats> {
  const values = new Float64Array(run.links.count)
  for (let l = 0; l < run.links.count; l++)
    for (let i = run.linkJobs.offsets[l]!; i < run.linkJobs.offsets[l + 1]!; i++)
      if (run.linkJobs.job[i] === job) values[l]! += measure.perJob![i]!
  return statsByName(
    run.links.classes,
    sortedByClass(values, run.links.class, run.links.classes.length).map(classStats),
  )
}

/** The class `all` comes first. */
function statsByName(classes: readonly string[], stats: readonly ClassStats[]): Map<string, ClassStats> {
  const links = stats.reduce((n, s) => n + s.links, 0)
  const sum = stats.reduce((total, s) => total + s.sum, 0)
  const all: ClassStats = {
    links,
    nonzero: stats.reduce((n, s) => n + s.nonzero, 0),
    sum,
    mean: links === 0 ? 0 : sum / links,
    max: Math.max(0, ...stats.map((s) => s.max)),
    min: Math.min(...stats.map((s) => s.min)),
    percentiles: [],
  }
  return new Map([
    [ALL, all] as const,
    ...classes.map((name, code) => [name, stats[code]!] as const).filter(([, s]) => s.links > 0),
  ])
}

/** Relative change against the base. */
export function against({ values }: ChangeRow, i: number): string {
  const [base, value] = [values[0], values[i]]
  if (base === null || base === undefined || value === null || value === undefined) return ''
  if (base === 0) return value === 0 ? '±0 %' : 'new'
  const share = value / base - 1
  return share === 0 ? '±0 %' : signedPercent(share)
}

export function tone({ values }: ChangeRow, i: number): string {
  const [base, value] = [values[0] ?? 0, values[i] ?? 0]
  return value > base ? 'more' : value < base ? 'less' : ''
}

/**
 * The group inside which links changed most, if links inside groups changed more than those between them;
 * -1 otherwise. The picture of a ring shows only links between groups.
 */
export function changedGroup({ run, values }: Pick<DerivedRun, 'run' | 'values'>): number {
  const { group, groups } = run.routers
  const { source, target, count: links } = run.links
  const inside = new Float64Array(groups)
  let between = 0
  for (let link = 0; link < links; link++) {
    const change = Math.abs(values[link]!) || 0
    const from = group[source[link]!]!
    if (from === group[target[link]!]) inside[from]! += change
    else between += change
  }
  const most = inside.reduce((best, sum, g) => (sum > inside[best]! ? g : best), 0)
  return inside.reduce((a, b) => a + b, 0) > between ? most : -1
}
