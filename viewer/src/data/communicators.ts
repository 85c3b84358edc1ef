/**
 * Communicators, inferred from messages: ranks that exchange messages in a communicator form a group of it.
 */
import type { Block } from './block'
import type { Run } from './run'

export const MESSAGES = 'messages'
export const MESSAGE_COLUMNS = ['job', 'source', 'destination', 'communicator', 'bytes'] as const

/** Ranks with one communicator number. It often has several groups, such as the rows of a grid. */
export interface Communicator {
  readonly number: number
  /** Ranks ascending; groups ordered by their lowest rank. */
  readonly groups: readonly (readonly number[])[]
  readonly messages: number
  readonly bytes: number
}

/** The marked ranks: one group of a communicator, or all groups. */
export interface Choice {
  readonly job: number
  readonly communicator: number
  /** -1 for all. */
  readonly group: number
}

/** Parses `0.1` or `0.1.3`: job, communicator, group. */
export function readChoice(text: string): Choice | null {
  const match = /^(\d+)\.(\d+)(?:\.(\d+))?$/.exec(text)
  if (!match) return null
  const [job, communicator] = [Number(match[1]), Number(match[2])]
  return { job, communicator, group: match[3] === undefined ? -1 : Number(match[3]) }
}

export const writeChoice = ({ job, communicator, group }: Choice): string =>
  `${job}.${communicator}${group < 0 ? '' : `.${group}`}`

/** Cached by message table and job: scanning hundreds of thousands of rows per choice is too slow. */
const known = new WeakMap<Block, Map<number, readonly Communicator[]>>()

export function communicatorsOf(messages: Block, job: number): readonly Communicator[] {
  const of = known.get(messages) ?? new Map<number, readonly Communicator[]>()
  known.set(messages, of)
  const found = of.get(job) ?? findCommunicators(messages, job)
  of.set(job, found)
  return found
}

function findCommunicators(messages: Block, job: number): Communicator[] {
  const column = (name: (typeof MESSAGE_COLUMNS)[number]) => messages.numbers.get(name)!
  const [jobs, sources, destinations] = [column('job'), column('source'), column('destination')]
  const [numbers, bytes] = [column('communicator'), column('bytes')]
  const found = new Map<number, { parent: Map<number, number>; messages: number; bytes: number }>()
  for (let i = 0; i < messages.rows; i++) {
    if (jobs[i] !== job) continue
    const number = numbers[i]!
    let one = found.get(number)
    if (!one) found.set(number, (one = { parent: new Map(), messages: 0, bytes: 0 }))
    one.messages++
    one.bytes += bytes[i]!
    join(one.parent, sources[i]!, destinations[i]!)
  }
  return [...found]
    .sort(([a], [b]) => a - b)
    .map(([number, { parent, ...sums }]) => ({ number, groups: groupsOf(parent), ...sums }))
}

function root(parent: Map<number, number>, rank: number): number {
  let at = rank
  for (let up = parent.get(at); up !== undefined && up !== at; up = parent.get(at)) {
    // Path halving keeps the trees flat.
    parent.set(at, parent.get(up) ?? up)
    at = up
  }
  if (!parent.has(at)) parent.set(at, at)
  return at
}

/** The lowest rank of a group is its root. */
function join(parent: Map<number, number>, a: number, b: number): void {
  const [x, y] = [root(parent, a), root(parent, b)]
  if (x !== y) parent.set(Math.max(x, y), Math.min(x, y))
}

function groupsOf(parent: Map<number, number>): number[][] {
  const groups = new Map<number, number[]>()
  for (const rank of [...parent.keys()].sort((a, b) => a - b)) {
    const first = root(parent, rank)
    const members = groups.get(first)
    if (members) members.push(rank)
    else groups.set(first, [rank])
  }
  return [...groups.values()]
}

/** 1 for each router with one of these ranks. */
export function routersWith(run: Run, placement: Block, job: number, ranks: ReadonlySet<number>): Uint8Array {
  const [jobs, rank, node] = ['job', 'rank', 'node'].map((name) => placement.numbers.get(name)!)
  const routers = new Uint8Array(run.routers.count)
  for (let i = 0; i < placement.rows; i++)
    if (jobs![i] === job && ranks.has(rank![i]!)) routers[run.nodes.router[node![i]!]!] = 1
  return routers
}

/** The chosen ranks; empty if the messages contain none. */
export function ranksOf(communicators: readonly Communicator[], choice: Choice): ReadonlySet<number> {
  const groups = communicators.find(({ number }) => number === choice.communicator)?.groups ?? []
  return new Set(choice.group < 0 ? groups.flat() : (groups[choice.group] ?? []))
}

/** By routers (shared by all views of a run) and choice text. */
const marked = new WeakMap<Run['routers'], Map<string, Uint8Array>>()

/** Stores the marked routers for drawing. */
export function markRouters(run: Run, choice: string, routers: Uint8Array): Uint8Array {
  marked.set(run.routers, (marked.get(run.routers) ?? new Map<string, Uint8Array>()).set(choice, routers))
  return routers
}

/** 1 for each marked router; null without a choice or until it is loaded. */
export const markedRouters = (run: Run, choice: string): Uint8Array | null =>
  marked.get(run.routers)?.get(choice) ?? null
