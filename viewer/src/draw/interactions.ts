/** Draws the interaction of two settings, on a canvas or in a file. */
import type { InteractionsPicture } from '../layout/interactions'
import { drawLabels, drawRules, strokeLine } from './blocks'
import type { LookTable } from './look'
import type { Pen } from './pen'

export function drawInteractions(
  pen: Pen,
  { plot, rules, labels, marks }: InteractionsPicture,
  colors: readonly string[],
  looks: LookTable,
): void {
  drawRules(pen, plot, rules, looks)
  drawLabels(pen, labels, looks, looks.palette.muted)
  colors.forEach((color, column) => {
    const mine = marks.filter((mark) => mark.column === column)
    const line = mine.map(({ x, y }) => [x, y] as const)
    strokeLine(pen, color, 1.6, line)
    for (const { x, y, least, most } of mine) {
      const spread = [least, most].map((end) => [x, end] as const)
      strokeLine(pen, color, 2, spread)
      pen.beginPath()
      pen.arc(x, y, 4, 0, 2 * Math.PI)
      pen.fillStyle = color
      pen.fill()
    }
  })
}
