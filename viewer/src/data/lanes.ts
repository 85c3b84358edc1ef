/**
 * What every rank does when: computing outside of calls; inside of a call waiting while it is held up, else at work on its
 * messages. From the tables `ranks` (from where to where), `calls` and `rank_waits` of runs of programs.
 */
import type { Block } from './block'
import type { RunInfo } from './source'

export const COMPUTING = 0
export const SENDING = 1
export const WAITING = 2

export const LANE_TABLES = {
  ranks: ['job', 'rank', 'node', 'start_ps', 'end_ps'],
  calls: ['job', 'rank', 'name', 'entered_ps', 'left_ps'],
  rank_waits: ['job', 'rank', 'from_ps', 'until_ps', 'told', 'peer'],
} as const

export interface Span {
  readonly from: number
  readonly until: number
  /** Name of a call, or what was waited for. */
  readonly what: string
}

export interface Lane {
  readonly job: number
  readonly rank: number
  readonly node: number
  readonly start: number
  readonly end: number
  /** In their order. */
  readonly calls: readonly Span[]
  readonly waits: readonly Span[]
  readonly waiting: number
  readonly inCalls: number
}

/** Whether a run can tell what its ranks did when. */
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
  const name = textOf(calls, 'name')
  const [told, peer] = [textOf(waits, 'told'), waits.numbers.get('peer')!]
  collect(calls, 'calls', 'entered_ps', 'left_ps', name)
  collect(waits, 'waits', 'from_ps', 'until_ps', (i) => `${told(i)} of rank ${peer[i]}`)
  return Array.from({ length: ranks.rows }, (_, i): Lane => {
    const mine = found.get(key(job![i]!, rank![i]!))!
    for (const list of [mine.calls, mine.waits]) list.sort((a, b) => a.from - b.from)
    return {
      job: job![i]!,
      rank: rank![i]!,
      node: node![i]!,
      start: start![i]!,
      end: end![i]!,
      ...mine,
      waiting: covered(mine.waits),
      inCalls: covered(mine.calls),
    }
  }).sort((a, b) => a.job - b.job || a.rank - b.rank)
}

function textOf(block: Block, column: string): (row: number) => string {
  const coded = block.coded.get(column)
  return coded ? (i) => coded.names[coded.codes[i]!]! : (i) => block.strings.get(column)?.at(i) ?? ''
}

/** How long at least one of the spans lasts; they are in their order. */
export function covered(spans: readonly Span[]): number {
  let [total, last] = [0, -Infinity]
  for (const { from, until } of spans) {
    const begin = Math.max(from, last)
    if (until > begin) total += until - begin
    last = Math.max(last, until)
  }
  return total
}

/** The span that a moment lies in, null if none: the last that has begun by then and not ended. */
export function spanAt(spans: readonly Span[], time: number): Span | null {
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (spans[middle]!.from <= time) low = middle + 1
    else high = middle
  }
  const span = spans[low - 1]
  return span && span.until > time ? span : null
}

/** What a rank does at a moment; null before it starts and after it has ended. */
export function stateAt(lane: Lane, time: number): { state: number; what: string } | null {
  if (time < lane.start || time >= lane.end) return null
  const call = spanAt(lane.calls, time)
  if (!call) return { state: COMPUTING, what: '' }
  const wait = spanAt(lane.waits, time)
  return wait
    ? { state: WAITING, what: `${call.what}, for ${wait.what}` }
    : { state: SENDING, what: call.what }
}

/** At most `rows` lanes: those that wait longest, in their own order. */
export function longestWaiting(lanes: readonly Lane[], rows: number): readonly Lane[] {
  if (lanes.length <= rows) return lanes
  const chosen = new Set([...lanes].sort((a, b) => b.waiting - a.waiting).slice(0, rows))
  return lanes.filter((lane) => chosen.has(lane))
}

/** Shares of what some ranks do between two moments. */
export function sharesOf(lanes: readonly Lane[]): readonly [number, number, number] {
  const [all, calls, waits] = lanes.reduce(
    ([a, c, w], lane) => [a + lane.end - lane.start, c + lane.inCalls, w + lane.waiting],
    [0, 0, 0] as [number, number, number],
  )
  return all === 0 ? [0, 0, 0] : [(all - calls) / all, (calls - waits) / all, waits / all]
}
