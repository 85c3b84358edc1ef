/** A table of coloured cells in an export. */
import type { SheetPart } from '../../draw/sheet'
import type { Unit } from '../../base/format'
import { cellText, type Pivot } from '../../data/pivot'
import { fillBox, write } from '../../draw/blocks'
import type { LookTable } from '../../draw/look'
import { pivotColors, type ColorRules } from '../../data/noise'

const CELL = { width: 190, height: 44 }
const NAMES = 200
const HEAD = 24

export function pivotPart(pivot: Pivot, unit: Unit, looks: LookTable, rules: ColorRules): SheetPart {
  const { shades } = pivotColors(pivot, unit, rules)
  const left = (column: number): number => NAMES + column * CELL.width
  return {
    width: left(Math.max(3, pivot.columns.length)),
    height: HEAD + pivot.rows.length * CELL.height,
    draw: (pen) => {
      pivot.columns.forEach((column, c) => write(pen, column, left(c) + 6, 16, looks, { strong: true }))
      pivot.rows.forEach((row, r) => {
        const y = HEAD + r * CELL.height
        write(pen, row, 0, y + 20, looks, { strong: true })
        pivot.cells[r]!.forEach((cell, c) => {
          if (!cell) return
          const [mean, spread] = cellText(cell, unit)
          const color = looks.colors[shades[r]![c]!]!
          fillBox(pen, { x: left(c), y: y + 2, width: 14, height: CELL.height - 4 }, color)
          write(pen, mean, left(c) + 20, y + 18, looks, { strong: true })
          write(pen, spread, left(c) + 20, y + 34, looks, { size: 10 })
        })
      })
    },
  }
}
