/** Pictures as accessible tables, largest rows first. Pure functions. */
import { count, percent, quantity, type Unit } from '../base/format'
import type { CostBars } from './costs'
import { jobOf, show, valueLabel } from './describe'
import type { Lane } from './lanes'
import { BOX_PERCENTILES, partName, type Latencies } from './latency'
import type { DerivedRun } from './model'
import type { Density } from './placement'
import type { Run } from './run'
import { hottest } from './selection'
import type { Lines } from './series'
import { PERCENTILES } from './stats'
import { jobsOnLink } from './values'

/** Maximum number of rows: more than anyone reads, and 10^5 rows would block the page. */
export const ROWS_MAX = 500

export interface Rows {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** Total number, including rows left out. */
  readonly all: number
}

/** The first rows of a table of all `items`. */
const tableOf = <T>(
  title: string,
  head: readonly string[],
  items: readonly T[],
  row: (item: T) => readonly string[],
): Rows => ({ title, head, rows: items.slice(0, ROWS_MAX).map(row), all: items.length })

/** Machine picture: selected non-zero links. */
export function linkRows(d: DerivedRun, title: string): Rows {
  const { run, measure, selection, values } = d
  const { source, target, class: code, classes } = run.links
  let all = 0
  for (let l = 0; l < values.length; l++) if (selection.selected[l] === 1 && values[l] !== 0) all++
  const perJob = measure.perJob !== null
  return {
    title,
    head: ['From', 'To', 'Class', valueLabel(d), ...(perJob ? ['Jobs'] : [])],
    rows: hottest(values, selection.selected, ROWS_MAX).map((l) => [
      run.routers.names.at(source[l]!),
      run.routers.names.at(target[l]!),
      classes[code[l]!]!,
      show(d, values[l]!),
      ...(perJob
        ? [
            jobsOnLink(measure, run.linkJobs, d.counted, l)
              .map(({ job, value }) => `${jobOf(run, job).name} ${show(d, value)}`)
              .join(', '),
          ]
        : []),
    ]),
    all,
  }
}

/** Histograms: all classes with links, per run. */
export function classRows(runs: readonly DerivedRun[], title: string): Rows {
  const several = runs.length > 1
  const rows = runs.flatMap((d) =>
    d.run.links.classes.flatMap((name, code) => {
      const stats = d.stats[code]!
      if (stats.links === 0) return []
      const figures = [stats.mean, ...stats.percentiles, stats.max].map((value) => show(d, value))
      const counts = [stats.links, stats.nonzero, d.selection.counts[code]!].map(count)
      return [[...(several ? [d.run.label] : []), name, ...counts, ...figures]]
    }),
  )
  return {
    title,
    head: [
      ...(several ? ['Run'] : []),
      'Class',
      'Links',
      'Non-zero',
      'Selected',
      'Mean',
      ...PERCENTILES.map((p) => `${p} %`),
      'Largest',
    ],
    rows,
    all: rows.length,
  }
}

/** Time series: one row per interval, one column per line. */
export function lineRows(
  { times, lines }: Lines,
  title: string,
  unit: Unit,
  name: (subject: number) => string,
): Rows {
  return {
    title,
    head: ['From', ...lines.map(({ subject }) => name(subject))],
    rows: Array.from(times.subarray(0, ROWS_MAX), (time, i) => [
      quantity(time, 'ps'),
      ...lines.map(({ values }) => quantity(values[i]!, unit)),
    ]),
    all: times.length,
  }
}

/** A cell of a heat map over time. */
export interface HeatCell {
  readonly row: number
  readonly interval: number
  readonly value: number
}

/** Non-zero cells, largest first; ties by row, then time. */
export function heatCells({ lines }: Lines): HeatCell[] {
  const cells: HeatCell[] = []
  lines.forEach(({ values }, row) =>
    values.forEach((value, interval) => value > 0 && cells.push({ row, interval, value })),
  )
  return cells.sort((a, b) => b.value - a.value || a.row - b.row || a.interval - b.interval)
}

export function heatRows(
  lines: Lines,
  title: string,
  noun: string,
  unit: Unit,
  name: (subject: number) => string,
): Rows {
  return tableOf(title, [noun, 'From', 'Value'], heatCells(lines), ({ row, interval, value }) => [
    name(lines.lines[row]!.subject),
    quantity(lines.times[interval]!, 'ps'),
    quantity(value, unit),
  ])
}

/** Ranks: time computing, sending and waiting, longest wait first. */
export function laneRows(run: Run, lanes: readonly Lane[], title: string): Rows {
  const rows = [...lanes].sort((a, b) => b.waiting - a.waiting || a.job - b.job || a.rank - b.rank)
  const head = ['Job', 'Rank', 'Node', 'Computing', 'Communicating', 'Waiting', 'Share waiting']
  return tableOf(title, head, rows, (lane) => {
    const whole = lane.end - lane.start
    const times = [whole - lane.inCalls, lane.inCalls - lane.waiting, lane.waiting]
    return [
      jobOf(run, lane.job).name,
      count(lane.rank),
      run.nodes.names.at(lane.node),
      ...times.map((time) => quantity(time, 'ps')),
      percent(whole > 0 ? lane.waiting / whole : 0),
    ]
  })
}

/** Cost bars: parts, largest first; ties by position. */
export function costRows({ panels, rows, parts }: CostBars, title: string, row: string, part: string): Rows {
  const all = panels.flatMap(({ scenario, bars, total }) =>
    bars.flatMap((bar, r) =>
      bar.flatMap((seconds, p) =>
        seconds === 0 ? [] : [{ seconds, cells: [scenario, rows[r]!, parts[p]!], share: seconds / total }],
      ),
    ),
  )
  const head = ['Scenario', row, part, 'Time', 'Share of the scenario']
  all.sort((a, b) => b.seconds - a.seconds)
  return tableOf(title, head, all, ({ seconds, cells, share }) => [
    ...cells,
    quantity(seconds, 's'),
    percent(share),
  ])
}

/** Latency boxes, largest 99th percentile first. */
export function latencyRows(
  { parts, boxes }: Latencies,
  title: string,
  nameOf: (job: number) => string,
): Rows {
  const slowest = [...boxes].sort((a, b) => b.at.at(-1)! - a.at.at(-1)! || a.job - b.job || a.part - b.part)
  const head = ['Job', 'Latency', 'Packets', ...BOX_PERCENTILES.map((p) => `${p} %`), 'Max']
  return tableOf(title, head, slowest, ({ job, part, packets, at, most }) => [
    nameOf(job),
    partName(parts[part]!),
    count(packets),
    ...[...at, most].map((value) => quantity(value, 'ps')),
  ])
}

/** Indices of non-zero cells, largest first; ties by position. */
export function densityCells({ values }: Density): number[] {
  const cells: number[] = []
  values.forEach((value, i) => value > 0 && cells.push(i))
  return cells.sort((a, b) => values[b]! - values[a]! || a - b)
}
