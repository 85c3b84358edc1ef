/** Draws charts over time, on a canvas or in a file. */
import type { Theme } from '../base/ramps'
import { COMMUNICATING, COMPUTING, WAITING } from '../data/lanes'
import { colorScale, type ColorScale } from '../data/scale'
import type { Lines } from '../data/series'
import type { ScaleKind } from '../data/state'
import type { HeatPicture, LanesPicture, LinesPicture, TimePicture } from '../layout/timechart'
import { drawLabels, drawRules, fillBox, fillBoxes, strokeLine } from './blocks'
import type { LookTable } from './look'
import type { Pen } from './pen'

export const STATE_NAMES = ['computing', 'communicating', 'waiting'] as const

/** Distinguishable with any colour vision and by lightness; waiting stands out. */
export const STATE_COLORS: Readonly<Record<Theme, readonly [string, string, string]>> = {
  light: ['#b9d3e8', '#2b7bba', '#d9541e'],
  dark: ['#27496b', '#5fa8e6', '#ff8c4b'],
}

/** The names of rows, values and times. */
function drawAxes(pen: Pen, { plot, ticks, labels }: TimePicture, looks: LookTable): void {
  const bottom = plot.y + plot.height
  for (const x of ticks) fillBox(pen, { x: x - 0.5, y: bottom, width: 1, height: 4 }, looks.palette.muted)
  drawLabels(pen, labels, looks, looks.palette.muted)
}

/** `colorOf`: null for the colour of the theme. */
export function drawLines(
  pen: Pen,
  picture: LinesPicture,
  colorOf: (subject: number) => string | null,
  looks: LookTable,
): void {
  drawRules(pen, picture.plot, picture.rules, looks)
  drawAxes(pen, picture, looks)
  for (const { subject, parts } of picture.curves) {
    const color = colorOf(subject) ?? looks.palette.accent
    parts.forEach((part) => strokeLine(pen, color, 1.6, part))
  }
}

/** Scale over all positive values. */
export function heatScale({ lines }: Lines, kind: ScaleKind): ColorScale {
  const all: number[] = []
  for (const { values } of lines) for (const v of values) if (v > 0) all.push(v)
  return colorScale(kind, Float64Array.from(all).sort(), false, null)
}

export function drawHeat(pen: Pen, picture: HeatPicture, scale: ColorScale, looks: LookTable): void {
  const { plot, axis, rows, times, step, rowHeight } = picture
  fillBox(pen, plot, looks.palette.empty)
  fillBoxes(pen, (add) =>
    rows.forEach(({ values }, row) => {
      const top = Math.round(plot.y + row * rowHeight)
      const bottom = Math.max(top + 1, Math.round(plot.y + (row + 1) * rowHeight))
      values.forEach((v, i) => {
        if (!(v > 0)) return
        const left = Math.max(plot.x, Math.round(axis.x(times[i]!)))
        const end = Math.round(axis.x(times[i]! + step))
        const right = Math.min(plot.x + plot.width, Math.max(left + 1, end))
        if (right > left) add(looks.colors[scale.shade(v)]!, left, top, right - left, bottom - top)
      })
    }),
  )
  drawAxes(pen, picture, looks)
}

/** Spans of the same state below a pixel are merged. */
export function drawLanes(pen: Pen, picture: LanesPicture, looks: LookTable): void {
  const { plot, axis, rows, rowHeight } = picture
  const colors = STATE_COLORS[looks.theme]
  const right = plot.x + plot.width
  const height = Math.max(0.5, rowHeight - (rowHeight >= 6 ? 1 : 0))
  fillBoxes(pen, (add) => {
    const addSpan = (state: number, row: number, from: number, until: number): void => {
      const [x0, x1] = [Math.max(plot.x, axis.x(from)), Math.min(right, axis.x(until))]
      if (x1 > x0) add(colors[state]!, x0, plot.y + row * rowHeight, x1 - x0, height)
    }
    rows.forEach((lane, row) => addSpan(COMPUTING, row, lane.start, lane.end))
    rows.forEach(({ calls }, row) => calls.forEach((c) => addSpan(COMMUNICATING, row, c.from, c.until)))
    rows.forEach(({ waits }, row) => waits.forEach((w) => addSpan(WAITING, row, w.from, w.until)))
  })
  drawAxes(pen, picture, looks)
}
