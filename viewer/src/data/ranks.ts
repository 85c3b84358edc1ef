/** Where the ranks of a job are: the rank that each router has, or its coordinate in a grid of the job's ranks. */
import type { Block } from './block'
import type { Run } from './run'
import type { RunInfo } from './source'

/** Ranks of a job by which routers are coloured. */
export interface RankChoice {
  readonly job: number
  /** Sizes of a grid that the ranks number row by row, the last axis the quickest; empty for the ranks themselves. */
  readonly grid: readonly number[]
  /** Of the grid. */
  readonly axis: number
}

export const hasRanks = (info: RunInfo): boolean => (info.tables['placement']?.rows ?? 0) > 0

/** Reads `0`, a job, or `0.8x8x8.1`: job, grid and axis from 0 on. */
export function readRanks(text: string): RankChoice | null {
  const match = /^(\d+)(?:\.(\d+(?:x\d+)*)\.(\d+))?$/.exec(text)
  if (!match) return null
  const grid = match[2]?.split('x').map(Number) ?? []
  const [job, axis] = [Number(match[1]), Number(match[3] ?? 0)]
  if (match[2] !== undefined && (axis >= grid.length || grid.includes(0))) return null
  return { job, grid, axis }
}

export const writeRanks = ({ job, grid, axis }: RankChoice): string =>
  grid.length === 0 ? String(job) : `${job}.${grid.join('x')}.${axis}`

export const readGrid = (text: string): number[] =>
  text
    .trim()
    .split(/\s*[x×*, ]\s*/)
    .map(Number)

/** What is wrong with a grid of a job's ranks; empty if nothing is. */
export function gridProblem(text: string, ranks: number): string {
  const sizes = readGrid(text)
  if (!sizes.every((size) => Number.isInteger(size) && size > 0)) return 'Write sizes as in 8x8x8'
  const product = sizes.reduce((a, b) => a * b, 1)
  return product === ranks ? '' : `${sizes.join(' x ')} is ${product}, and the job has ${ranks} ranks`
}

export interface RankPlaces {
  readonly choice: RankChoice
  /** Of every router the least of its ranks; -1 without one. */
  readonly first: Int32Array
  readonly ranks: Uint32Array
  /** Of the least rank: itself, or its coordinate; -1 without a rank. */
  readonly values: Int32Array
  /** Values are 0 up to this one. */
  readonly most: number
}

export function rankPlaces(run: Run, placement: Block, choice: RankChoice): RankPlaces {
  const [jobs, rank, node] = ['job', 'rank', 'node'].map((name) => placement.numbers.get(name)!)
  const first = new Int32Array(run.routers.count).fill(-1)
  const ranks = new Uint32Array(run.routers.count)
  let last = 0
  for (let i = 0; i < placement.rows; i++) {
    if (jobs![i] !== choice.job) continue
    const r = run.nodes.router[node![i]!]!
    ranks[r]!++
    if (first[r] === -1 || rank![i]! < first[r]!) first[r] = rank![i]!
    last = Math.max(last, rank![i]!)
  }
  const { grid, axis } = choice
  const quicker = grid.slice(axis + 1).reduce((a, b) => a * b, 1)
  const value = (rank: number): number =>
    rank < 0 || grid.length === 0 ? rank : Math.floor(rank / quicker) % grid[axis]!
  return { choice, first, ranks, values: first.map(value), most: grid.length === 0 ? last : grid[axis]! - 1 }
}

/** By the routers, which a run shares with itself at any moment, and by the text of the choice. */
const known = new WeakMap<Run['routers'], Map<string, RankPlaces>>()

/** Keeps places for those who draw. */
export function keepPlaces(run: Run, places: RankPlaces): RankPlaces {
  const of = known.get(run.routers) ?? new Map<string, RankPlaces>()
  known.set(run.routers, of.set(writeRanks(places.choice), places))
  return places
}

/** Null where routers are not coloured by ranks, or until the ranks are known. */
export function placesOf(
  run: Run,
  { routers, ranks }: { routers: string; ranks: string },
): RankPlaces | null {
  return routers === 'rank' ? (known.get(run.routers)?.get(ranks) ?? null) : null
}

/** What the colours stand for. */
export function placesText(run: Run, { choice: { job, grid, axis } }: RankPlaces): string {
  const name = run.jobs.find((one) => one.job === job)?.name ?? `job ${job}`
  return grid.length === 0 ? `rank of ${name}` : `coordinate ${axis} of ${grid.join(' x ')}, ${name}`
}
