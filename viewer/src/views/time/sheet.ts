/** Export of the time view: charts, heat map and machine. */
import type { SheetPart } from '../../draw/sheet'
import type { Theme } from '../../base/ramps'
import { quantity } from '../../base/format'
import { csvOf } from '../../data/csv'
import { jobOf } from '../../data/describe'
import type { DerivedRun } from '../../data/model'
import { hasLanes, type Lane } from '../../data/lanes'
import { groupings, indexAt, nameOfKey, strongest, type Grouping, type Lines } from '../../data/series'
import type { Run } from '../../data/run'
import type { Aggregate, ViewState } from '../../data/state'
import { clampSpan, type TimeSpan } from '../../data/timespan'
import { looksFor, type LookTable } from '../../draw/look'
import { drawHeat, drawLanes, drawLines, heatScale, STATE_COLORS, STATE_NAMES } from '../../draw/timechart'
import { heatPicture, lanesPicture, linesPicture } from '../../layout/timechart'
import { machinePart, endsText, scalePart, titled } from '../export/parts'
import { machineOf, sheetOf, type ExportRequest, type ExportSheet } from '../export/sheets'
import type { Session } from '../session/session'
import { lanesIn, shownLanes } from './lanes'
import {
  blockOf,
  chosenHeat,
  chosenLines,
  chosenRows,
  mergeText,
  linesOf,
  shownLines,
  type SeriesColumn,
} from './moment'

const WIDTH = 860
const LINES = 172
/** Above and below the rows of a chart. */
const MARGINS = 40
const ROWS_MAX = 200
const LEGEND_MAX = 8
const MACHINE = 560

interface Part {
  readonly column: SeriesColumn
  readonly by: Grouping
  readonly lines: Lines
  readonly label: string
  name(subject: number): string
}

export function timeExport({ session, derived: { run }, moment, state, theme }: ExportRequest): ExportSheet {
  const looks = looksFor(theme, state.ramp, false)
  const heatColumn = chosenHeat(run.info, state)
  const charts = chosenLines(run.info, state).flatMap((column) =>
    partOf(session, run, column, groupings(column.table)[0]!, state),
  )
  const heats = heatColumn
    ? partOf(session, run, heatColumn, chosenRows(heatColumn, state), state, state.aggregate)
    : []
  const [heat] = heats
  const span = clampSpan(state.span, session.fullSpan)
  const lanes = hasLanes(run.info) ? lanesIn(session, run) : undefined
  const shown = typeof lanes === 'object' ? shownLanes(lanes, state.jobs, ROWS_MAX).shown : []
  const name = `${run.label} over time`
  return sheetOf({
    name,
    facts: `${quantity(span[0], 'ps')} to ${quantity(span[1], 'ps')}`,
    columns: [
      [
        ...charts.map((part) => linesPart(run, part, span, looks)),
        ...(shown.length > 0 ? [lanesPart(run, shown, span, looks)] : []),
        ...(heat ? [heatPart(heat, span, state, looks)] : []),
      ],
      moment ? momentParts(moment, heat?.lines.times, state, theme) : [],
    ],
    looks,
    csv: () => csvOf(['series', 'of', 'start_ps', 'value'], [...charts, ...heats].flatMap(rowsOf)),
  })
}

/** The machine at the chosen time. */
function momentParts(
  moment: DerivedRun,
  times: Float64Array | undefined,
  state: ViewState,
  theme: Theme,
): SheetPart[] {
  const at = times ? times[indexAt(times, state.time)]! : state.time
  const machine = machineOf(moment, state, theme)
  const title = `${moment.measure.label} from ${quantity(at, 'ps')}`
  return [machinePart(machine, MACHINE, title), scalePart(moment, machine.looks)]
}

function partOf(
  session: Session,
  run: Run,
  column: SeriesColumn,
  by: Grouping,
  state: ViewState,
  aggregate: Aggregate | null = null,
): Part[] {
  const all = linesOf(session, run, column, by, aggregate)
  const block = blockOf(session, run, column)
  if (typeof all === 'string' || block === undefined || typeof block === 'string') return []
  const lines = shownLines(all, by, state.jobs)
  const label = column.value.label + (aggregate ? mergeText(run, block, by, aggregate) : '')
  return [{ column, by, lines, label, name: (subject) => nameOfKey(run, block, by, subject) }]
}

function linesPart(run: Run, { column, by, lines, name }: Part, span: TimeSpan, looks: LookTable): SheetPart {
  const { label, unit } = column.value
  const colorOf = (subject: number): string | null => (by === 'job' ? jobOf(run, subject).color : null)
  const picture = linesPicture(lines, unit, span, { width: WIDTH, height: LINES })
  const named = lines.lines.slice(0, LEGEND_MAX).map(({ subject }) => subject)
  const legend = { names: named.map(name), colors: named.map((s) => colorOf(s) ?? looks.palette.accent) }
  const draw: SheetPart['draw'] = (pen) => drawLines(pen, picture, colorOf, looks)
  return titled(label, { ...picture, draw }, looks, 13, legend)
}

function lanesPart(run: Run, lanes: readonly Lane[], span: TimeSpan, looks: LookTable): SheetPart {
  const size = { width: WIDTH, height: MARGINS + Math.max(120, 3 * lanes.length) }
  const picture = lanesPicture(lanes, (job) => jobOf(run, job).name, span, size)
  const legend = { names: STATE_NAMES, colors: STATE_COLORS[looks.theme] }
  const draw: SheetPart['draw'] = (pen) => drawLanes(pen, picture, looks)
  return titled('Rank activity over time', { ...picture, draw }, looks, 13, legend)
}

function heatPart(
  { column, lines: all, label, name }: Part,
  span: TimeSpan,
  state: ViewState,
  looks: LookTable,
): SheetPart {
  const lines = strongest(all, ROWS_MAX)
  const scale = heatScale(lines, state.scale)
  const size = { width: WIDTH, height: MARGINS + Math.max(120, Math.min(600, 3 * all.lines.length)) }
  const picture = heatPicture(lines, name, span, size)
  const { unit } = column.value
  const title = `${label}, ${endsText(scale, unit)}, ${lines.lines.length} of ${all.lines.length} rows`
  const draw: SheetPart['draw'] = (pen) => drawHeat(pen, picture, scale, looks)
  return titled(title, { ...picture, draw }, looks)
}

/** Only the rows that are drawn. */
function rowsOf({ column, lines, name, by }: Part): (string | number)[][] {
  const shown = by === 'job' ? lines : strongest(lines, 2 * ROWS_MAX)
  return shown.lines.flatMap(({ subject, values }) =>
    Array.from(values, (value, i) => [column.id, name(subject), shown.times[i]!, value]).filter(
      ([, , , value]) => !Number.isNaN(value),
    ),
  )
}
