/** Data sources: the server of `odonata view`, a standalone page, or a notebook. */
import type { Unit } from '../base/format'
import type { Findings } from './findings'
import type { Explanation, MachineChange } from './explanation'
import type { Headline } from './headline'
import type { QueryAnswer } from './queries'
import type { Ranking } from './ranking'
import { decodeBlock, decodeBlocks, type Block } from './block'

/** How several rows are merged; keys and attributes are not. */
export type Merge = 'key' | 'attribute' | 'sum' | 'max' | 'mean' | 'last'

/** Column declaration from the run directory. */
export interface ColumnInfo {
  /** Type on the wire. */
  readonly type: string
  readonly unit: Unit
  readonly merge: Merge
  /** Weight column of a mean; unweighted without one. */
  readonly weight?: string
  readonly label: string
  /** One or two sentences. */
  readonly meaning?: string
  /** Whether it is shown by default. */
  readonly headline?: boolean
  /** Role of the column, such as `job-time`. */
  readonly role?: string
}

/** By name; columns that cannot be shown are not sent. */
export type Columns = Readonly<Record<string, ColumnInfo>>

interface TableInfo {
  readonly rows: number
  readonly columns: Columns
}

/** Whether the column can be aggregated; only then is it a measure. */
export const isMeasure = ({ merge }: Pick<ColumnInfo, 'merge'>): boolean =>
  merge !== 'key' && merge !== 'attribute'

export interface RunInfo {
  /** Short and unique among the open runs. */
  readonly label: string
  readonly summary: Summary
  readonly tables: Readonly<Record<string, TableInfo>>
  /** Values of the index's keys. */
  readonly keys: Readonly<Record<string, string | number>>
  /** Whether the page asked for this run; it is no point of the opened sweep. */
  readonly added?: boolean
}

/** A setting or figure in which the runs of a sweep differ. */
export interface SweepKey {
  readonly name: string
  readonly unit: Unit
  /** Whether it is a seed of random choices, over which means are taken. */
  readonly seed?: boolean
}

/** A run directory that cannot be read. */
interface BadRun {
  readonly label: string
  readonly reason: string
}

export interface Index {
  readonly protocol: number
  readonly version: string
  readonly keys: readonly SweepKey[]
  readonly runs: readonly RunInfo[]
  readonly bad?: readonly BadRun[]
  /** Results of the opened study. */
  readonly findings?: Findings
  /** Settings of the opened sweep, best first. */
  readonly ranking?: Ranking
  /** Whether the server makes runs that the page asks for. */
  readonly allows_runs?: boolean
  /** Whether the server answers queries. */
  readonly answers_queries?: boolean
}

/** A run that the server made, and the index with it. */
interface Rerun {
  readonly run: number
  readonly index: Index
}

/** Statistics of a link class, computed by the engine; other numbers are figures of sweeps. */
interface ClassSummary {
  readonly class: string
  readonly bytes_mean: number
  readonly bytes_max: number
}

/** What the viewer reads of a run's summary. */
export interface Summary {
  readonly engine: string
  readonly routing: string
  readonly complete: boolean
  /** How the run ended; runs of earlier versions have no word. */
  readonly ending?: string
  readonly seed: number | null
  readonly machine: {
    readonly name: string
    readonly shape: string
    readonly groups: number
    readonly routers: number
    readonly nodes: number
    readonly links: number
    readonly axes: readonly string[]
  }
  readonly convergence?: {
    readonly converged?: boolean
    readonly iterations?: number
  } | null
  readonly classes: readonly ClassSummary[]
  readonly jobs?: readonly { readonly job: number; readonly name: string }[]
  readonly warnings: readonly string[]
  /** Of the packet engine. */
  readonly packet?: { readonly virtual_channels?: number; readonly virtual_channel_kinds?: unknown }
  /** Values of the keys, for a point of a sweep. */
  readonly sweep?: Readonly<Record<string, unknown>>
}

/** Whether a run has traffic on its links: engines may only compute times. Counters do not summarize it. */
export const hasTraffic = ({ summary: { classes, engine } }: RunInfo): boolean =>
  engine !== 'model' && (classes[0] === undefined || classes[0].bytes_max > 0)

/** Runs whose label or machine has this in its name. */
export const runsNamed = ({ runs }: Index, text: string): number[] => {
  const wanted = text.trim().toLowerCase()
  const fits = ({ label, summary }: RunInfo): boolean =>
    [label, summary.machine.name].some((name) => name.toLowerCase().includes(wanted))
  return wanted === '' ? [] : [...runs.keys()].filter((id) => fits(runs[id]!))
}

export interface Source {
  index(): Promise<Index>
  /** Tables of the first picture, by name. */
  first(run: number): Promise<ReadonlyMap<string, Block>>
  table(run: number, table: string, columns: readonly string[]): Promise<Block>
  /** The same columns of a table of all runs that have them, by run. */
  tables(table: string, columns: readonly string[]): Promise<ReadonlyMap<number, Block>>
  /** The sentence about a run. */
  headline(run: number): Promise<Headline>
  /** Busiest links of each job. */
  explain(run: number): Promise<Explanation>
  /** Runs the experiment on changed machines; absent without a server. */
  whatIf?(run: number, job: string): Promise<readonly MachineChange[]>
  /** Runs the experiment of a run with edits of its machine; aborting ends the run. Absent without a server. */
  rerun?(run: number, edits: readonly string[], signal: AbortSignal): Promise<Rerun>
  /** The answer to a SELECT over the tables of a run; aborting ends it. Absent without a server. */
  query?(run: number, sql: string, signal: AbortSignal): Promise<QueryAnswer>
}

const PROTOCOL = 5

/** Tables that every picture needs. */
export const REQUIRED_TABLES = ['routers', 'links', 'link_jobs', 'nodes', 'jobs'] as const

/** An error message for the user, with a hint. */
export class SourceError extends Error {
  constructor(
    message: string,
    readonly hint?: string,
  ) {
    super(message)
  }
}

/** The index as it is sent: a table has the number of the description of its columns. */
interface SentIndex extends Omit<Index, 'runs'> {
  readonly runs: readonly (Omit<RunInfo, 'tables'> & {
    readonly tables: Readonly<Record<string, { readonly rows: number; readonly columns: number }>>
  })[]
  /** Distinct descriptions: the runs of a sweep have the same. */
  readonly columns: readonly Columns[]
}

function readIndex(sent: SentIndex): Index {
  checkProtocol(sent)
  const { columns, runs, ...rest } = sent
  const tablesOf = (tables: SentIndex['runs'][number]['tables']): RunInfo['tables'] =>
    Object.fromEntries(
      Object.entries(tables).map(([name, table]) => [
        name,
        { rows: table.rows, columns: columns[table.columns] ?? {} },
      ]),
    )
  return { ...rest, runs: runs.map((run) => ({ ...run, tables: tablesOf(run.tables) })) }
}

function checkProtocol(index: Pick<Index, 'protocol'>): void {
  if (index.protocol !== PROTOCOL)
    throw new SourceError(
      `The page uses protocol ${PROTOCOL}, the data protocol ${index.protocol}.`,
      'Reload the page. If the error remains, reinstall Odonata.',
    )
}

export class HttpSource implements Source {
  private readonly answers = new Map<string, Promise<unknown>>()

  /** `known`: the index if the page contains it. */
  constructor(
    private readonly base: string,
    private readonly known?: string,
  ) {}

  async index(): Promise<Index> {
    if (this.known !== undefined) return readIndex(JSON.parse(this.known) as SentIndex)
    return readIndex((await (await this.fetch('api/index.json')).json()) as SentIndex)
  }

  /** A single-run page preloads this address; the browser reuses the answer. */
  async first(run: number): Promise<ReadonlyMap<string, Block>> {
    return decodeBlocks(await (await this.fetch(`api/runs/${run}/first`)).arrayBuffer())
  }

  async table(run: number, table: string, columns: readonly string[]): Promise<Block> {
    const query = columns.map(encodeURIComponent).join(',')
    const response = await this.fetch(`api/runs/${run}/${encodeURIComponent(table)}?columns=${query}`)
    return decodeBlock(await response.arrayBuffer())
  }

  async tables(table: string, columns: readonly string[]): Promise<ReadonlyMap<number, Block>> {
    const query = columns.map(encodeURIComponent).join(',')
    const response = await this.fetch(`api/runs/all/${encodeURIComponent(table)}?columns=${query}`)
    const blocks = decodeBlocks(await response.arrayBuffer())
    return new Map(Array.from(blocks, ([run, block]) => [Number(run), block]))
  }

  headline(run: number): Promise<Headline> {
    return this.answer<Headline>(`api/runs/${run}/headline.json`)
  }

  explain(run: number): Promise<Explanation> {
    return this.answer<Explanation>(`api/runs/${run}/explain.json`)
  }

  private answer<T>(path: string): Promise<T> {
    let known = this.answers.get(path)
    if (!known) {
      known = this.fetch(path).then((response) => response.json())
      this.answers.set(path, known)
    }
    return known as Promise<T>
  }

  async whatIf(run: number, job: string): Promise<readonly MachineChange[]> {
    const response = await this.fetch(`api/runs/${run}/what-if.json?job=${encodeURIComponent(job)}`)
    return ((await response.json()) as { changes: readonly MachineChange[] }).changes
  }

  async rerun(run: number, edits: readonly string[], signal: AbortSignal): Promise<Rerun> {
    const made = await this.post<{ run: number; index: SentIndex }>(
      `api/runs/${run}/edited`,
      { edits },
      signal,
    )
    return { run: made.run, index: readIndex(made.index) }
  }

  query(run: number, sql: string, signal: AbortSignal): Promise<QueryAnswer> {
    return this.post<QueryAnswer>(`api/runs/${run}/query`, { sql }, signal)
  }

  private async post<T>(path: string, what: unknown, signal: AbortSignal): Promise<T> {
    const headers = { 'Content-Type': 'application/json' }
    const response = await this.fetch(path, { method: 'POST', headers, body: JSON.stringify(what), signal })
    return (await response.json()) as T
  }

  private async fetch(path: string, how?: RequestInit): Promise<Response> {
    let response: Response
    try {
      response = await fetch(new URL(path, this.base), how)
    } catch {
      throw new SourceError('The viewer’s server does not respond.', 'Restart it: odonata view RUN')
    }
    if (response.ok) return response
    const body: unknown = await response.json().catch(() => null)
    const error = (body ?? {}) as { error?: string; hint?: string }
    throw new SourceError(error.error ?? `The server returned status ${response.status}.`, error.hint)
  }
}

/** Whole tables as gzip in base64: a standalone page, or the state of a notebook widget. */
export interface EmbeddedData {
  readonly index: SentIndex
  /** By `run/table`. */
  readonly blocks: Readonly<Record<string, string>>
  /** By run; absent in pages that were assembled in the browser. */
  readonly explanations?: Readonly<Record<string, Explanation>>
  readonly headlines?: Readonly<Record<string, Headline>>
}

export class EmbeddedSource implements Source {
  private readonly decoded = new Map<string, Promise<Block>>()

  constructor(private readonly data: EmbeddedData) {}

  index(): Promise<Index> {
    return Promise.resolve(readIndex(this.data.index))
  }

  async first(run: number): Promise<ReadonlyMap<string, Block>> {
    return new Map(
      await Promise.all(REQUIRED_TABLES.map(async (name) => [name, await this.table(run, name)] as const)),
    )
  }

  table(run: number, table: string): Promise<Block> {
    const key = `${run}/${table}`
    const known = this.decoded.get(key)
    if (known) return known
    const text = this.data.blocks[key]
    if (text === undefined)
      return Promise.reject(new SourceError(`This page does not contain the table ${table}.`))
    const block = inflate(text).then(decodeBlock)
    this.decoded.set(key, block)
    return block
  }

  async tables(table: string): Promise<ReadonlyMap<number, Block>> {
    const runs = [...this.data.index.runs.keys()].filter((run) => this.data.blocks[`${run}/${table}`])
    return new Map(await Promise.all(runs.map(async (run) => [run, await this.table(run, table)] as const)))
  }

  headline(run: number): Promise<Headline> {
    const known = this.data.headlines?.[run]
    return known ? Promise.resolve(known) : Promise.reject(new SourceError('This page has no summary.'))
  }

  explain(run: number): Promise<Explanation> {
    const known = this.data.explanations?.[run]
    return known
      ? Promise.resolve(known)
      : Promise.reject(
          new SourceError('This page has no bottlenecks. Use odonata view RUN or odonata explain RUN.'),
        )
  }
}

async function inflate(base64: string): Promise<ArrayBuffer> {
  const binary = atob(base64)
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i)
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer()
}
