/** Draws matrices: pixel by pixel on the screen, as rectangles into an SVG file. */
import { aggregateMarks, type Marks } from '../data/aggregate'
import type { Aggregate } from '../data/state'
import { EMPTY, FILTERED, type ColorScale } from '../data/scale'
import type { Family, Interior, MatrixPanel, PlacedMatrix } from '../layout/matrices'
import { DIMMED, NO_LINK, type Looks } from './look'
import type { Pen } from './pen'

export interface CellSource {
  readonly groupMarks: Marks
  readonly inside: Interior
  readonly values: Float64Array
  readonly selected: Uint8Array
  readonly looks: Uint8Array
  /** Of links as if all were selected. */
  readonly shades: Uint8Array
  readonly aggregate: Aggregate
  readonly scale: ColorScale
}

export function marksOf(source: Pick<CellSource, 'groupMarks' | 'inside'>, family: number): Marks {
  return family < 0 ? source.groupMarks : (source.inside.families[family] as Family).marks
}

/** The look of every cell of one matrix. */
export function cellLooks(source: CellSource, matrix: PlacedMatrix, into: Uint16Array): void {
  const { values, selected, looks, shades, aggregate, scale } = source
  const { offsets, links } = marksOf(source, matrix.family)
  const cells = matrix.size * matrix.size
  for (let c = 0; c < cells; c++) {
    const [start, end] = [offsets[matrix.base + c]!, offsets[matrix.base + c + 1]!]
    if (end - start === 1) {
      const [l, look] = [links[start]!, looks[links[start]!]!]
      into[c] = look === FILTERED ? DIMMED + shades[l]! : look
      continue
    }
    let count = 0
    let value = 0
    let strongest = 0
    let context = EMPTY
    for (let i = start; i < end; i++) {
      const l = links[i]!
      const v = values[l]!
      if (selected[l] === 0) {
        if (Math.abs(v) > strongest) [strongest, context] = [Math.abs(v), DIMMED + shades[l]!]
        continue
      }
      count++
      if (aggregate !== 'max') value += v
      else if (count === 1 || Math.abs(v) > Math.abs(value)) value = v
    }
    if (aggregate === 'mean' && count > 0) value /= count
    // Where nothing is selected, as its strongest link.
    into[c] = end === start ? NO_LINK : count > 0 && value !== 0 ? scale.shade(value) : context
  }
}

/** The part of a panel from `top` on that fits into `image`, in the image's pixels. */
export function paintMatrices(
  image: ImageData,
  panel: MatrixPanel,
  source: CellSource,
  looks: Looks,
  top: number,
): void {
  const pixels = new Uint32Array(image.data.buffer)
  pixels.fill(0)
  const scratch = new Uint16Array(Math.max(0, ...panel.matrices.map((m) => m.size * m.size)))
  for (const matrix of panel.matrices) {
    const y0 = matrix.y - top
    const side = matrix.size * matrix.cell
    if (y0 >= image.height || y0 + side <= 0) continue
    cellLooks(source, matrix, scratch)
    for (let row = 0; row < matrix.size; row++) {
      const first = Math.max(0, y0 + row * matrix.cell)
      const last = Math.min(image.height, y0 + (row + 1) * matrix.cell)
      if (last <= first) continue
      const start = first * image.width + matrix.x
      for (let column = 0; column < matrix.size; column++) {
        const color = looks.pixels[scratch[row * matrix.size + column]!]!
        const from = start + column * matrix.cell
        const end = Math.min(from + matrix.cell, (first + 1) * image.width)
        for (let at = from; at < end; at++) pixels[at] = color
      }
      // The other pixel lines of this row are copies of its first.
      for (let y = first + 1; y < last; y++)
        pixels.copyWithin(
          y * image.width + matrix.x,
          start,
          Math.min(start + side, (first + 1) * image.width),
        )
    }
  }
}

export function drawTexts(pen: Pen, panel: MatrixPanel, looks: Looks, top: number, scale = 1): void {
  for (const text of panel.texts) {
    pen.font = `${text.strong ? '600 ' : ''}${11 * scale}px system-ui, sans-serif`
    pen.textAlign = text.align
    pen.fillStyle = text.strong ? looks.palette.ink : looks.palette.muted
    pen.fillText(text.text, text.x * scale, (text.y - top) * scale)
  }
}

/** All matrices as rectangles, one path per look and matrix. */
export function drawMatrices(pen: Pen, panel: MatrixPanel, source: CellSource, looks: Looks): void {
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
    }
  }
  drawTexts(pen, panel, looks, 0)
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

/** The cells with selected links that carry something, the largest first; ties by their place. */
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
