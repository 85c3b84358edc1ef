/** Ranks of a job on routers: the lowest rank of each router, or its coordinate in a rank grid. */
import type { Block } from './block'
import { jobName, type Run } from './run'
import type { RunInfo } from './source'
import { choicesOf, type ViewState } from './state'

/** The job and grid that routers are coloured by. */
interface RankChoice {
  readonly job: number
  /** Row-major grid of the ranks, last axis fastest; empty for plain ranks. */
  readonly grid: readonly number[]
  /** Axis of the grid. */
  readonly axis: number
}

export const hasRanks = (info: RunInfo): boolean => (info.tables['placement']?.rows ?? 0) > 0

/** What routers can be coloured by. */
export const routerColors = (info: RunInfo | undefined): ViewState['routers'][] =>
  choicesOf('routers').filter((word) => word !== 'rank' || (info !== undefined && hasRanks(info)))

/** Parses `0` (a job) or `0.8x8x8.1` (job, grid, axis from 0). */
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

/** Why a grid does not fit the ranks; empty if it fits. */
export function gridProblem(text: string, ranks: number): string {
  const sizes = readGrid(text)
  if (!sizes.every((size) => Number.isInteger(size) && size > 0)) return 'expected sizes such as 8x8x8'
  const product = sizes.reduce((a, b) => a * b, 1)
  return product === ranks ? '' : `${sizes.join(' x ')} = ${product}, but the job has ${ranks} ranks`
}

export interface RankPlaces {
  readonly choice: RankChoice
  /** Lowest rank of each router; -1 if none. */
  readonly first: Int32Array
  readonly ranks: Uint32Array
  /** That rank or its coordinate; -1 if none. */
  readonly values: Int32Array
  /** Values are 0 to this. */
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

/** By routers (shared by all views of a run) and choice text. */
const known = new WeakMap<Run['routers'], Map<string, RankPlaces>>()

/** Stores the places for drawing. */
export function keepPlaces(run: Run, places: RankPlaces): RankPlaces {
  const of = known.get(run.routers) ?? new Map<string, RankPlaces>()
  known.set(run.routers, of.set(writeRanks(places.choice), places))
  return places
}

/** Null if routers are not coloured by rank, or until ranks are loaded. */
export function placesOf(
  run: Run,
  { routers, ranks }: { routers: string; ranks: string },
): RankPlaces | null {
  return routers === 'rank' ? (known.get(run.routers)?.get(ranks) ?? null) : null
}

/** What the colours mean. */
export function placesText(run: Run, { choice: { job, grid, axis } }: RankPlaces): string {
  const name = jobName(run, job)
  return grid.length === 0 ? `rank of ${name}` : `coordinate ${axis} of ${grid.join(' x ')}, ${name}`
}
