/**
 * Layout of charts over time: lines, heat maps and rank activity. All have the same margins, so that their
 * time axes align. Pure geometry in pixels.
 */
import { quantity, type Unit } from '../base/format'
import { axisTicks, valueAxis, type ValueAxis } from '../data/histogram'
import type { Lane } from '../data/lanes'
import { largestOf, stepOf, type Line, type Lines } from '../data/series'
import type { TimeSpan } from '../data/timespan'
import type { Box, Corners, Label, Size } from './picture'

const PAD = { left: 92, right: 18, top: 8, bottom: 22 }
/** Names of rows keep their end, which distinguishes them. */
const NAME = 14

interface TimeAxis {
  readonly first: number
  readonly last: number
  x(time: number): number
  time(x: number): number
}

export interface TimePicture extends Size {
  readonly axis: TimeAxis
  /** The area inside the margins. */
  readonly plot: Box
  /** Positions of the times named below the plot. */
  readonly ticks: readonly number[]
  readonly labels: readonly Label[]
}

function timePicture([first, last]: TimeSpan, { width, height }: Size): TimePicture {
  const plot = plotIn({ width, height }, PAD)
  const axis: TimeAxis = {
    first,
    last,
    x: (t) => plot.x + ((t - first) / (last - first || 1)) * plot.width,
    time: (x) => first + ((x - plot.x) / plot.width) * (last - first),
  }
  const times = axisTicks(valueAxis('linear', first, last, 1), width / 130).filter((tick) => tick >= first)
  const labels = times.map((time): Label => {
    const x = axis.x(time)
    const anchor = x > width - 40 ? 'end' : 'middle'
    return { x, y: height - PAD.bottom + 15, text: quantity(time, 'ps'), anchor, size: 10.5 }
  })
  return { width, height, axis, plot, ticks: times.map(axis.x), labels }
}

/** Heights of the named values of a vertical axis, and their names left of `box`. */
export function namedValues(axis: ValueAxis, box: Box, wanted: number, unit: Unit): [number[], Label[]] {
  const heights: number[] = []
  const labels = axisTicks(axis, Math.max(2, wanted), unit === 'bytes' ? 2 : 10).map((tick): Label => {
    const y = box.y + (1 - axis.position(tick)) * box.height
    heights.push(y)
    return { x: box.x - 8, y: y + 4, text: quantity(tick, unit), anchor: 'end', size: 10.5 }
  })
  return [heights, labels]
}

interface Margins {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

/** What margins leave. */
export const plotIn = ({ width, height }: Size, { left, right, top, bottom }: Margins): Box => ({
  x: left,
  y: top,
  width: Math.max(1, width - left - right),
  height: Math.max(0, height - top - bottom),
})

export interface LinesPicture extends TimePicture {
  /** Heights of the named values. */
  readonly rules: readonly number[]
  readonly curves: readonly { readonly subject: number; readonly parts: readonly Corners[] }[]
}

export function linesPicture(lines: Lines, unit: Unit, span: TimeSpan, size: Size): LinesPicture {
  const picture = timePicture(span, size)
  const { plot, axis } = picture
  const most = largestOf(lines)
  const values = valueAxis('linear', 0, most, most)
  const [rules, labels] = namedValues(values, plot, size.height / 40, unit)
  const curves = lines.lines.map(({ subject, values: all }) => ({
    subject,
    parts: partsInside(lines.times, all, span).map((part) =>
      part.map(([t, v]) => [axis.x(t), plot.y + (1 - values.position(v)) * plot.height] as const),
    ),
  }))
  return { ...picture, labels: [...labels, ...picture.labels], rules, curves }
}

/** Times and values of a line within a span; missing values interrupt it. */
function partsInside(times: Float64Array, values: Float64Array, [first, last]: TimeSpan): Corners[] {
  const parts: [number, number][][] = []
  let open = false
  for (let i = 1; i < times.length; i++) {
    const [t0, t1, v0, v1] = [times[i - 1]!, times[i]!, values[i - 1]!, values[i]!]
    if (Number.isNaN(v0) || Number.isNaN(v1) || t1 < first || t0 > last) {
      open = false
      continue
    }
    const at = (t: number): [number, number] => [t, v0 + ((v1 - v0) * (t - t0)) / (t1 - t0)]
    if (!open) parts.push([at(Math.max(first, t0))])
    parts.at(-1)!.push(at(Math.min(last, t1)))
    open = true
  }
  return parts
}

interface RowsPicture extends TimePicture {
  readonly rowHeight: number
}

export interface HeatPicture extends RowsPicture {
  readonly times: Float64Array
  readonly rows: readonly Line[]
  /** Length of an interval. */
  readonly step: number
}

export function heatPicture(
  { times, lines: rows }: Lines,
  nameOf: (subject: number) => string,
  span: TimeSpan,
  size: Size,
): HeatPicture {
  const picture = rowsPicture(rows.length, span, size)
  const stride = Math.max(1, Math.ceil(18 / picture.rowHeight))
  const named = rows.flatMap(({ subject }, i) => (i % stride === 0 ? [{ i, text: nameOf(subject) }] : []))
  return { ...picture, labels: rowLabels(picture, named), times, rows, step: stepOf(times) }
}

export interface LanesPicture extends RowsPicture {
  readonly rows: readonly Lane[]
}

/** As many names as fit; the name of a job at its first rank. */
export function lanesPicture(
  rows: readonly Lane[],
  jobName: (job: number) => string,
  span: TimeSpan,
  size: Size,
): LanesPicture {
  const picture = rowsPicture(rows.length, span, size)
  const stride = Math.max(1, Math.ceil(16 / picture.rowHeight))
  const named = rows.flatMap(({ job, rank }, i) => {
    if (i === 0 || rows[i - 1]!.job !== job) return [{ i, text: `${jobName(job)} ${rank}` }]
    return i % stride === 0 ? [{ i, text: String(rank) }] : []
  })
  const apart = Math.min(13, stride * picture.rowHeight) / picture.rowHeight
  const fitting = named.filter(({ i }, at) => at === 0 || i - named[at - 1]!.i >= apart)
  return { ...picture, labels: rowLabels(picture, fitting), rows }
}

function rowsPicture(rows: number, span: TimeSpan, size: Size): RowsPicture {
  const picture = timePicture(span, size)
  return { ...picture, rowHeight: picture.plot.height / Math.max(1, rows) }
}

function rowLabels(
  { plot, labels, rowHeight }: RowsPicture,
  named: readonly { i: number; text: string }[],
): Label[] {
  return [
    ...labels,
    ...named.map(({ i, text }): Label => {
      const short = text.length > NAME ? `…${text.slice(1 - NAME)}` : text
      return { x: plot.x - 8, y: plot.y + (i + 0.5) * rowHeight + 4, text: short, anchor: 'end', size: 10.5 }
    }),
  ]
}

/** The row at a point and the time there; null outside of the plot. */
export function rowAt(
  { plot, axis, rowHeight }: RowsPicture,
  x: number,
  y: number,
): { row: number; time: number } | null {
  const inside = x >= plot.x && x < plot.x + plot.width && y >= plot.y && y < plot.y + plot.height
  return inside ? { row: Math.floor((y - plot.y) / rowHeight), time: axis.time(x) } : null
}

/** The middle of a row at a time. */
export const placeInRow = ({ plot, axis, rowHeight }: RowsPicture, row: number, time: number) => ({
  x: axis.x(time),
  y: plot.y + (row + 0.5) * rowHeight,
})
