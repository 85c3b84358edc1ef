/** The user's settings. All of them are in the URL, so a reload or a shared link shows the same. */
import { SEQUENTIAL_DEFAULT } from '../base/ramps'
import { COST_AXES, type CostAxis } from './costs'

/** A hidden job is excluded from values and placement, a subtracted one only from values. */
export type JobMode = 'hidden' | 'subtracted'

/** A setting: its default, and its text in the address. */
interface Setting<T> {
  readonly standard: T
  write(value: T): string
  read(text: string): T
}

const text = (standard: string): Setting<string> => ({ standard, write: (v) => v, read: (t) => t })
const number = (standard: number): Setting<number> => ({ standard, write: String, read: finite })
const flag = (standard: boolean): Setting<boolean> => ({
  standard,
  write: (v) => (v ? '1' : '0'),
  read: (t) => t === '1',
})
const end: Setting<number | null> = { standard: null, write: String, read: finite }
const list: Setting<readonly string[]> = {
  standard: [],
  write: (v) => v.map(escape).join(','),
  read: (t) => (t === '' ? [] : t.split(',').map(unescape)),
}
const numberList: Setting<readonly number[]> = {
  standard: [],
  write: (v) => v.join(','),
  read: (t) => (t === '' ? [] : t.split(',').map(finite)),
}

/** A fixed number of numbers. */
const numbers = <T extends readonly number[] | null>(
  standard: T,
  length: number,
  write: (value: number) => string = String,
): Setting<T> => ({
  standard,
  write: (v) => v!.map(write).join(','),
  read: (t) => {
    const found = numberList.read(t)
    if (found.length !== length) throw new Error(`${found.length} numbers; expected ${length}`)
    return found as unknown as T
  },
})
const range = numbers<readonly [number, number] | null>(null, 2)

/** A setting that is one of a few words. */
interface Choice<T extends string> extends Setting<T> {
  readonly choices: readonly T[]
}

/** The first word is the default if none is given. */
function oneOf<T extends string>(choices: readonly T[], standard: T = choices[0]!): Choice<T> {
  return {
    standard,
    choices,
    write: (v) => v,
    read: (t) => {
      if (!choices.includes(t as T)) throw new Error(`unknown value ${t}; expected ${choices.join(', ')}`)
      return t as T
    },
  }
}

/** Hidden jobs as numbers and ranges `3..7`, subtracted ones with a sign. */
const jobModes: Setting<Readonly<Record<number, JobMode>>> = {
  standard: {},
  write: (v) => {
    const parts: { text: string; from: number; to: number }[] = []
    for (const [text, mode] of Object.entries(v)) {
      const job = Number(text)
      const last = parts.at(-1)
      if (mode === 'subtracted') parts.push({ text: `-${job}`, from: NaN, to: NaN })
      else if (last?.to === job - 1) last.to = job
      else parts.push({ text, from: job, to: job })
    }
    return parts
      .map(({ text, from, to }) => (to > from + 1 ? `${from}..${to}` : to > from ? `${from},${to}` : text))
      .join(',')
  },
  read: (t) => Object.fromEntries(t.split(',').flatMap(jobModesOf)),
}

/** Jobs of a range in the address: a longer one is a mistake. */
const JOBS_MAX = 1_000_000

function jobModesOf(part: string): [string, JobMode][] {
  const [from, to, ...rest] = part.split('..').map(finite) as [number, ...number[]]
  if (to === undefined) return [[String(Math.abs(from)), part.startsWith('-') ? 'subtracted' : 'hidden']]
  if (rest.length > 0 || !(from >= 0 && to >= from && to - from < JOBS_MAX))
    throw new Error(`invalid jobs ${part}; expected for instance 3..7`)
  return Array.from({ length: to - from + 1 }, (_, i) => [String(from + i), 'hidden'])
}

const jobColors: Setting<Readonly<Record<number, string>>> = {
  standard: {},
  write: (v) =>
    Object.entries(v)
      .map(([job, color]) => `${job}-${color.slice(1)}`)
      .join(','),
  read: (t) => Object.fromEntries(t.split(',').map(colorOf)),
}

/** All settings, in the order of the address. */
const SETTINGS = {
  /** A name of `VIEWS` (views/views.tsx). */
  view: text('overview'),
  /** Run shown by the single-run views. */
  run: number(0),
  /** Runs to compare, at most four; the first is the base. */
  compared: numberList,
  /** Two pictures that look alike answer nothing, so the difference comes first. */
  difference: flag(true),
  /** Other minus base, or other / base. */
  change: oneOf(['difference', 'ratio']),
  /** Unit of a comparison: single cables, or all cables between two routers. */
  pairing: oneOf(['cable', 'bundle']),
  measure: text('bytes'),
  /** Virtual channels, such as `vc0` or `dynamic`; empty for all. */
  channel: text(''),
  aggregate: oneOf(['max', 'mean', 'sum']),
  classesOff: list,
  jobs: jobModes,
  /** Job colours chosen by the user, as `#rrggbb`. */
  colors: jobColors,
  /** Ends of the value range; null is open. */
  low: end,
  high: end,
  /** Select the values outside of the range. */
  inverted: flag(false),
  /** Percent of non-zero links: selects the hottest instead of a range; 0 selects by range. */
  hottest: number(0),
  scale: oneOf(['linear', 'log', 'quantile']),
  ramp: text(SEQUENTIAL_DEFAULT),
  /** Colour range frozen by the user. */
  frozen: range,
  histogram: oneOf(['linear', 'log']),
  routers: oneOf(['job', 'value', 'rank']),
  /** Rank colouring: `0` (job 0) or `0.8x8x8.1` (coordinate 1 in a grid). */
  ranks: text('0'),
  theme: oneOf(['auto', 'light', 'dark']),
  /** Focus: `group:3`, `router:g3r0c1`, `link:…`, `job:0`; empty for none. */
  focus: text(''),
  /** Marked ranks: `0.1.3` (job, communicator, group) or `0.1`; empty for none. */
  communicator: text(''),
  /** Edits of the machine that are not run yet, as in `machine.edit`. */
  edits: list,
  /** Scale and offset of the main picture, in its coordinates. */
  zoom: numbers<readonly [number, number, number]>([1, 0, 0], 3, (v) => String(Number(v.toPrecision(5)))),
  /** Torus view; empty for all planes. */
  projection: text(''),
  /** Whether the settings of colours and values are open. */
  colours: flag(false),
  /** A name of `PANELS` (views/panels/panels.tsx). Old addresses name a panel of links. */
  panel: { ...text('matrices'), read: (t: string) => (t === 'links' ? 'matrices' : t) },
  /** SELECT over the tables of the run. */
  query: text(''),
  /** Column for lines over time, such as `series.latency_mean_ns`; empty for the defaults. */
  series: text(''),
  /** Column of the heat map and the machine, and the rows of the heat map; empty for the first. */
  heat: text(''),
  rows: text(''),
  /** Picoseconds; negative until chosen, which shows the worst interval. */
  time: number(-1),
  /** Visible part of the time axis; null for all. */
  span: range,
  sweepKey: text(''),
  sweepShow: oneOf(['ranking', 'map', 'lines', 'runs']),
  /** Nested keys of rows and columns; empty for the default, `-` for none. */
  sweepRows: list,
  sweepColumns: list,
  /** Words that the settings of a run must have. */
  sweepFilter: text(''),
  sweepFigure: text(''),
  sweepOrder: oneOf(['key', 'value']),
  /** Base of a cell: the first of its row or column. */
  sweepBase: oneOf(['row', 'column']),
  /** Panels, rows, columns and figure of a study; empty for the default, `-` for none. */
  studyPanels: text(''),
  studyRows: text(''),
  studyColumns: text(''),
  studyFigure: text(''),
  /** Communication matrices in the jobs view: of the chosen job, or of all jobs. */
  matrices: oneOf(['one', 'all']),
  /** Run whose jobs are shown next to this run's, paired by name; -1 for none. */
  otherRun: number(-1),
  /** Measure of the group matrix; empty for the congestion index. */
  groupMeasure: text(''),
  /** Axes of cost bars and of their parts. */
  costRows: oneOf<CostAxis>(COST_AXES, 'level'),
  costParts: oneOf<CostAxis>(COST_AXES, 'term'),
  /** Bar length: by time, or all equal. */
  costScale: oneOf(['time', 'share']),
}

export type ViewState = {
  readonly [Key in keyof typeof SETTINGS]: (typeof SETTINGS)[Key]['standard']
}

export type Aggregate = ViewState['aggregate']
export type Pairing = ViewState['pairing']
export type ScaleKind = ViewState['scale']

/** The settings that are one of a few words. */
export type ChoiceKey = {
  [Key in keyof typeof SETTINGS]: (typeof SETTINGS)[Key] extends { readonly choices: readonly string[] }
    ? Key
    : never
}[keyof typeof SETTINGS]

export const choicesOf = <Key extends ChoiceKey>(key: Key): readonly ViewState[Key][] =>
  SETTINGS[key].choices as readonly string[] as readonly ViewState[Key][]

export const DEFAULTS = Object.fromEntries(
  Object.entries(SETTINGS).map(([key, { standard }]) => [key, standard]),
) as unknown as ViewState & { readonly view: 'overview'; readonly panel: 'matrices' }

/** Maximum number of compared runs. */
export const COMPARED_MAX = 4

/** The chosen runs, or the current one and the next. */
export function comparedIds(state: ViewState, runs: number): number[] {
  const named = state.compared
    .filter((id, i) => id >= 0 && id < runs && state.compared.indexOf(id) === i)
    .slice(0, COMPARED_MAX)
  return named.length > 1 ? named : [state.run % runs, (state.run + 1) % runs]
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
    const write = SETTINGS[key].write as (value: unknown) => string
    const [text, standard] = [state[key], DEFAULTS[key]].map((value) => (value === null ? '' : write(value)))
    if (text !== standard && text !== undefined) params.set(key, text)
  }
  return params.toString()
}

/**
 * Reads the text of `writeUrl`. An invalid value is reported and keeps its default; `named` are the others.
 */
export function readUrl(text: string): { state: ViewState; problems: string[]; named: (keyof ViewState)[] } {
  const fields: Partial<Record<keyof ViewState, unknown>> = {}
  const problems: string[] = []
  for (const [key, value] of new URLSearchParams(text)) {
    const setting = (SETTINGS as Readonly<Record<string, Setting<unknown>>>)[key]
    if (!setting) {
      problems.push(`unknown setting ${key}`)
      continue
    }
    try {
      fields[key as keyof ViewState] = setting.read(value)
    } catch (error) {
      problems.push(`${key}: ${(error as Error).message}`)
    }
  }
  const state = { ...DEFAULTS, ...fields } as ViewState
  return { state, problems, named: Object.keys(fields) as (keyof ViewState)[] }
}
