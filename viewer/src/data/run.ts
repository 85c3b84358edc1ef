/** A loaded run in flat columns; links in table order. Immutable. */
import type { Unit } from '../base/format'
import { jobColors, UNKNOWN_JOB } from '../base/palette'
import { f64, numbers, strings, textAt, u32, type Block, type Strings } from './block'
import { checkNumbers, readMeasures } from './measures'
import {
  type REQUIRED_TABLES,
  type ColumnInfo,
  type Columns,
  type Merge,
  type RunInfo,
  type Source,
  type Summary,
} from './source'

export type Shape = 'grouped' | 'torus' | 'fat-tree' | 'graph'

export interface Axis {
  readonly name: string
  readonly size: number
  /** One per router. */
  readonly values: Uint32Array
}

export interface Routers {
  readonly count: number
  readonly names: Strings
  readonly group: Uint32Array
  readonly axes: readonly Axis[]
  readonly up: Uint8Array
  readonly groups: number
}

export interface Links {
  readonly count: number
  readonly source: Uint32Array
  readonly target: Uint32Array
  /** Index into `classes`. */
  readonly class: Uint8Array
  readonly classes: readonly string[]
  readonly parallel: Uint16Array
  readonly capacity: Float64Array
}

/** Jobs per link: link l has entries `offsets[l]` to `offsets[l + 1]`. */
export interface LinkJobs {
  readonly offsets: Uint32Array
  readonly job: Uint16Array
}

export interface Job {
  readonly job: number
  readonly name: string
  readonly color: string
  readonly pattern: string
  readonly placement: string
  readonly ranks: number
  readonly nodes: number
  readonly routers: number
  /** All numbers of the job, in table order. */
  readonly figures: readonly Figure[]
}

/** A number of a job. */
export interface Figure extends Pick<ColumnInfo, 'label' | 'unit'> {
  readonly id: string
  readonly meaning: string
  readonly value: number
  readonly role?: string
}

export interface Nodes {
  readonly count: number
  readonly names: Strings
  readonly router: Uint32Array
  readonly slot: Uint32Array
  /** -1 idle, -2 several. */
  readonly job: Int32Array
  readonly ejectedBytes: Float64Array
  readonly injectedBytes: Float64Array
  /** Bytes per second and direction; 0 if unknown. */
  readonly capacity: Float64Array
  /** 1 for a storage node; null on a machine without. */
  readonly storage: Uint8Array | null
}

/** A figure that all links have. */
export interface Measure {
  readonly id: string
  readonly label: string
  readonly unit: Unit
  readonly merge: Merge
  readonly total: Float64Array
  /** In the order of `LinkJobs`; null if the engine does not attribute it to jobs. */
  readonly perJob: Float64Array | null
}

export interface Run {
  readonly id: number
  readonly label: string
  readonly info: RunInfo
  readonly summary: Summary
  readonly shape: Shape
  readonly routers: Routers
  readonly links: Links
  readonly linkJobs: LinkJobs
  readonly jobs: readonly Job[]
  readonly nodes: Nodes
  readonly measures: readonly Measure[]
  /** What is wrong with the measures, for the user. */
  readonly mistakes: readonly string[]
  /** The full run, if this one is restricted to some virtual channels. */
  readonly whole?: Run
}

export const IDLE = -1
export const SEVERAL = -2

const columnsOf = (info: RunInfo, table: string): Columns => info.tables[table]?.columns ?? {}

export async function loadRun(source: Source, id: number, info: RunInfo): Promise<Run> {
  const blocks = await source.first(id)
  const block = (name: (typeof REQUIRED_TABLES)[number]): Block => blocks.get(name)!
  return assembleRun(id, info, {
    routers: block('routers'),
    links: block('links'),
    linkJobs: block('link_jobs'),
    nodes: block('nodes'),
    jobs: block('jobs'),
  })
}

export interface RunBlocks {
  readonly routers: Block
  readonly links: Block
  readonly linkJobs: Block
  readonly nodes: Block
  readonly jobs: Block
}

export function assembleRun(id: number, info: RunInfo, blocks: RunBlocks): Run {
  checkNumbers(blocks)
  const axes = info.summary.machine.axes
  const routers = readRouters(blocks.routers, axes)
  const links = readLinks(blocks.links)
  const linkJobs = readLinkJobs(blocks.linkJobs, links.count)
  const { measures, mistakes } = readMeasures(blocks.links, blocks.linkJobs, links, columnsOf(info, 'links'))
  return {
    id,
    label: info.label,
    info,
    summary: info.summary,
    shape: readShape(info.summary, routers),
    routers,
    links,
    linkJobs,
    jobs: readJobs(blocks.jobs, columnsOf(info, 'jobs'), routersOfJobs(blocks)),
    nodes: readNodes(blocks.nodes),
    measures,
    mistakes,
  }
}

/** Axes within a group; `group` and `plane` select the group or network. */
export const axesInside = <T extends { readonly name: string }>(axes: readonly T[]): readonly T[] =>
  axes.filter(({ name }) => !['group', 'plane', 'group_in_plane'].includes(name))

function readShape(summary: Summary, routers: Routers): Shape {
  const shape = summary.machine.shape.toLowerCase().replaceAll('_', '-')
  if (shape === 'grouped' || shape === 'fat-tree') return shape
  if (shape === 'torus' || shape === 'mesh') return 'torus'
  return routers.groups > 1 ? 'grouped' : 'graph'
}

function readRouters(block: Block, axes: readonly string[]): Routers {
  const group = u32(block, 'group')
  return {
    count: block.rows,
    names: strings(block, 'name'),
    group,
    groups: block.rows === 0 ? 0 : largest(group) + 1,
    axes: axes.map((name) => {
      // On a canonical dragonfly, the column `router` is the id, and the axis of that name counts within the
      // group.
      const values = name === 'router' ? withinGroup(group) : u32(block, name)
      return { name, values, size: values.length === 0 ? 0 : largest(values) + 1 }
    }),
    // Copied: transferring a view to the drawing thread would send the whole received buffer.
    up: new Uint8Array(block.numbers.get('up') ?? new Uint8Array(block.rows).fill(1)),
  }
}

function withinGroup(group: Uint32Array): Uint32Array {
  const next = new Uint32Array(largest(group) + 1)
  return group.map((g) => next[g]!++)
}

function readLinks(block: Block): Links {
  const classes = block.coded.get('class')
  if (!classes) throw new Error('the table links has no column class')
  return {
    count: block.rows,
    source: u32(block, 'source'),
    target: u32(block, 'target'),
    class: classes.codes instanceof Uint8Array ? classes.codes : new Uint8Array(classes.codes),
    classes: classes.names,
    parallel: new Uint16Array(numbers(block, 'parallel')),
    capacity: f64(numbers(block, 'capacity_bytes_per_s')),
  }
}

/** Rows are sorted by link; converts `link` to offsets. */
function readLinkJobs(block: Block, links: number): LinkJobs {
  const link = u32(block, 'link')
  const offsets = new Uint32Array(links + 1)
  for (let i = 0; i < link.length; i++) {
    if (i > 0 && link[i]! < link[i - 1]!) throw new Error('the table link_jobs is not sorted by link')
    offsets[link[i]! + 1]!++
  }
  for (let l = 0; l < links; l++) offsets[l + 1]! += offsets[l]!
  return { offsets, job: new Uint16Array(numbers(block, 'job')) }
}

function readNodes(block: Block): Nodes {
  return {
    count: block.rows,
    names: strings(block, 'name'),
    router: u32(block, 'router'),
    slot: u32(block, 'slot'),
    job: numbers(block, 'job') as Int32Array,
    ejectedBytes: f64(numbers(block, 'ejected_bytes')),
    injectedBytes: f64(numbers(block, 'injected_bytes')),
    capacity: f64(block.numbers.get('capacity_bytes_per_s') ?? new Float64Array(block.rows)),
    storage: block.numbers.has('storage') ? Uint8Array.from(numbers(block, 'storage')) : null,
  }
}

/**
 * Routers by job, in all planes; the table `jobs` counts the first plane. A job that shares its
 * nodes has no entry.
 */
function routersOfJobs({ jobs, nodes, routers }: RunBlocks): Map<number, number> {
  const [of, at] = [numbers(nodes, 'job'), numbers(nodes, 'router')]
  const found = new Map<number, number>()
  if (of.includes(SEVERAL)) return found
  for (const job of numbers(jobs, 'job')) found.set(job, 0)
  const pairs = new Set<number>()
  of.forEach((job: number, n: number) => job >= 0 && pairs.add(job * routers.rows + at[n]!))
  for (const pair of pairs) {
    const job = Math.floor(pair / routers.rows)
    found.set(job, (found.get(job) ?? 0) + 1)
  }
  return found
}

function readJobs(block: Block, columns: Columns, onRouters: ReadonlyMap<number, number>): Job[] {
  const number = (name: string, row: number): number => block.numbers.get(name)?.[row] ?? 0
  const time = Object.keys(columns).find((id) => columns[id]!.role === 'job-time') ?? 'nodes'
  const colors = jobColors(
    Array.from({ length: block.rows }, (_, row) => textAt(block, 'color', row) || UNKNOWN_JOB),
    Array.from({ length: block.rows }, (_, row) => number(time, row) || 0),
  )
  return Array.from({ length: block.rows }, (_, row) => ({
    job: number('job', row),
    name: textAt(block, 'name', row),
    color: colors[row]!,
    pattern: textAt(block, 'pattern', row),
    placement: textAt(block, 'placement', row),
    ranks: number('ranks', row),
    nodes: number('nodes', row),
    routers: onRouters.get(number('job', row)) ?? number('routers', row),
    figures: Object.entries(columns).flatMap(([id, { merge, label, unit, meaning = '', role }]) => {
      const value = id === 'routers' ? onRouters.get(number('job', row)) : block.numbers.get(id)?.[row]
      // A job without a value lacks the figure.
      if (merge === 'key' || value === undefined || !Number.isFinite(value)) return []
      return [{ id, label, unit, meaning, value, ...(role && { role }) }]
    }),
  }))
}

/** Length of arrays by job number. */
export const jobNumbers = ({ jobs }: Pick<Run, 'jobs'>): number =>
  jobs.reduce((n, { job }) => Math.max(n, job + 1), 0)

/** The entry of a job in another run or table, where jobs have the same names but other numbers. */
export const jobNamed = <J extends { readonly name: string }>(
  { jobs }: { readonly jobs: readonly J[] },
  wanted: string,
): J | null => jobs.find(({ name }) => name === wanted) ?? null

/** By jobs (shared by all views of a run). */
const byNumber = new WeakMap<readonly Job[], Map<number, Job>>()

/** A run may have 10,000 jobs, and a picture asks for the job of each mark. */
export function jobAt({ jobs }: Pick<Run, 'jobs'>, number: number): Job | undefined {
  let known = byNumber.get(jobs)
  if (!known) byNumber.set(jobs, (known = new Map(jobs.map((job) => [job.job, job]))))
  return known.get(number)
}

export const jobName = (run: Run, number: number): string => jobAt(run, number)?.name ?? `job ${number}`

/** The link's name. Unlike its number, it is stable when other cables are added or removed. */
export function linkName(run: Run, link: number): string {
  const { source, target, class: code, classes, parallel } = run.links
  const names = run.routers.names
  return `${names.at(source[link]!)}>${names.at(target[link]!)}:${classes[code[link]!]}.${parallel[link]}`
}

export function largest(values: ArrayLike<number>): number {
  let max = -Infinity
  for (let i = 0; i < values.length; i++) if (values[i]! > max) max = values[i]!
  return max
}
