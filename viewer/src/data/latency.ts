/** Packet latencies by job and traffic between groups, from packet-engine histograms. */
import type { Block } from './block'
import { placedDensity, type Density } from './placement'
import type { Run } from './run'
import { isMeasure, type ColumnInfo, type RunInfo } from './source'

export const LATENCY = 'latency'
export const LATENCY_COLUMNS = ['job', 'part', 'latency_lower_ps', 'latency_upper_ps', 'packets'] as const
export const GROUP_TRAFFIC = 'group_traffic'

/** Percentiles of a box: whiskers, box, median, and the 99 % tick. */
export const BOX_PERCENTILES = [5, 25, 50, 75, 95, 99] as const

export interface LatencyBox {
  readonly job: number
  /** Index into `Latencies.parts`. */
  readonly part: number
  readonly packets: number
  /** Picoseconds at each of `BOX_PERCENTILES`: midpoint of the histogram bin. */
  readonly at: readonly number[]
  /** End of the last bin. */
  readonly most: number
}

export interface Latencies {
  /** Parts in the table: from packet creation, and from injection. */
  readonly parts: readonly string[]
  /** Ordered by job, then part. */
  readonly boxes: readonly LatencyBox[]
}

/** Displayed names of the parts. */
const PARTS: Readonly<Record<string, string>> = { total: 'since creation', network: 'in the network' }
export const partName = (part: string): string => PARTS[part] ?? part

const filled = (info: RunInfo, table: string): boolean => (info.tables[table]?.rows ?? 0) > 0

export const hasLatency = (info: RunInfo): boolean => filled(info, LATENCY)
export const hasGroupTraffic = (info: RunInfo): boolean => filled(info, GROUP_TRAFFIC)

/** Reads the table `latency`, whose bins are sorted by value. */
export function latencies(block: Block): Latencies {
  const { codes, names } = block.coded.get('part')!
  const [jobs, from, to, packets] = ['job', 'latency_lower_ps', 'latency_upper_ps', 'packets'].map((name) =>
    block.numbers.get(name)!,
  )
  const cells = new Map<string, number[]>()
  for (let i = 0; i < block.rows; i++) {
    const key = `${jobs![i]},${codes[i]}`
    const mine = cells.get(key)
    if (mine) mine.push(i)
    else cells.set(key, [i])
  }
  const boxes = [...cells.values()].map((rows) => {
    const count = rows.reduce((sum, i) => sum + packets![i]!, 0)
    let row = 0
    let seen = packets![rows[0]!]!
    const at = BOX_PERCENTILES.map((p) => {
      // Same rank rule as the engine, ceil(p/100 n), here with the midpoint of the bin.
      const rank = Math.max(1, Math.ceil((p * count) / 100))
      while (seen < rank) seen += packets![rows[++row]!]!
      return (from![rows[row]!]! + to![rows[row]!]! - 1) / 2
    })
    const [first, last] = [rows[0]!, rows.at(-1)!]
    return { job: jobs![first]!, part: codes[first]!, packets: count, at, most: to![last]! - 1 }
  })
  return { parts: names, boxes: boxes.sort((a, b) => a.job - b.job || a.part - b.part) }
}

/** Measures of links between groups; the congestion index comes first. */
export function groupMeasures(info: RunInfo): (ColumnInfo & { readonly id: string })[] {
  const columns = Object.entries(info.tables[GROUP_TRAFFIC]?.columns ?? {}).flatMap(([id, column]) =>
    isMeasure(column) ? [{ ...column, id }] : [],
  )
  const first = (id: string): number => (id === 'congestion_index' ? 0 : 1)
  return columns.sort((a, b) => first(a.id) - first(b.id))
}

/** The chosen measure, or the first. */
export function groupMeasure(info: RunInfo, chosen: string): ReturnType<typeof groupMeasures>[0] | undefined {
  const all = groupMeasures(info)
  return all.find(({ id }) => id === chosen) ?? all[0]
}

export const groupColumns = (measure: string): string[] => ['source_group', 'target_group', measure]

/** Rows: sending groups. Columns: receiving groups. */
export function groupMatrix(run: Run, block: Block, column: string): Density {
  const [source, target, values] = groupColumns(column).map((name) => block.numbers.get(name)!)
  return placedDensity(run.routers.groups, run.routers.groups, (add) => {
    for (let i = 0; i < block.rows; i++) add(target![i]!, source![i]!, values![i]!)
  })
}
