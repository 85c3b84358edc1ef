/** Draws cost bars with names and totals, on a canvas or in a file. */
import type { BarsPicture } from '../layout/bars'
import { drawLabels, fillBox } from './blocks'
import type { LookTable } from './look'
import type { Pen } from './pen'

export function drawBars(pen: Pen, picture: BarsPicture, colors: readonly string[], looks: LookTable): void {
  for (const mark of picture.marks)
    fillBox(
      pen,
      // A gap separates parts if there is room.
      { ...mark, width: mark.width - (mark.width > 3 ? 1 : 0) },
      colors[mark.part]!,
    )
  drawLabels(pen, picture.labels, looks)
}
