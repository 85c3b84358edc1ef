/**
 * Checks settings against the open runs: reports settings that do not fit and resets them to their defaults.
 */
import { count } from '../base/format'
import { RAMPS } from '../base/ramps'
import { channelColumns, channelsOf } from './channels'
import { readChoice } from './communicators'
import { groupMeasures } from './latency'
import { figureOptions, settingKeys } from './pivot'
import { parseProjection } from './projection'
import { hasRanks, readRanks } from './ranks'
import { GROUPINGS, seriesTables } from './series'
import { isMeasure, type Index, type RunInfo } from './source'
import { COMPARED_MAX, comparedIds, DEFAULTS, type ViewState } from './state'
import { hasCommunication } from './communication'

interface CheckedState {
  readonly state: ViewState
  readonly problems: readonly string[]
}

type Problem = string | null

/** Check per setting; a setting without an entry is always valid. */
export type Checks = Partial<
  Record<keyof ViewState, (state: ViewState, index: Index, run: RunInfo) => Problem>
>

const quote = (text: string): string => `“${text}”`

const oneOf = (what: string, value: string, known: readonly string[]): Problem =>
  value === '' || known.includes(value)
    ? null
    : `unknown ${what} ${quote(value)}; ${known.length === 0 ? 'this run has none' : `expected ${known.slice(0, 12).join(', ')}`}`

/** A setting to arrange by, or none. */
const arranging = (value: string, known: readonly string[]): Problem =>
  oneOf('setting', value, ['-', ...known])

const arrangingAll = (values: readonly string[], known: readonly string[]): Problem =>
  values.map((value) => arranging(value, known)).find((problem) => problem !== null) ?? null

const ids = (all: readonly { readonly id: string }[]): string[] => all.map(({ id }) => id)

const isIndex = (value: number, runs: number): boolean =>
  Number.isInteger(value) && value >= 0 && value < runs

function noSuchJob(byJob: Readonly<Record<number, unknown>>, { runs }: Index): string | null {
  const most = Math.max(...runs.map((run) => run.tables['jobs']?.rows ?? 0))
  const wrong = Object.keys(byJob).find((job) => !isIndex(Number(job), most))
  return wrong === undefined ? null : `unknown job ${wrong}; expected 0 to ${most - 1}`
}

const CHECKS: Checks = {
  run: ({ run }, { runs }) =>
    isIndex(run, runs.length) ? null : `unknown run ${run}; expected 0 to ${runs.length - 1}`,
  compared: ({ compared }, { runs }) => {
    const wrong = compared.find((id, i) => !isIndex(id, runs.length) || compared.indexOf(id) !== i)
    if (wrong !== undefined)
      return isIndex(wrong, runs.length)
        ? `run ${wrong} appears twice`
        : `unknown run ${wrong}; expected 0 to ${runs.length - 1}`
    return compared.length > COMPARED_MAX
      ? `${count(compared.length)} runs; expected at most ${COMPARED_MAX}`
      : null
  },
  measure: ({ measure, view }, _, run) =>
    view === 'time'
      ? null
      : oneOf('measure', measure, [...measuresOf(run), ...channelColumns(run), 'transfer_ps']),
  channel: ({ channel }, _, run) => oneOf('channel', channel, ids(channelsOf(run))),
  classesOff: ({ classesOff }, { runs }) => {
    const known = runs
      .flatMap((run) => run.summary.classes.map((c) => c.class))
      .filter((name) => name !== 'all')
    return classesOff.map((name) => oneOf('class', name, [...new Set(known)])).find((found) => found) ?? null
  },
  jobs: ({ jobs }, index) => noSuchJob(jobs, index),
  colors: ({ colors }, index) => noSuchJob(colors, index),
  low: ({ low, high }) =>
    low !== null && high !== null && low > high ? `the range from ${low} to ${high} is empty` : null,
  hottest: ({ hottest, low, high }) =>
    !(hottest >= 0 && hottest < 100)
      ? `${hottest} % is out of range; expected 0 to below 100`
      : hottest > 0 && (low !== null || high !== null)
        ? 'either the hottest links or a range can be selected, not both'
        : null,
  otherRun: ({ otherRun }, { runs }) =>
    !isIndex(otherRun, runs.length)
      ? `unknown run ${otherRun}; expected 0 to ${runs.length - 1}`
      : hasCommunication(runs[otherRun]!)
        ? null
        : `run ${otherRun} has no communication matrix`,
  groupMeasure: ({ groupMeasure }, _, run) =>
    oneOf('measure between groups', groupMeasure, ids(groupMeasures(run))),
  ramp: ({ ramp }) => oneOf('colour ramp', ramp, Object.keys(RAMPS)),
  frozen: ({ frozen }) =>
    frozen !== null && !(frozen[0] < frozen[1])
      ? `the colour range from ${frozen[0]} to ${frozen[1]} is empty`
      : null,
  zoom: ({ zoom: [k] }) => (k >= 1 && k <= 64 ? null : `${k} is out of range; expected 1 to 64`),
  projection: ({ projection }, _, { summary }) => {
    const known = summary.machine.axes
    return parseProjection(projection, known) !== null
      ? null
      : `unknown projection ${quote(projection)}; expected X,Y or cylinders:X or slices:X,Y or slices:X,Y,Z with axes of ${known.join(', ')}`
  },
  focus: ({ focus }) =>
    /^(group|pair|router|node|link|job|class|direction|links|routers):./.test(focus)
      ? null
      : `unknown focus ${quote(focus)}; expected for instance group:3`,
  communicator: ({ communicator }) =>
    readChoice(communicator)
      ? null
      : `invalid value ${quote(communicator)}; expected JOB.COMMUNICATOR.GROUP, for instance 0.1.3, or 0.1`,
  routers: ({ routers }, _, run) =>
    routers === 'rank' && !hasRanks(run) ? 'this run has no placement table' : null,
  ranks: ({ ranks }, index) => {
    const choice = readRanks(ranks)
    return choice
      ? noSuchJob({ [choice.job]: 0 }, index)
      : `invalid value ${quote(ranks)}; expected JOB or JOB.GRID.AXIS, for instance 0 or 0.8x8x8.1`
  },
  rows: ({ rows }) => oneOf('row', rows, GROUPINGS),
  span: ({ span }) =>
    span !== null && !(span[0] < span[1]) ? `the time span from ${span[0]} to ${span[1]} ps is empty` : null,
  time: ({ time }) => (time >= 0 || time === DEFAULTS.time ? null : `${time} ps is before the start`),
  series: ({ series }, _, run) => oneOf('series', series, seriesIds(run)),
  heat: ({ heat }, _, run) => oneOf('series', heat, seriesIds(run)),
  costParts: ({ costParts, costRows }) =>
    costParts === costRows ? `bars and parts are both by ${costRows}; expected two different axes` : null,
  sweepRows: ({ sweepRows }, index) => arrangingAll(sweepRows, settingKeys(index)),
  sweepColumns: ({ sweepColumns }, index) => arrangingAll(sweepColumns, settingKeys(index)),
  sweepFigure: ({ sweepFigure }, index) => oneOf('figure', sweepFigure, ids(figureOptions(index))),
  studyPanels: ({ studyPanels }, index) => arranging(studyPanels, names(index.findings?.keys)),
  studyRows: ({ studyRows }, index) => arranging(studyRows, names(index.findings?.keys)),
  studyColumns: ({ studyColumns }, index) => arranging(studyColumns, names(index.findings?.keys)),
  studyFigure: ({ studyFigure }, index) => oneOf('figure', studyFigure, names(index.findings?.figures)),
  sweepKey: ({ sweepKey }, { keys }) => oneOf('key of the sweep', sweepKey, names(keys)),
}

const names = (all: readonly { readonly name: string }[] = []): string[] => all.map(({ name }) => name)

function measuresOf(run: RunInfo): string[] {
  return Object.entries(run.tables['links']?.columns ?? {}).flatMap(([name, column]) =>
    isMeasure(column) ? [name] : [],
  )
}

const seriesIds = (run: RunInfo): string[] =>
  seriesTables(run).flatMap(({ name, values }) => values.map(({ column }) => `${name}.${column}`))

/** The run whose machine and tables apply; in a comparison, the base. */
function activeRun(state: ViewState, runs: number): number {
  if (state.view === 'compare' && runs > 1) return comparedIds(state, runs)[0]!
  return isIndex(state.run, runs) ? state.run : 0
}

/** The valid settings, and one sentence for each rejected one. `ofNames` checks names of views and panels. */
export function checkState(state: ViewState, index: Index, ofNames: Checks = {}): CheckedState {
  const checks = { ...CHECKS, ...ofNames }
  const problems: string[] = []
  let result = state
  for (const key of Object.keys(DEFAULTS) as (keyof ViewState)[]) {
    const run = index.runs[activeRun(result, index.runs.length)] ?? index.runs[0]
    if (result[key] === DEFAULTS[key]) continue
    const complaint = run && checks[key]?.(result, index, run)
    if (!complaint) continue
    problems.push(`${key}: ${complaint}`)
    result = { ...result, [key]: DEFAULTS[key] }
    // Both ends are reset together.
    if (key === 'low') result = { ...result, high: null }
  }
  return { state: result, problems }
}
