/** Looks of matrix cells, hit testing, and matrices as SVG rectangles. */
import { aggregateMarks, type Marks } from '../data/aggregate'
import type { Aggregate } from '../data/state'
import { EMPTY, FILTERED, type ColorScale } from '../data/scale'
import type { Family, Interior, MatrixPanel, PlacedMatrix } from '../layout/matrices'
import { DIMMED, HOLE, NO_LINK, type LookTable } from './look'
import { FONTS, type Pen } from './pen'

export interface CellSource {
  readonly groupMarks: Marks
  readonly inside: Interior
  readonly values: Float64Array
  readonly selected: Uint8Array
  readonly looks: Uint8Array
  /** Shades as if all links were selected. */
  readonly shades: Uint8Array
  readonly aggregate: Aggregate
  readonly scale: ColorScale
  /** The scale of a family, by number + 1: the group matrix first. */
  readonly scales: readonly ColorScale[]
  /** Counter of the selection. */
  readonly step: number
  readonly changed: Uint32Array | null
}

export function marksOf(source: Pick<CellSource, 'groupMarks' | 'inside'>, family: number): Marks {
  return family < 0 ? source.groupMarks : (source.inside.families[family] as Family).marks
}

/**
 * Cells with more links, such as a whole group's, are skipped while a range is dragged on a large machine.
 */
const REDUCED_CELL_LINKS = 64

/** Looks of all cells of a matrix, or of the cells marked in `dirty`. */
export function cellLooks(
  source: CellSource,
  matrix: PlacedMatrix,
  into: Uint16Array,
  dirty: Uint8Array | null = null,
  reduced = false,
): void {
  const { values, selected, looks, shades, aggregate } = source
  const { offsets, links } = marksOf(source, matrix.family)
  const scale = source.scales[matrix.family + 1]!
  const isOwn = scale !== source.scale
  const cells = matrix.size * matrix.size
  for (let c = 0; c < cells; c++) {
    if (dirty?.[matrix.base + c] === 0) continue
    const [start, end] = [offsets[matrix.base + c]!, offsets[matrix.base + c + 1]!]
    if (end - start === 1 && !isOwn) {
      const [l, look] = [links[start]!, looks[links[start]!]!]
      into[c] = look === FILTERED ? DIMMED + shades[l]! : look
      continue
    }
    if (reduced && end - start > REDUCED_CELL_LINKS) continue
    let count = 0
    let value = 0
    let strongest = 0
    let context = EMPTY
    for (let i = start; i < end; i++) {
      const l = links[i]!
      const v = values[l]!
      if (selected[l] === 0) {
        const shade = isOwn && v !== 0 ? scale.shade(v) : shades[l]!
        if (Math.abs(v) > strongest) [strongest, context] = [Math.abs(v), DIMMED + shade]
        continue
      }
      count++
      if (aggregate !== 'max') value += v
      else if (count === 1 || Math.abs(v) > Math.abs(value)) value = v
    }
    if (aggregate === 'mean' && count > 0) value /= count
    // Without a selected link, the look of the strongest link.
    into[c] = end === start ? NO_LINK : count > 0 && value !== 0 ? scale.shade(value) : context
  }
}

/** Minimum cell size in pixels for a visible hole. */
export const HOLLOW_FROM = 3

/** Offset and size of the hole in a hollow cell. */
export function holeOf(cell: number): { from: number; size: number } {
  const size = Math.max(1, Math.round(cell * HOLE))
  return { from: Math.floor((cell - size) / 2), size }
}

export function drawTexts(pen: Pen, panel: MatrixPanel, looks: LookTable, top: number, scale = 1): void {
  for (const text of panel.texts) {
    pen.font = `${text.strong ? '600 ' : ''}${11 * scale}px ${FONTS}`
    pen.textAlign = text.align
    pen.fillStyle = text.strong ? looks.palette.ink : looks.palette.muted
    pen.fillText(text.text, text.x * scale, (text.y - top) * scale)
  }
}

/** Draws all matrices as rectangles, one path per look and matrix. */
export function drawMatrices(pen: Pen, panel: MatrixPanel, source: CellSource, looks: LookTable): void {
  for (const matrix of panel.matrices) {
    const cells = new Uint16Array(matrix.size * matrix.size)
    cellLooks(source, matrix, cells)
    const byLook = new Map<number, number[]>()
    cells.forEach((look, c) => {
      if (look === NO_LINK) return
      const list = byLook.get(look)
      if (list) list.push(c)
      else byLook.set(look, [c])
    })
    for (const [look, list] of byLook) {
      pen.beginPath()
      for (const c of list)
        pen.rect(
          matrix.x + (c % matrix.size) * matrix.cell,
          matrix.y + Math.floor(c / matrix.size) * matrix.cell,
          matrix.cell,
          matrix.cell,
        )
      pen.fillStyle = looks.colors[look]!
      pen.fill()
      if (looks.hollow[look] === 1 && matrix.cell >= HOLLOW_FROM) drawHoles(pen, matrix, list, looks)
    }
  }
  drawTexts(pen, panel, looks, 0)
}

function drawHoles(
  pen: Pen,
  { x, y, size, cell }: PlacedMatrix,
  cells: readonly number[],
  looks: LookTable,
): void {
  const hole = holeOf(cell)
  pen.beginPath()
  for (const c of cells)
    pen.rect(
      x + (c % size) * cell + hole.from,
      y + Math.floor(c / size) * cell + hole.from,
      hole.size,
      hole.size,
    )
  pen.fillStyle = looks.palette.background
  pen.fill()
}

export interface CellHit {
  readonly matrix: PlacedMatrix
  readonly row: number
  readonly column: number
  /** Number within the family. */
  readonly cell: number
}

/** The cell at a point of the panel. */
export function cellAt(panel: MatrixPanel, x: number, y: number): CellHit | null {
  for (const matrix of panel.matrices) {
    const [column, row] = [Math.floor((x - matrix.x) / matrix.cell), Math.floor((y - matrix.y) / matrix.cell)]
    if (column >= 0 && row >= 0 && column < matrix.size && row < matrix.size)
      return { matrix, row, column, cell: matrix.base + row * matrix.size + column }
  }
  return null
}

export interface CellValue extends CellHit {
  readonly value: number
}

/** Selected non-zero cells, largest first; ties by position. */
export function cellsByValue(panel: MatrixPanel, source: CellSource): CellValue[] {
  const { values, selected, aggregate } = source
  const families = new Map<number, Float64Array>()
  const of = (family: number): Float64Array => {
    let found = families.get(family)
    if (!found) {
      found = aggregateMarks(marksOf(source, family), values, selected, aggregate).values
      families.set(family, found)
    }
    return found
  }
  return panel.matrices
    .flatMap((matrix) => {
      const cells: CellValue[] = []
      for (let c = 0; c < matrix.size ** 2; c++) {
        const value = of(matrix.family)[matrix.base + c]!
        const [row, column] = [Math.floor(c / matrix.size), c % matrix.size]
        if (value !== 0) cells.push({ matrix, row, column, cell: matrix.base + c, value })
      }
      return cells
    })
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
}
