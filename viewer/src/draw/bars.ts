/** Draws cost bars with names and totals, on a canvas or in a file. */
import type { BarsPicture } from '../layout/bars'
import { fillBox, write } from './blocks'
import type { LookTable } from './look'
import type { Pen } from './pen'

export function drawBars(
  pen: Pen,
  { x, y }: { x: number; y: number },
  picture: BarsPicture,
  colors: readonly string[],
  looks: LookTable,
): void {
  for (const mark of picture.marks)
    fillBox(
      pen,
      // A gap separates parts if there is room.
      { x: x + mark.x, y: y + mark.y, width: mark.width - (mark.width > 3 ? 1 : 0), height: mark.height },
      colors[mark.part]!,
    )
  for (const { x: left, y: base, text, anchor, size, strong } of picture.labels)
    write(pen, text, x + left, y + base, looks, {
      size,
      strong: strong === true,
      align: anchor === 'end' ? 'right' : anchor === 'middle' ? 'center' : 'left',
      color: looks.palette.ink,
    })
}

/** Colour legend in one line of 20 pixels. */
export function drawPartLegend(
  pen: Pen,
  { x, y }: { x: number; y: number },
  parts: readonly string[],
  colors: readonly string[],
  looks: LookTable,
): void {
  let left = x
  parts.forEach((part, i) => {
    fillBox(pen, { x: left, y: y + 2, width: 11, height: 11 }, colors[i]!)
    write(pen, part, left + 16, y + 12, looks)
    left += 34 + part.length * 6.7
  })
}
