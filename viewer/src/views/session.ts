/** What all views share: the settings, what is hovered, the runs that are loaded, and their geometry. */
import { createContext } from 'preact'
import { useContext, useEffect, useRef, useState } from 'preact/hooks'
import { Store } from '../base/store'
import type { Theme } from '../base/ramps'
import type { Marks } from '../data/aggregate'
import type { Block } from '../data/block'
import {
  CHANNELS,
  channelColumns,
  channelsOf,
  commonChannels,
  inChannels,
  type Channel,
} from '../data/channels'
import { checkState } from '../data/check'
import type { Tip } from '../data/describe'
import type { Rows } from '../data/rows'
import { DifferenceModel, RunModel, type AnyModel } from '../data/model'
import { loadRun, type Run } from '../data/run'
import type { Index, Source } from '../data/source'
import { comparedIds, DEFAULTS, readUrl, type Pairing, type ViewState } from '../data/state'
import { machinePicture } from '../layout/machine'
import { groupMatrix, interior, type Interior } from '../layout/matrices'
import type { Picture } from '../layout/picture'

export interface Hover {
  /** The run that the numbers belong to. */
  readonly run: Run
  readonly links: readonly number[]
  readonly routers: readonly number[]
  readonly groups: readonly number[]
  /** Null where something is only marked, as by a table's row. */
  readonly tip: Tip | null
  readonly x: number
  readonly y: number
  /** Reached by keys: what it says is told to those who do not see it. */
  readonly byKey?: boolean
}

export class Session {
  readonly state: Store<ViewState>
  readonly hover = new Store<Hover | null>(null)
  /** A picture as a table, over everything. */
  readonly table = new Store<Rows | null>(null)
  /** Whether the range is being dragged: what is slow on a large machine then waits until it is let go. */
  readonly dragging = new Store(false)
  /** Whether the first picture is seen. */
  readonly pictureSeen = new Store(false)
  /** All of the time that the time view can show. */
  fullSpan: readonly [number, number] = [0, 1]
  /** Grows when a run has arrived. */
  readonly loaded = new Store(0)
  readonly failures = new Store<readonly string[]>([])
  /** Settings of the address that were refused, in words. */
  readonly refused = new Store<readonly string[]>([])
  private readonly models = new Map<number, RunModel | Promise<void>>()
  private readonly blocks = new Map<string, Block | string | Promise<void>>()
  private readonly differences = new Map<string, DifferenceModel>()
  /** By run and virtual channels. */
  private readonly parts = new Map<string, RunModel>()
  /** With the jobs' colours that were chosen last. */
  private readonly painted = new WeakMap<RunModel, { text: string; model: RunModel }>()

  constructor(
    readonly source: Source,
    readonly index: Index,
    state: ViewState = DEFAULTS,
    /** Where the page may write its address; a notebook's widget may not. */
    readonly ownsUrl = true,
    /** The element that the viewer lives in. */
    readonly root: Element | null = null,
  ) {
    this.state = new Store(state)
  }

  /** Takes the settings of an address; those that make no sense are left at their defaults, and said. */
  readAddress(text: string): void {
    const read = readUrl(text)
    const { state, problems } = checkState(read.state, this.index)
    this.refused.set([...read.problems, ...problems])
    this.state.set(state)
  }

  /** The runs that are seen side by side, or the one. */
  private seen(): readonly number[] {
    const state = this.state.get()
    return state.view === 'compare' ? comparedIds(state, this.index.runs.length) : [state.run]
  }

  /** The virtual channels that can be looked at in all runs that are seen. */
  channels(): Channel[] {
    return commonChannels(this.index, this.seen())
  }

  /** The model of a run as it is looked at, or undefined while it is being loaded. */
  model(id: number): RunModel | undefined {
    const model = this.inChannel(id)
    const { colors } = this.state.get()
    if (!model || model.run.jobs.every(({ job }) => colors[job] === undefined)) return model
    const text = JSON.stringify(colors)
    const known = this.painted.get(model)
    if (known?.text === text) return known.model
    const jobs = model.run.jobs.map((job) => ({ ...job, color: colors[job.job] ?? job.color }))
    const made = new RunModel({ ...model.run, jobs })
    this.painted.set(model, { text, model: made })
    return made
  }

  /** Of the virtual channels that are looked at. */
  private inChannel(id: number): RunModel | undefined {
    const model = this.whole(id)
    const wanted = this.state.get().channel
    if (!model || wanted === '' || !this.channels().some((one) => one.id === wanted)) return model
    // A run that is not among those that are seen may have none.
    const part = channelsOf(model.run.info).find((one) => one.id === wanted)
    if (!part) return model
    const key = `${id} ${wanted}`
    const known = this.parts.get(key)
    if (known) return known
    const block = this.block(id, CHANNELS, channelColumns(model.run.info))
    if (block === undefined) return undefined
    if (typeof block === 'string') {
      this.fail(`${model.run.label}: ${block}`)
      return model
    }
    const made = new RunModel(inChannels(model.run, block, part))
    this.parts.set(key, made)
    return made
  }

  private fail(text: string): void {
    if (!this.failures.get().includes(text)) this.failures.set([...this.failures.get(), text])
  }

  /** The model of a run with all its channels. */
  private whole(id: number): RunModel | undefined {
    const known = this.models.get(id)
    if (known instanceof RunModel) return known
    if (known === undefined && id >= 0 && id < this.index.runs.length) {
      const loading = loadRun(this.source, id, this.index.runs[id]!).then(
        (run) => {
          this.models.set(id, new RunModel(run))
          this.loaded.set(this.loaded.get() + 1)
        },
        (error: unknown) =>
          this.fail(
            `${this.index.runs[id]!.label}: ${error instanceof Error ? error.message : String(error)}`,
          ),
      )
      this.models.set(id, loading)
    }
    return undefined
  }

  /** Columns of a table, a message where they cannot be had, or undefined while they are being loaded. */
  block(run: number, table: string, columns: readonly string[]): Block | string | undefined {
    const key = `${run}/${table}/${columns.join()}`
    const known = this.blocks.get(key)
    if (known instanceof Promise) return undefined
    if (known !== undefined) return known
    const arrived = (what: Block | string): void => {
      this.blocks.set(key, what)
      this.loaded.set(this.loaded.get() + 1)
    }
    const loading = this.source
      .table(run, table, columns)
      .then(arrived, (error: unknown) => arrived(error instanceof Error ? error.message : String(error)))
    this.blocks.set(key, loading)
    return undefined
  }

  differenceOf(base: RunModel, other: RunModel, pairing: Pairing): DifferenceModel {
    const state = this.state.get()
    const of = `${base.run.whole ? state.channel : ''} ${JSON.stringify(state.colors)}`
    const key = `${base.run.id} ${other.run.id} ${pairing} ${of}`
    let model = this.differences.get(key)
    if (!model) this.differences.set(key, (model = new DifferenceModel(base, other, pairing)))
    return model
  }
}

/** Beyond this many links, a drag shows the essential at once and the rest when it ends. */
export const LARGE = 200_000

export const SessionContext = createContext<Session>(null as unknown as Session)

export const useSession = (): Session => useContext(SessionContext)

export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState(store.get())
  useEffect(() => {
    setValue(store.get())
    return store.subscribe(setValue)
  }, [store])
  return value
}

/** The settings for what shows nothing of the range: while that is dragged they stay, so that nothing is made anew for them. */
export function useSettings(): ViewState {
  const session = useSession()
  const [value, setValue] = useState(session.state.get())
  useEffect(() => {
    const update = (): void => {
      if (!session.dragging.get()) setValue(session.state.get())
    }
    update()
    const stops = [session.state.subscribe(update), session.dragging.subscribe(update)]
    return () => stops.forEach((stop) => stop())
  }, [session])
  return value
}

/** A part of the page that shows nothing of the range: while that is dragged it is what it was, and is not looked at. */
export function useHeld<T>(dragging: boolean, make: () => T): T {
  const last = useRef<{ made: T }>()
  if (!dragging || !last.current) last.current = { made: make() }
  return last.current.made
}

export const ThemeContext = createContext<Theme>('light')

/** What depends on the machine only, made once per run. */
export class Geometry {
  private readonly pictures = new Map<string, Picture>()
  private inside: Interior | undefined
  private groups: Marks | undefined

  constructor(private readonly run: Run) {}

  picture(projection: string): Picture {
    let picture = this.pictures.get(projection)
    if (!picture) {
      picture = machinePicture(this.run, projection)
      this.pictures.set(projection, picture)
    }
    return picture
  }

  get interior(): Interior {
    return (this.inside ??= interior(this.run))
  }

  get groupMarks(): Marks {
    return (this.groups ??= groupMatrix(this.run))
  }
}

/** By the links, which a run shares with itself at any moment. */
const geometries = new WeakMap<Run['links'], Geometry>()

export function geometryOf(run: Run): Geometry {
  let geometry = geometries.get(run.links)
  if (!geometry) geometries.set(run.links, (geometry = new Geometry(run)))
  return geometry
}

export type { AnyModel }

/** The table, a message where it cannot be had, or null where the run has none. */
export function useTable(run: Run, table: string, columns: readonly string[]): Block | string | null {
  const session = useSession()
  const there = columns.every((column) => run.info.tables[table]?.columns[column] !== undefined)
  return there && run.info.tables[table]!.rows > 0
    ? (session.block(run.id, table, columns) ?? 'Loading …')
    : null
}
