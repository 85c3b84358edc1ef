/** The user's settings. All of them are in the URL, so a reload or a shared link shows the same. */
import { SEQUENTIAL_DEFAULT } from '../base/ramps'
import { COST_AXES, type CostAxis } from './costs'

export type Aggregate = 'max' | 'mean' | 'sum'
/** Unit of a comparison: single cables, or all cables between two routers. */
export type Pairing = 'cable' | 'bundle'
export type ScaleKind = 'linear' | 'log' | 'quantile'
/** A hidden job is excluded from values and placement, a subtracted one only from values. */
export type JobMode = 'hidden' | 'subtracted'

export interface ViewState {
  /** A name of `VIEWS` (views/views.tsx). */
  readonly view: string
  /** Run shown by the single-run views. */
  readonly run: number
  /** Runs to compare, at most four; the first is the base. */
  readonly compared: readonly number[]
  readonly difference: boolean
  /** Other minus base, or other / base. */
  readonly change: 'difference' | 'ratio'
  readonly pairing: Pairing
  readonly measure: string
  /** Virtual channels, such as `vc0` or `dynamic`; empty for all. */
  readonly channel: string
  readonly aggregate: Aggregate
  readonly classesOff: readonly string[]
  readonly jobs: Readonly<Record<number, JobMode>>
  /** Job colours chosen by the user, as `#rrggbb`. */
  readonly colors: Readonly<Record<number, string>>
  /** Ends of the value range; null is open. */
  readonly low: number | null
  readonly high: number | null
  /** Select the values outside of the range. */
  readonly inverted: boolean
  /** Percent of non-zero links: selects the hottest instead of a range; 0 selects by range. */
  readonly hottest: number
  readonly scale: ScaleKind
  readonly ramp: string
  /** Colour range frozen by the user. */
  readonly frozen: readonly [number, number] | null
  readonly histogram: 'linear' | 'log'
  readonly routers: 'job' | 'value' | 'rank'
  /** Rank colouring: `0` (job 0) or `0.8x8x8.1` (coordinate 1 in a grid). */
  readonly ranks: string
  readonly theme: 'auto' | 'light' | 'dark'
  /** Focus: `group:3`, `router:g3r0c1`, `link:…`, `job:0`; empty for none. */
  readonly focus: string
  /** Marked ranks: `0.1.3` (job, communicator, group) or `0.1`; empty for none. */
  readonly communicator: string
  /** Scale and offset of the main picture, in its coordinates. */
  readonly zoom: readonly [number, number, number]
  /** Torus view; empty for all planes. */
  readonly projection: string
  /** A name of `PANELS` (views/panels/panels.tsx). */
  readonly panel: string
  /** Column for lines over time, such as `series.latency_mean_ns`; empty for the defaults. */
  readonly series: string
  /** Column of the heat map and the machine, and the rows of the heat map; empty for the first. */
  readonly heat: string
  readonly rows: string
  /** Picoseconds. */
  readonly time: number
  /** Visible part of the time axis; null for all. */
  readonly span: readonly [number, number] | null
  readonly sweepKey: string
  readonly sweepShow: 'map' | 'lines' | 'runs'
  /** Keys of rows and columns; empty for the default, `-` for none. */
  readonly sweepRows: string
  readonly sweepColumns: string
  readonly sweepFigure: string
  readonly sweepOrder: 'key' | 'value'
  /** Base of a cell: the first of its row or column. */
  readonly sweepBase: 'row' | 'column'
  /** Panels, rows, columns and figure of a study; empty for the default, `-` for none. */
  readonly studyPanels: string
  readonly studyRows: string
  readonly studyColumns: string
  readonly studyFigure: string
  /** Communication matrices in the jobs view: of the chosen job, or of all jobs. */
  readonly matrices: 'one' | 'all'
  /** Run whose jobs are shown next to this run's, paired by name; -1 for none. */
  readonly otherRun: number
  /** Measure of the group matrix; empty for the congestion index. */
  readonly groupMeasure: string
  /** Axes of cost bars and of their parts. */
  readonly costRows: CostAxis
  readonly costParts: CostAxis
  /** Bar length: by time, or all equal. */
  readonly costScale: 'time' | 'share'
}

export const DEFAULTS: ViewState & { readonly view: 'overview'; readonly panel: 'matrices' } = {
  view: 'overview',
  run: 0,
  compared: [],
  difference: false,
  change: 'difference',
  pairing: 'cable',
  measure: 'bytes',
  channel: '',
  aggregate: 'max',
  classesOff: [],
  jobs: {},
  colors: {},
  low: null,
  high: null,
  inverted: false,
  hottest: 0,
  scale: 'linear',
  ramp: SEQUENTIAL_DEFAULT,
  frozen: null,
  histogram: 'linear',
  routers: 'job',
  ranks: '0',
  theme: 'auto',
  focus: '',
  communicator: '',
  zoom: [1, 0, 0],
  projection: '',
  panel: 'matrices',
  series: '',
  heat: '',
  rows: '',
  time: 0,
  span: null,
  sweepKey: '',
  sweepShow: 'map',
  sweepRows: '',
  sweepColumns: '',
  sweepFigure: '',
  sweepOrder: 'key',
  sweepBase: 'row',
  studyPanels: '',
  studyRows: '',
  studyColumns: '',
  studyFigure: '',
  matrices: 'one',
  otherRun: -1,
  groupMeasure: '',
  costRows: 'level',
  costParts: 'term',
  costScale: 'time',
}

/** Maximum number of compared runs. */
export const COMPARED_MAX = 4

/** The chosen runs, or the current one and the next. */
export function comparedIds(state: ViewState, runs: number): number[] {
  const named = state.compared
    .filter((id, i) => id >= 0 && id < runs && state.compared.indexOf(id) === i)
    .slice(0, COMPARED_MAX)
  return named.length > 1 ? named : [state.run % runs, (state.run + 1) % runs]
}

type Codec = { write(value: never): string; read(text: string): unknown }

const words: Codec = { write: (v: string) => v, read: (t) => t }
const number: Codec = { write: (v: number | null) => (v === null ? '' : String(v)), read: (t) => finite(t) }
const list: Codec = {
  write: (v: readonly string[]) => v.map(escape).join(','),
  read: (t) => (t === '' ? [] : t.split(',').map(unescape)),
}
const numberList: Codec = {
  write: (v: readonly number[]) => v.join(','),
  read: (t) => (t === '' ? [] : t.split(',').map(finite)),
}

const CODECS: Record<keyof ViewState, Codec> = {
  view: words,
  run: number,
  compared: numberList,
  difference: { write: (v: boolean) => (v ? '1' : ''), read: (t) => t === '1' },
  change: oneOf('difference', 'ratio'),
  pairing: oneOf('cable', 'bundle'),
  measure: words,
  channel: words,
  aggregate: oneOf('max', 'mean', 'sum'),
  classesOff: list,
  jobs: {
    write: (v: Readonly<Record<number, JobMode>>) =>
      Object.entries(v)
        .map(([job, mode]) => (mode === 'hidden' ? job : `-${job}`))
        .join(','),
    read: (t) =>
      Object.fromEntries(
        t
          .split(',')
          .map((part) => [String(Math.abs(finite(part))), part.startsWith('-') ? 'subtracted' : 'hidden']),
      ),
  },
  colors: {
    write: (v: Readonly<Record<number, string>>) =>
      Object.entries(v)
        .map(([job, color]) => `${job}-${color.slice(1)}`)
        .join(','),
    read: (t) => Object.fromEntries(t.split(',').map(colorOf)),
  },
  low: number,
  high: number,
  inverted: { write: (v: boolean) => (v ? '1' : ''), read: (t) => t === '1' },
  hottest: number,
  scale: oneOf('linear', 'log', 'quantile'),
  ramp: words,
  frozen: numberList,
  histogram: oneOf('linear', 'log'),
  routers: oneOf('job', 'value', 'rank'),
  ranks: words,
  theme: oneOf('auto', 'light', 'dark'),
  focus: words,
  communicator: words,
  zoom: {
    write: (v: readonly number[]) => v.map((x) => Number(x.toPrecision(5))).join(','),
    read: (t) => t.split(',').map(finite),
  },
  projection: words,
  // Old addresses name a panel of links.
  panel: { write: (v: string) => v, read: (t) => (t === 'links' ? DEFAULTS.panel : t) },
  series: words,
  heat: words,
  rows: words,
  time: number,
  span: numberList,
  sweepKey: words,
  sweepShow: oneOf('map', 'lines', 'runs'),
  sweepRows: words,
  sweepColumns: words,
  sweepFigure: words,
  sweepOrder: oneOf('key', 'value'),
  sweepBase: oneOf('row', 'column'),
  studyPanels: words,
  studyRows: words,
  studyColumns: words,
  studyFigure: words,
  matrices: oneOf('one', 'all'),
  otherRun: number,
  groupMeasure: words,
  costRows: oneOf(...COST_AXES),
  costParts: oneOf(...COST_AXES),
  costScale: oneOf('time', 'share'),
}

function oneOf(...allowed: string[]): Codec {
  return {
    write: (v: string) => v,
    read: (t) => {
      if (!allowed.includes(t)) throw new Error(`unknown value ${t}; expected ${allowed.join(', ')}`)
      return t
    },
  }
}

/** Parses `3-0a66c2`: job and colour. */
function colorOf(text: string): [string, string] {
  const match = /^(\d+)-([0-9a-f]{6})$/i.exec(text)
  if (!match) throw new Error(`invalid value ${text}; expected a job and a colour, such as 0-0a66c2`)
  return [String(Number(match[1])), `#${match[2]!.toLowerCase()}`]
}

function finite(text: string): number {
  const value = Number(text)
  if (text === '' || !Number.isFinite(value)) throw new Error(`invalid number ${text}`)
  return value
}

const escape = (text: string): string => text.replaceAll('%', '%25').replaceAll(',', '%2C')
const unescape = (text: string): string => text.replaceAll('%2C', ',').replaceAll('%25', '%')

/** Writes settings that differ from the defaults, in a fixed order. */
export function writeUrl(state: ViewState): string {
  const params = new URLSearchParams()
  for (const key of Object.keys(DEFAULTS) as (keyof ViewState)[]) {
    const write = CODECS[key].write as (value: unknown) => string
    const [text, standard] = [state[key], DEFAULTS[key]].map((value) => (value === null ? '' : write(value)))
    if (text !== standard && text !== undefined) params.set(key, text)
  }
  return params.toString()
}

/** Reads the text of `writeUrl`. An invalid value is reported and keeps its default. */
export function readUrl(text: string): { state: ViewState; problems: string[] } {
  const fields: Record<string, unknown> = {}
  const problems: string[] = []
  for (const [key, value] of new URLSearchParams(text)) {
    const codec = CODECS[key as keyof ViewState] as Codec | undefined
    if (!codec) {
      problems.push(`unknown setting ${key}`)
      continue
    }
    try {
      fields[key] = codec.read(value)
    } catch (error) {
      problems.push(`${key}: ${(error as Error).message}`)
    }
  }
  for (const [key, length] of [
    ['zoom', 3],
    ['frozen', 2],
    ['span', 2],
  ] as const) {
    const value = fields[key]
    if (Array.isArray(value) && value.length !== length) {
      problems.push(`${key}: ${value.length} numbers; expected ${length}`)
      delete fields[key]
    }
  }
  return { state: { ...DEFAULTS, ...fields }, problems }
}
