/** The measures of a run's links, and checks of the numbers in its tables. */
import { counted } from '../base/format'
import { f64, u32, type Block } from './block'
import type { Links, Measure, Run, RunBlocks } from './run'
import { isMeasure, type Columns } from './source'

/** Coordinates may have gaps, such as groups without counters, but no array grows beyond this. */
const COORDINATES_MAX = 4096

/**
 * Refuses numbers that point outside of a table. Arrays have the size of the largest one, so a single wrong
 * value in a file would take all memory.
 */
export function checkNumbers({ routers, links, linkJobs, nodes, jobs }: RunBlocks): void {
  const check = (block: Block, table: string, column: string, end: number): void => {
    const values = block.numbers.get(column)
    const wrong = values?.findIndex((value: number) => !(value >= 0 && value < end)) ?? -1
    if (wrong >= 0)
      throw new Error(`${table}, row ${wrong}: ${column} is ${values![wrong]}, expected 0 to ${end - 1}`)
  }
  const coordinates = Math.max(routers.rows, COORDINATES_MAX)
  for (const column of routers.numbers.keys())
    if (column !== 'up') check(routers, 'routers', column, coordinates)
  for (const column of ['source', 'target']) check(links, 'links', column, routers.rows)
  check(linkJobs, 'link_jobs', 'link', links.rows)
  check(nodes, 'nodes', 'router', routers.rows)
  check(jobs, 'jobs', 'job', jobs.rows)
}

export function readMeasures(
  links: Block,
  linkJobs: Block,
  { capacity }: Links,
  columns: Columns,
): Pick<Run, 'measures' | 'mistakes'> {
  const measures: Measure[] = []
  const mistakes: string[] = []
  for (const [id, column] of Object.entries(columns)) {
    const values = links.numbers.get(id)
    if (!values || !isMeasure(column)) continue
    const perJob = linkJobs.numbers.get(id)
    const { label, unit, merge } = column
    const total = finite(f64(values), label, mistakes)
    measures.push({ id, label, unit, merge, total, perJob: perJob ? f64(perJob) : null })
  }
  const bytes = measures.find((measure) => measure.id === 'bytes')
  if (bytes && capacity.some((c) => c !== capacity[0])) measures.push(transferTime(bytes, linkJobs, capacity))
  // Traffic first, then in engine order.
  return { measures: measures.sort((a, b) => Number(b.id === 'bytes') - Number(a.id === 'bytes')), mistakes }
}

/** The values, infinite ones as unknown. No measure of a link is infinite or negative: a mistake of the file. */
function finite(values: Float64Array, label: string, mistakes: string[]): Float64Array {
  let [negative, infinite] = [0, 0]
  for (const value of values) {
    if (value < 0) negative++
    if (value === Infinity || value === -Infinity) infinite++
  }
  const lies = [
    [negative, 'is negative'],
    [infinite, 'is infinite, and not shown,'],
  ] as const
  for (const [n, what] of lies)
    if (n > 0) mistakes.push(`${label} ${what} on ${counted(n, 'link')}: the file is wrong`)
  return infinite === 0 ? values : values.map((value) => (Number.isFinite(value) ? value : NaN))
}

/** Time that a link needs for its bytes; comparable across classes. Computed on access. */
function transferTime(bytes: Measure, linkJobs: Block, capacity: Float64Array): Measure {
  const each = (bytes: Float64Array, link: (i: number) => number): Float64Array =>
    bytes.map((value, i) => {
      const c = capacity[link(i)]!
      return c > 0 ? value * (1e12 / c) : 0
    })
  const link = u32(linkJobs, 'link')
  const { perJob } = bytes
  let [total, byJob]: (Float64Array | null)[] = [null, null]
  return {
    id: 'transfer_ps',
    label: 'Transfer time',
    unit: 'ps',
    merge: 'sum',
    get total() {
      return (total ??= each(bytes.total, (l) => l))
    },
    get perJob() {
      return perJob && (byJob ??= each(perJob, (i) => link[i]!))
    },
  }
}
