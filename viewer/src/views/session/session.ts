/** State shared by all views: settings, hover, loaded runs and geometry. */
import { createContext } from 'preact'
import { useContext, useEffect, useRef, useState } from 'preact/hooks'
import { Store } from '../../base/store'
import type { Theme } from '../../base/ramps'
import type { Marks } from '../../data/aggregate'
import type { Block } from '../../data/block'
import {
  CHANNELS,
  channelColumns,
  channelsOf,
  commonChannels,
  inChannels,
  type Channel,
} from '../../data/channels'
import { checkState, type Checks } from '../../data/check'
import type { Tip } from '../../data/describe'
import { toggleFocus } from '../../data/focus'
import type { Rows } from '../../data/rows'
import { DifferenceModel, RunModel } from '../../data/model'
import { loadRun, type Run } from '../../data/run'
import type { Index, Source } from '../../data/source'
import { firstPage } from '../../data/firstpage'
import { comparedIds, DEFAULTS, readUrl, type Pairing } from '../../data/state'
import type { Settings } from './settings'
import { machinePicture } from '../../layout/machine'
import { groupMatrix, interior, type Interior } from '../../layout/matrices'
import type { Picture } from '../../layout/picture'

export interface Hover {
  /** The run that the numbers refer to. */
  readonly run: Run
  readonly links: readonly number[]
  readonly routers: readonly number[]
  readonly groups: readonly number[]
  /** Null if something is only highlighted, as by a table row. */
  readonly tip: Tip | null
  readonly x: number
  readonly y: number
  /** Set by the keyboard: the tooltip is announced to screen readers. */
  readonly byKey?: boolean
}

/** Data, an error message, or their request. */
type Answer<T> = T | string | Promise<void>

export class Session {
  readonly state: Store<Settings>
  readonly hover = new Store<Hover | null>(null)
  /** The open table dialog. */
  readonly table = new Store<Rows | null>(null)
  /** Whether a range is being dragged; slow updates on large machines wait for its end. */
  readonly dragging = new Store(false)
  /** Whether the first picture is visible. */
  readonly pictureVisible = new Store(false)
  /** Full time span of the time view. */
  fullSpan: readonly [number, number] = [0, 1]
  /** Incremented when data has arrived. */
  readonly loaded = new Store(0)
  readonly failures = new Store<readonly string[]>([])
  /** The run that the server is making, or why it made none. */
  readonly rerun = new Store<AbortController | string | null>(null)
  /** Rejected settings from the URL. */
  readonly refused = new Store<readonly string[]>([])
  private readonly models = new Map<number, RunModel | Promise<void>>()
  private readonly blocks = new Map<string, Answer<Block>>()
  private readonly blocksByRun = new Map<string, Answer<ReadonlyMap<number, Block>>>()
  private readonly differences = new Map<string, DifferenceModel>()
  /** By run and virtual channels. */
  private readonly parts = new Map<string, RunModel>()
  /** With the job colours chosen last. */
  private readonly painted = new WeakMap<RunModel, { text: string; model: RunModel }>()

  constructor(
    readonly source: Source,
    public index: Index,
    /** Checks of the names of views and panels. */
    private readonly ofNames: Checks = {},
    /** Whether the page may change its URL; a notebook widget may not. */
    readonly ownsUrl = true,
    /** Root element of the viewer. */
    readonly root: Element | null = null,
  ) {
    this.state = new Store<Settings>(DEFAULTS)
  }

  /**
   * Applies the settings of a URL; invalid ones keep their default and are reported. A URL without a valid
   * setting shows the first page.
   */
  readAddress(text: string): void {
    const read = readUrl(text)
    const { state, problems } = checkState(read.state, this.index, this.ofNames)
    this.refused.set([...read.problems, ...problems])
    const isNamed = read.named.some((key) => state[key] === read.state[key])
    // `ofNames` has checked the names.
    this.state.set((isNamed ? state : { ...state, ...firstPage(this.index) }) as Settings)
  }

  /** Runs the experiment of a run with the chosen edits of its machine, and compares. */
  async runEdited(base: number): Promise<void> {
    const { edits } = this.state.get()
    const controller = new AbortController()
    this.rerun.set(controller)
    try {
      const { run, index } = await this.source.rerun!(base, edits, controller.signal)
      this.index = index
      this.rerun.set(null)
      this.loaded.set(this.loaded.get() + 1)
      const shown = {
        view: 'compare',
        compared: [base, run],
        difference: true,
        change: 'difference',
      } as const
      this.state.patch({ ...shown, edits: [], focus: '' })
    } catch (error) {
      const { message, hint } = error as { message: string; hint?: string }
      const reason = hint === undefined ? message : `${message}. ${hint}`
      this.rerun.set(controller.signal.aborted ? null : reason)
    }
  }

  /** The runs that the page shows: those compared, or the current one. */
  shownRuns(): readonly number[] {
    const state = this.state.get()
    return state.view === 'compare' ? comparedIds(state, this.index.runs.length) : [state.run]
  }

  /** Virtual channels available in all visible runs. */
  channels(): Channel[] {
    return commonChannels(this.index, this.shownRuns())
  }

  /** The model of a run under the current settings, or undefined while loading. */
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

  /** Restricted to the chosen virtual channels. */
  private inChannel(id: number): RunModel | undefined {
    const model = this.whole(id)
    const wanted = this.state.get().channel
    if (!model || wanted === '' || !this.channels().some((one) => one.id === wanted)) return model
    // A run that is not visible may have no VC table.
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

  /** The model with all virtual channels. */
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

  /** Columns of a table, an error message, or undefined while loading. */
  block(run: number, table: string, columns: readonly string[]): Block | string | undefined {
    return this.load(this.blocks, `${run}/${table}/${columns.join()}`, () =>
      this.source.table(run, table, columns),
    )
  }

  /** The same of all runs that have the columns, in one request. */
  blocksOfAll(table: string, columns: readonly string[]): ReadonlyMap<number, Block> | string | undefined {
    return this.load(this.blocksByRun, `${table}/${columns.join()}`, () => this.source.tables(table, columns))
  }

  /** What is known by this key; otherwise it is requested, and the page shows it when it arrives. */
  private load<T>(
    known: Map<string, Answer<T>>,
    key: string,
    request: () => Promise<T>,
  ): T | string | undefined {
    const found = known.get(key)
    if (found instanceof Promise) return undefined
    if (found !== undefined) return found
    const arrived = (what: T | string): void => {
      known.set(key, what)
      this.loaded.set(this.loaded.get() + 1)
    }
    const loading = request().then(arrived, (error: unknown) =>
      arrived(error instanceof Error ? error.message : String(error)),
    )
    known.set(key, loading)
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

/** Above this many links, a drag shows only the essentials and updates the rest at its end. */
export const LARGE = 200_000

export const SessionContext = createContext<Session>(null as unknown as Session)

export const useSession = (): Session => useContext(SessionContext)

/** Sets the focus like a click; the same focus again clears it. */
export function useFocusOn(): (focus: string) => void {
  const { state } = useSession()
  return (focus) => state.patch({ focus: toggleFocus(state.get().focus, focus) })
}

export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState(store.get())
  useEffect(() => {
    setValue(store.get())
    return store.subscribe(setValue)
  }, [store])
  return value
}

/** The runs that the page shows, for panels: several in a comparison. */
export function useShownRuns(): readonly number[] {
  useSettings()
  return useSession().shownRuns()
}

/** Settings for views that do not depend on the range: constant during a drag, which avoids re-rendering. */
export function useSettings(): Settings {
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

/** A subtree that does not depend on the range: not re-rendered during a drag. */
export function useFrozenDuringDrag<T>(dragging: boolean, make: () => T): T {
  const last = useRef<{ made: T }>(undefined)
  if (!dragging || !last.current) last.current = { made: make() }
  return last.current.made
}

export const ThemeContext = createContext<Theme>('light')

/** Geometry that depends only on the machine, computed once per run. */
class Geometry {
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

/** By links (shared by all views of a run). */
const geometries = new WeakMap<Run['links'], Geometry>()

export function geometryOf(run: Run): Geometry {
  let geometry = geometries.get(run.links)
  if (!geometry) geometries.set(run.links, (geometry = new Geometry(run)))
  return geometry
}

/** The table, or a message if it is not there. */
export function useTable(
  run: Run,
  table: string,
  columns: readonly string[],
  missing = `This run has no ${table} table.`,
): Block | string {
  const session = useSession()
  const there = columns.every((column) => run.info.tables[table]?.columns[column] !== undefined)
  return there && run.info.tables[table]!.rows > 0
    ? (session.block(run.id, table, columns) ?? 'Loading …')
    : missing
}
