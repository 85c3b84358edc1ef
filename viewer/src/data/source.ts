/** Where run directories come from: the server of `odonata view`, the page itself, or a notebook. */
import type { Unit } from '../base/format'
import type { Findings } from './findings'
import type { Why } from './why'
import { decodeBlock, decodeBlocks, type Block } from './block'

/** What several rows are together; keys and attributes are nothing for several rows. */
export type Merge = 'key' | 'attribute' | 'sum' | 'max' | 'mean' | 'last'

/** What the run directory declares of a column. */
export interface ColumnInfo {
  /** As it is sent. */
  readonly type: string
  readonly unit: Unit
  readonly merge: Merge
  /** The column that a mean is weighted by; every row alike without one. */
  readonly weight?: string
  readonly label: string
  /** A sentence or two. */
  readonly meaning?: string
  /** Whether it is shown where nobody asked for it. */
  readonly headline?: boolean
}

/** Columns by name; those that cannot be shown are left out by the sender. */
export type Columns = Readonly<Record<string, ColumnInfo>>

export interface TableInfo {
  readonly rows: number
  readonly columns: Columns
}

/** Whether the values of a column are something for several rows, too: only then is it offered as a measure. */
export const isMeasure = ({ merge }: Pick<ColumnInfo, 'merge'>): boolean =>
  merge !== 'key' && merge !== 'attribute'

export interface RunInfo {
  /** Short and unique among the runs that are open. */
  readonly label: string
  readonly summary: Summary
  readonly tables: Readonly<Record<string, TableInfo>>
  /** This run's values of the index's keys. */
  readonly keys: Readonly<Record<string, string | number>>
}

/** A setting or figure in which the runs of a sweep differ. */
export interface SweepKey {
  readonly name: string
  readonly unit: Unit
}

/** A run that was found and cannot be read. */
export interface BadRun {
  readonly label: string
  readonly reason: string
}

export interface Index {
  readonly protocol: number
  readonly version: string
  readonly keys: readonly SweepKey[]
  readonly runs: readonly RunInfo[]
  readonly bad?: readonly BadRun[]
  /** Of a study that was opened: what it says over all of its runs. */
  readonly findings?: Findings
}

export interface ClassSummary {
  readonly class: string
  readonly links: number
  readonly capacity_bytes_per_s?: number
  readonly bytes_mean: number
  readonly bytes_max: number
  readonly bytes_p50: number
  readonly bytes_p90: number
  readonly bytes_p99: number
  readonly nonzero: number
}

export interface Summary {
  readonly engine: string
  readonly routing: string
  readonly complete: boolean
  readonly seed: number | null
  readonly odonata_version: string
  readonly machine: {
    readonly name: string
    readonly shape: string
    readonly groups: number
    readonly routers: number
    readonly nodes: number
    readonly links: number
    readonly axes: readonly string[]
    readonly axis_sizes: readonly number[]
  }
  readonly convergence?: {
    readonly converged?: boolean
    readonly iterations?: number
    readonly residual?: number
  } | null
  readonly classes: readonly ClassSummary[]
  readonly jobs?: readonly { readonly job: number; readonly name: string }[]
  readonly warnings: readonly string[]
  /** True of measured data that covers only a part of the machine. */
  readonly partial_machine?: boolean
}

export interface Source {
  index(): Promise<Index>
  /** The tables that the first picture of a run is made from, by name. */
  first(run: number): Promise<ReadonlyMap<string, Block>>
  table(run: number, table: string, columns: readonly string[]): Promise<Block>
  /** What binds each job of a run. */
  why(run: number): Promise<Why>
}

export const PROTOCOL = 3

/** The tables without which nothing can be shown. */
export const NEEDED = ['routers', 'links', 'link_jobs', 'nodes', 'jobs'] as const

/** A message for the user, with what to do about it. */
export class SourceError extends Error {
  constructor(
    message: string,
    readonly hint?: string,
  ) {
    super(message)
  }
}

function checked(index: Index): Index {
  if (index.protocol !== PROTOCOL)
    throw new SourceError(
      `This page speaks protocol ${PROTOCOL}, its data protocol ${index.protocol}.`,
      'Reload the page; if that does not help, install Odonata again.',
    )
  return index
}

export class HttpSource implements Source {
  private readonly whys = new Map<number, Promise<Why>>()

  /** `known`: the text of the index where it stands in the page. */
  constructor(
    private readonly base: string,
    private readonly known?: string,
  ) {}

  async index(): Promise<Index> {
    if (this.known !== undefined) return checked(JSON.parse(this.known) as Index)
    return checked((await (await this.fetch('api/index.json')).json()) as Index)
  }

  /** The page asks for that of the only run before this script does; the browser hands over the same answer. */
  async first(run: number): Promise<ReadonlyMap<string, Block>> {
    return decodeBlocks(await (await this.fetch(`api/runs/${run}/first`)).arrayBuffer())
  }

  async table(run: number, table: string, columns: readonly string[]): Promise<Block> {
    const query = columns.map(encodeURIComponent).join(',')
    const response = await this.fetch(`api/runs/${run}/${encodeURIComponent(table)}?columns=${query}`)
    return decodeBlock(await response.arrayBuffer())
  }

  why(run: number): Promise<Why> {
    const known = this.whys.get(run)
    if (known) return known
    const asked = this.fetch(`api/runs/${run}/why.json`).then((response) => response.json() as Promise<Why>)
    this.whys.set(run, asked)
    return asked
  }

  private async fetch(path: string): Promise<Response> {
    let response: Response
    try {
      response = await fetch(new URL(path, this.base))
    } catch {
      throw new SourceError('The viewer’s server does not answer.', 'Start it again: odonata view RUN')
    }
    if (response.ok) return response
    const body: unknown = await response.json().catch(() => null)
    const error = (body ?? {}) as { error?: string; hint?: string }
    throw new SourceError(error.error ?? `The server answered ${response.status}.`, error.hint)
  }
}

/** Tables whole, as gzip and base64: a standalone page, or the state of a notebook's widget. */
export interface Embedded {
  readonly index: Index
  /** By `run/table`. */
  readonly blocks: Readonly<Record<string, string>>
  /** By run; a page that was made of files in the browser has none. */
  readonly why?: Readonly<Record<string, Why>>
}

export class EmbeddedSource implements Source {
  private readonly decoded = new Map<string, Promise<Block>>()

  constructor(private readonly data: Embedded) {}

  index(): Promise<Index> {
    return Promise.resolve(checked(this.data.index))
  }

  async first(run: number): Promise<ReadonlyMap<string, Block>> {
    return new Map(
      await Promise.all(NEEDED.map(async (name) => [name, await this.table(run, name)] as const)),
    )
  }

  table(run: number, table: string): Promise<Block> {
    const key = `${run}/${table}`
    const known = this.decoded.get(key)
    if (known) return known
    const text = this.data.blocks[key]
    if (text === undefined)
      return Promise.reject(new SourceError(`This page does not hold the table ${table}.`))
    const block = inflate(text).then(decodeBlock)
    this.decoded.set(key, block)
    return block
  }

  why(run: number): Promise<Why> {
    const known = this.data.why?.[run]
    return known
      ? Promise.resolve(known)
      : Promise.reject(
          new SourceError('What binds a job is said by odonata view RUN and odonata explain RUN.'),
        )
  }
}

async function inflate(base64: string): Promise<ArrayBuffer> {
  const binary = atob(base64)
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i)
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer()
}
