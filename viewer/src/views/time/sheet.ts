/** Export of the time view: charts, heat map and machine. */
import type { Theme } from '../../base/ramps'
import { quantity } from '../../base/format'
import { csvOf } from '../../data/csv'
import { jobOf } from '../../data/describe'
import { hasLanes, type Lane } from '../../data/lanes'
import { colorScale } from '../../data/scale'
import {
  groupings,
  indexAt,
  nameOfKey,
  stepOf,
  strongest,
  type Grouping,
  type Lines,
} from '../../data/series'
import type { Run } from '../../data/run'
import type { ViewState } from '../../data/state'
import { drawCells, drawChart, drawTimes, fillBox, plotArea, write, type Box } from '../../draw/blocks'
import { looksFor, type LookTable } from '../../draw/look'
import type { Pen } from '../../draw/pen'
import { drawLanes, drawStateLegend, STATE_NAMES } from '../../draw/lanes'
import { drawMachine, drawScale, machineHeight } from '../../draw/sheet'
import { clampSpan, type Span } from './chart'
import { drawHead, machineOf, MARGIN, TOP, type Exported, type ExportSheet } from '../export/sheets'
import { blockOf, chosenHeat, chosenLines, chosenRows, linesOf, type SeriesColumn } from './moment'
import { lanesIn, shownLanes } from './lanes'
import type { Session } from '../session/session'

const CHART = { width: 860, height: 190 }
const HEAT_ROWS = 200
const MACHINE = 560

interface Part {
  readonly column: SeriesColumn
  readonly by: Grouping
  readonly lines: Lines
  name(subject: number): string
}

export function timeExport({ session, derived: { run }, moment, state, theme }: Exported): ExportSheet {
  const looks = looksFor(theme, state.ramp, false)
  const heatColumn = chosenHeat(run.info, state)
  const charts = chosenLines(run.info, state).flatMap((column) =>
    partOf(session, run, column, groupings(column.table)[0]!, state),
  )
  const heats = heatColumn ? partOf(session, run, heatColumn, chosenRows(heatColumn, state), state) : []
  const [heat] = heats
  const span = clampSpan(state.span, session.fullSpan)
  const heatHeight = heat ? 60 + Math.max(120, Math.min(600, 3 * heat.lines.lines.length)) : 0
  const machine = moment ? machineOf(moment, state, theme) : null
  const lanes = hasLanes(run.info) ? lanesIn(session, run) : undefined
  const shown = typeof lanes === 'object' ? shownLanes(lanes, state.jobs, HEAT_ROWS).shown : []
  const laneHeight = shown.length > 0 ? 60 + Math.max(120, 3 * shown.length) : 0
  const left = charts.length * CHART.height + laneHeight + heatHeight
  const size = {
    width: 2 * MARGIN + CHART.width + (machine ? MARGIN + MACHINE : 0),
    height: TOP + Math.max(left, machine ? machineHeight(machine.picture, MACHINE) + 60 : 0) + MARGIN,
  }
  return {
    name: `${run.label} over time`,
    ...size,
    draw: (pen) => {
      drawHead(
        pen,
        size,
        `${run.label} over time`,
        `${quantity(span[0], 'ps')} to ${quantity(span[1], 'ps')}`,
        looks,
      )
      charts.forEach((part, i) =>
        drawChart(pen, { x: MARGIN, y: TOP + i * CHART.height, ...CHART }, chartOf(run, part, span), looks),
      )
      if (shown.length > 0) {
        const box = {
          x: MARGIN,
          y: TOP + charts.length * CHART.height,
          width: CHART.width,
          height: laneHeight,
        }
        drawRanks(pen, box, shown, span, theme, looks)
      }
      if (heat) {
        const y = TOP + charts.length * CHART.height + laneHeight
        const box = { x: MARGIN, y, width: CHART.width, height: heatHeight }
        drawHeat(pen, box, heat, span, state, looks)
      }
      if (!machine || !moment) return
      const box = { x: 2 * MARGIN + CHART.width, y: TOP, width: MACHINE }
      const times = heat?.lines.times
      const at = times ? times[indexAt(times, state.time)]! : state.time
      drawMachine(pen, box, machine, `${moment.measure.label} from ${quantity(at, 'ps')}`)
      drawScale(pen, box.x, TOP + machineHeight(machine.picture, MACHINE), moment, machine.looks)
    },
    csv: () => csvOf(['series', 'of', 'start_ps', 'value'], [...charts, ...heats].flatMap(rowsOf)),
  }
}

function drawRanks(
  pen: Pen,
  box: Box,
  lanes: readonly Lane[],
  span: Span,
  theme: Theme,
  looks: LookTable,
): void {
  const area = plotArea(box, span)
  write(pen, 'Rank activity over time', box.x, box.y + 14, looks, { size: 13, strong: true })
  drawStateLegend(pen, box.x + 120, box.y + 4, theme, (state, x) =>
    write(pen, STATE_NAMES[state]!, x, box.y + 14, looks),
  )
  drawLanes(pen, lanes, area, area.at, theme)
  drawTimes(pen, box, span, looks)
}

/** Hidden jobs have no line. */
function partOf(session: Session, run: Run, column: SeriesColumn, by: Grouping, state: ViewState): Part[] {
  const all = linesOf(session, run, column, by)
  const block = blockOf(session, run, column)
  if (typeof all === 'string' || block === undefined || typeof block === 'string') return []
  const lines =
    by === 'job'
      ? { ...all, lines: all.lines.filter(({ subject }) => state.jobs[subject] === undefined) }
      : all
  return [{ column, by, lines, name: (subject) => nameOfKey(run, block, by, subject) }]
}

function chartOf(run: Run, { column, by, lines, name }: Part, span: Span): Parameters<typeof drawChart>[2] {
  return {
    label: column.value.label,
    unit: column.value.unit,
    span,
    lines: lines.lines.map(({ subject, values }) => ({
      name: name(subject),
      color: by === 'job' ? jobOf(run, subject).color : '#0a66c2',
      times: lines.times,
      values,
    })),
  }
}

function drawHeat(
  pen: Pen,
  box: Box,
  { column, lines: all, name }: Part,
  span: Span,
  state: ViewState,
  looks: LookTable,
): void {
  const lines = strongest(all, HEAT_ROWS)
  const area = plotArea(box, span)
  const positive = lines.lines.flatMap(({ values }) => [...values].filter((v) => v > 0))
  const scale = colorScale(state.scale, Float64Array.from(positive).sort(), false, null)
  const height = area.height / Math.max(1, lines.lines.length)
  const { label, unit } = column.value
  const title = `${label}, ${quantity(scale.low, unit)} to ${quantity(scale.high, unit)}, ${lines.lines.length} of ${all.lines.length} rows`
  write(pen, title, box.x, box.y + 14, looks, { size: 13, strong: true })
  fillBox(pen, area, looks.palette.empty)
  const step = stepOf(lines.times)
  const end = (i: number): number => lines.times[i]! + step
  const cells = lines.lines.flatMap(({ values }, row) =>
    Array.from(values, (v, i) => ({ v, i }))
      .filter(({ v, i }) => v > 0 && end(i) > span[0] && lines.times[i]! < span[1])
      .map(({ v, i }) => ({
        x: area.at(lines.times[i]!),
        y: area.y + row * height,
        width: area.at(end(i)) - area.at(lines.times[i]!),
        height,
        color: looks.colors[scale.shade(v)]!,
      })),
  )
  drawCells(pen, cells)
  const stride = Math.max(1, Math.ceil(14 / height))
  lines.lines.forEach(({ subject }, row) => {
    if (row % stride === 0)
      write(pen, name(subject).slice(-14), area.x - 8, area.y + (row + 0.5) * height + 4, looks, {
        size: 10,
        align: 'right',
      })
  })
  drawTimes(pen, box, span, looks)
}

/** Only the rows that are drawn. */
function rowsOf({ column, lines, name, by }: Part): (string | number)[][] {
  const shown = by === 'job' ? lines : strongest(lines, 2 * HEAT_ROWS)
  return shown.lines.flatMap(({ subject, values }) =>
    Array.from(values, (value, i) => [column.id, name(subject), shown.times[i]!, value]).filter(
      ([, , , value]) => !Number.isNaN(value),
    ),
  )
}
