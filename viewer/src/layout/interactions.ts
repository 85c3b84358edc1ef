/** Layout of a figure over one setting, one line per value of a second. Pure geometry in pixels. */
import type { Unit } from '../base/format'
import { valueAxis } from '../data/histogram'
import type { Pivot } from '../data/pivot'
import type { Box, Label, Size } from './picture'
import { namedValues, plotIn } from './timechart'

const PAD = { left: 92, right: 24, top: 12, bottom: 44 }
/** Marks of one row are shifted sideways, so that they do not cover each other. */
const SHIFT = 5

interface InteractionMark {
  readonly row: number
  readonly column: number
  readonly x: number
  readonly y: number
  /** Heights of the smallest and the largest value. */
  readonly least: number
  readonly most: number
}

export interface InteractionsPicture extends Size {
  readonly plot: Box
  readonly rules: readonly number[]
  readonly labels: readonly Label[]
  /** By column, then by row. */
  readonly marks: readonly InteractionMark[]
}

export function interactionsPicture(
  { rows, columns, cells }: Pivot,
  unit: Unit,
  { width, height }: Size,
): InteractionsPicture {
  const plot = plotIn({ width, height }, PAD)
  const spread = cells.flat().flatMap((cell) => (cell ? [cell.least, cell.most] : []))
  const axis = valueAxis('linear', Math.min(0, ...spread), Math.max(...spread), 1)
  const [rules, labels] = namedValues(axis, plot, height / 50, unit)
  const x = (row: number): number => plot.x + ((row + 0.5) * plot.width) / rows.length
  const y = (value: number): number => plot.y + (1 - axis.position(value)) * plot.height
  const marks = columns.flatMap((_, column) =>
    rows.flatMap((_, row): InteractionMark[] => {
      const cell = cells[row]![column]
      if (!cell) return []
      const at = x(row) + (column - (columns.length - 1) / 2) * SHIFT
      return [{ row, column, x: at, y: y(cell.mean), least: y(cell.least), most: y(cell.most) }]
    }),
  )
  const names = rows.map((text, row): Label => ({
    x: x(row),
    y: height - PAD.bottom + 18,
    text,
    anchor: 'middle',
    size: 10.5,
  }))
  return { width, height, plot, rules, labels: [...labels, ...names], marks }
}
