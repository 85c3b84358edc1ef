/** Draws latency boxes with names and axis, on a canvas or in a file. */
import type { BoxesPicture } from '../layout/boxes'
import { drawLabels, fillBox, stroke } from './blocks'
import type { LookTable } from './look'
import type { Pen } from './pen'

export function drawBoxes(
  pen: Pen,
  picture: BoxesPicture,
  colors: readonly string[],
  looks: LookTable,
): void {
  const { ink, line } = looks.palette
  for (const at of picture.ticks)
    fillBox(pen, { x: at, y: picture.top, width: 0.7, height: picture.bottom - picture.top }, line)
  for (const { box, y: top, height, at, most } of picture.marks) {
    const [p5, p25, p50, p75, p95, p99] = at as [number, number, number, number, number, number]
    const middle = top + height / 2
    const color = colors[box]!
    fillBox(pen, { x: p5, y: middle - 0.75, width: p95 - p5, height: 1.5 }, ink)
    for (const end of [p5, p95]) fillBox(pen, { x: end - 0.75, y: middle - 4, width: 1.5, height: 8 }, ink)
    fillBox(pen, { x: p25, y: top, width: Math.max(1, p75 - p25), height }, color)
    fillBox(pen, { x: p50 - 1, y: top - 2, width: 2, height: height + 4 }, ink)
    fillBox(pen, { x: p99 - 1, y: top, width: 2, height }, ink)
    stroke(pen, ink, 1.2, () => pen.arc(most, middle, 3, 0, 2 * Math.PI))
  }
  drawLabels(pen, picture.labels, looks)
}
