/** Draws latency boxes with names and axis, on a canvas or in a file. */
import type { BoxesPicture } from '../layout/boxes'
import { fillBox, write } from './blocks'
import type { LookTable } from './look'
import type { Pen } from './pen'

export function drawBoxes(
  pen: Pen,
  { x, y }: { x: number; y: number },
  picture: BoxesPicture,
  colors: readonly string[],
  looks: LookTable,
): void {
  const { ink, line } = looks.palette
  for (const at of picture.ticks)
    fillBox(pen, { x: x + at, y: y + picture.top, width: 0.7, height: picture.bottom - picture.top }, line)
  for (const { box, y: top, height, at, most } of picture.marks) {
    const [p5, p25, p50, p75, p95, p99] = at.map((value) => x + value) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ]
    const middle = y + top + height / 2
    const color = colors[box]!
    fillBox(pen, { x: p5, y: middle - 0.75, width: p95 - p5, height: 1.5 }, ink)
    for (const end of [p5, p95]) fillBox(pen, { x: end - 0.75, y: middle - 4, width: 1.5, height: 8 }, ink)
    fillBox(pen, { x: p25, y: y + top, width: Math.max(1, p75 - p25), height }, color)
    fillBox(pen, { x: p50 - 1, y: y + top - 2, width: 2, height: height + 4 }, ink)
    fillBox(pen, { x: p99 - 1, y: y + top, width: 2, height }, ink)
    pen.beginPath()
    pen.arc(x + most, middle, 3, 0, 2 * Math.PI)
    pen.strokeStyle = ink
    pen.lineWidth = 1.2
    pen.stroke()
  }
  for (const { x: left, y: base, text, anchor, size } of picture.labels)
    write(pen, text, x + left, y + base, looks, {
      size,
      align: anchor === 'end' ? 'right' : anchor === 'middle' ? 'center' : 'left',
      color: ink,
    })
}
