/** A table of coloured cells in an export. */
import type { Unit } from '../../base/format'
import { type Pivot } from '../../data/pivot'
import { fillBox, write } from '../../draw/blocks'
import { type LookTable } from '../../draw/look'
import type { Pen } from '../../draw/pen'
import { MARGIN, TOP } from './sheets'
import { cellText, pivotScale } from '../tables/pivot'

const CELL = { width: 190, height: 44 }
const NAMES = 200

/** Size of a sheet with `above` pixels above the table. */
export const pivotSize = ({ rows, columns }: Pivot, above = 0): { width: number; height: number } => ({
  width: 2 * MARGIN + NAMES + Math.max(3, columns.length) * CELL.width,
  height: TOP + above + 24 + rows.length * CELL.height + MARGIN,
})

/** Uses the size that `pivotSize` returns. */
export function drawPivot(
  pen: Pen,
  { pivot, figure }: { readonly pivot: Pivot; readonly figure: { readonly unit: Unit } },
  top: number,
  looks: LookTable,
): void {
  const scale = pivotScale(pivot)
  pivot.columns.forEach((column, c) =>
    write(pen, column, MARGIN + NAMES + c * CELL.width + 6, top + 16, looks, { strong: true }),
  )
  pivot.rows.forEach((row, r) => {
    const y = top + 24 + r * CELL.height
    write(pen, row, MARGIN, y + 20, looks, { strong: true })
    pivot.cells[r]!.forEach((cell, c) => {
      if (!cell) return
      const x = MARGIN + NAMES + c * CELL.width
      const [mean, spread] = cellText(cell, figure.unit)
      fillBox(pen, { x, y: y + 2, width: 14, height: CELL.height - 4 }, looks.colors[scale.shade(cell.mean)]!)
      write(pen, mean, x + 20, y + 18, looks, { strong: true })
      write(pen, spread, x + 20, y + 34, looks, { size: 10 })
    })
  })
}
