/**
 * Rank activity over time, from the tables `ranks`, `calls` and `rank_waits`. Outside of calls, a rank
 * computes; inside, it waits or works on its messages.
 */
import { textAt, type Block } from './block'
import type { RunInfo } from './source'

export const COMPUTING = 0
export const COMMUNICATING = 1
export const WAITING = 2

export const LANE_TABLES = {
  ranks: ['job', 'rank', 'node', 'start_ps', 'end_ps'],
  calls: ['job', 'rank', 'name', 'start_ps', 'end_ps'],
  rank_waits: ['job', 'rank', 'start_ps', 'end_ps', 'event', 'peer'],
} as const

interface Span {
  readonly from: number
  readonly until: number
  /** Name of a call, or the reason of a wait. */
  readonly what: string
}

export interface Lane {
  readonly job: number
  readonly rank: number
  readonly node: number
  readonly start: number
  readonly end: number
  /** Ordered by start. */
  readonly calls: readonly Span[]
  readonly waits: readonly Span[]
  readonly waiting: number
  readonly inCalls: number
}

/** Whether a run recorded the activity of its ranks. */
export const hasLanes = ({ tables }: RunInfo): boolean =>
  Object.entries(LANE_TABLES).every(
    ([table, columns]) =>
      (tables[table]?.rows ?? 0) > 0 && columns.every((c) => tables[table]!.columns[c] !== undefined),
  )

type Blocks = Readonly<Record<keyof typeof LANE_TABLES, Block>>

export function lanesOf(blocks: Blocks): Lane[] {
  const { ranks, calls, rank_waits: waits } = blocks
  const key = (job: number, rank: number): number => job * 2 ** 32 + rank
  const found = new Map<number, { calls: Span[]; waits: Span[] }>()
  const [job, rank, node, start, end] = LANE_TABLES.ranks.map((name) => ranks.numbers.get(name)!)
  for (let i = 0; i < ranks.rows; i++) found.set(key(job![i]!, rank![i]!), { calls: [], waits: [] })
  const collect = (
    block: Block,
    into: 'calls' | 'waits',
    from: string,
    until: string,
    what: (row: number) => string,
  ): void => {
    const [jobs, numbers] = [block.numbers.get('job')!, block.numbers.get('rank')!]
    const [begin, stop] = [block.numbers.get(from)!, block.numbers.get(until)!]
    for (let i = 0; i < block.rows; i++)
      found.get(key(jobs[i]!, numbers[i]!))?.[into].push({ from: begin[i]!, until: stop[i]!, what: what(i) })
  }
  const peer = waits.numbers.get('peer')!
  const graphs = jobsWithTasks(calls)
  collect(calls, 'calls', 'start_ps', 'end_ps', (i) => textAt(calls, 'name', i))
  collect(waits, 'waits', 'start_ps', 'end_ps', (i) => `${textAt(waits, 'event', i)} of rank ${peer[i]}`)
  const rows = Array.from({ length: ranks.rows }, (_, i) => i).filter((i) => !graphs.has(job![i]!))
  return rows
    .map((i): Lane => {
      const mine = found.get(key(job![i]!, rank![i]!))!
      for (const list of [mine.calls, mine.waits]) list.sort((a, b) => a.from - b.from)
      return {
        job: job![i]!,
        rank: rank![i]!,
        node: node![i]!,
        start: start![i]!,
        end: end![i]!,
        ...mine,
        waiting: coveredTime(mine.waits),
        inCalls: coveredTime(mine.calls),
      }
    })
    .sort((a, b) => a.job - b.job || a.rank - b.rank)
}

/**
 * Jobs whose program is a task graph with computations: their tasks overlap, so a rank has no single
 * activity. Programs of calls have no call `compute`.
 */
function jobsWithTasks(calls: Block): Set<number> {
  const jobs = calls.numbers.get('job')!
  const found = new Set<number>()
  for (let i = 0; i < calls.rows; i++) if (textAt(calls, 'name', i) === 'compute') found.add(jobs[i]!)
  return found
}

/** Total time covered by at least one span; spans are ordered. */
function coveredTime(spans: readonly Span[]): number {
  let [total, last] = [0, -Infinity]
  for (const { from, until } of spans) {
    const begin = Math.max(from, last)
    if (until > begin) total += until - begin
    last = Math.max(last, until)
  }
  return total
}

/** The span that contains a time, or null: the last that started and has not ended. */
function spanAt(spans: readonly Span[], time: number): Span | null {
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (spans[middle]!.from <= time) low = middle + 1
    else high = middle
  }
  const span = spans[low - 1]
  return span && span.until > time ? span : null
}

/** Activity of a rank at a time; null before its start and after its end. */
export function stateAt(lane: Lane, time: number): { state: number; what: string } | null {
  if (time < lane.start || time >= lane.end) return null
  const call = spanAt(lane.calls, time)
  if (!call) return { state: COMPUTING, what: '' }
  const wait = spanAt(lane.waits, time)
  return wait
    ? { state: WAITING, what: `${call.what}, for ${wait.what}` }
    : { state: COMMUNICATING, what: call.what }
}

/** The `rows` lanes that wait longest, in their original order. */
export function longestWaiting(lanes: readonly Lane[], rows: number): readonly Lane[] {
  if (lanes.length <= rows) return lanes
  const chosen = new Set([...lanes].sort((a, b) => b.waiting - a.waiting).slice(0, rows))
  return lanes.filter((lane) => chosen.has(lane))
}

/** Shares of computing, sending and waiting in the total time of these lanes. */
export function sharesOf(lanes: readonly Lane[]): readonly [number, number, number] {
  const [all, calls, waits] = lanes.reduce(
    ([a, c, w], lane) => [a + lane.end - lane.start, c + lane.inCalls, w + lane.waiting],
    [0, 0, 0] as [number, number, number],
  )
  return all === 0 ? [0, 0, 0] : [(all - calls) / all, (calls - waits) / all, waits / all]
}
