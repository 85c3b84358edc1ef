/** Paints matrices pixel by pixel, and repaints only changed cells. */
import type { MatrixPanel, PlacedMatrix } from '../layout/matrices'
import { cellLooks, holeOf, HOLLOW_FROM, marksOf, type CellSource } from './cells'
import type { LookTable } from './look'

/** Larger than every look. */
const UNKNOWN = 0xffff

interface PaintState {
  readonly image: ImageData
  readonly panel: MatrixPanel
  readonly looks: LookTable
  readonly top: number
  source: CellSource
  /** Whether cells with many links have pending changes. */
  waiting: boolean
  /** Looks of the cells of each visible matrix. */
  readonly cells: Map<PlacedMatrix, Uint16Array>
}

export class CellPainter {
  private last: PaintState | undefined
  private scratch = new Uint16Array(0)

  /**
   * Paints the part of a panel from `top` on that fits into `image`.
   *
   * Args:
   * reduced: Skip cells with very many links.
   *
   * Returns:
   * The repainted matrices; null if the whole image is new.
   */
  paint(
    image: ImageData,
    panel: MatrixPanel,
    source: CellSource,
    looks: LookTable,
    top: number,
    reduced = false,
  ): readonly PlacedMatrix[] | null {
    const { last } = this
    const same = last?.image === image && last.panel === panel && last.looks === looks && last.top === top
    const painted: PaintState = same
      ? last
      : { image, panel, looks, top, source, waiting: false, cells: new Map() }
    const pixels = new Uint32Array(image.data.buffer)
    if (!same) pixels.fill(0)
    // Pending cells may have changed several moves ago.
    const dirty = same && (reduced || !last.waiting) ? dirtyCells(last.source, source) : () => null
    this.last = painted
    painted.source = source
    painted.waiting = reduced && same
    const changed = panel.matrices.filter((matrix) => {
      const y = matrix.y - top
      if (y >= image.height || y + matrix.size * matrix.cell <= 0) return false
      return this.paintMatrix(painted, pixels, matrix, dirty(matrix.family), reduced && same)
    })
    return same ? changed : null
  }

  /** Paints a matrix and returns whether a cell changed. */
  private paintMatrix(
    { image, looks, top, source, cells }: PaintState,
    pixels: Uint32Array,
    matrix: PlacedMatrix,
    dirty: Uint8Array | null,
    reduced: boolean,
  ): boolean {
    const { size, cell } = matrix
    const known = cells.get(matrix) ?? new Uint16Array(size * size).fill(UNKNOWN)
    cells.set(matrix, known)
    if (this.scratch.length < known.length) this.scratch = new Uint16Array(known.length)
    const now = this.scratch
    now.set(known)
    cellLooks(source, matrix, now, dirty, reduced)
    let any = false
    for (let row = 0; row < size; row++) {
      const first = Math.max(0, matrix.y - top + row * cell)
      const last = Math.min(image.height, matrix.y - top + (row + 1) * cell)
      for (let column = 0; column < size; column++) {
        const c = row * size + column
        if (now[c] === known[c]) continue
        known[c] = now[c]!
        any = true
        const color = looks.pixels[now[c]!]!
        const left = matrix.x + column * cell
        const right = Math.min(left + cell, image.width)
        for (let y = first; y < last; y++) pixels.fill(color, y * image.width + left, y * image.width + right)
        if (looks.hollow[now[c]!] === 0 || cell < HOLLOW_FROM) continue
        const hole = holeOf(cell)
        const [x, y] = [left + hole.from, matrix.y - top + row * cell + hole.from]
        for (let line = Math.max(first, y); line < Math.min(last, y + hole.size); line++)
          pixels.fill(
            looks.hole,
            line * image.width + x,
            Math.max(
              line * image.width + x,
              Math.min(line * image.width + x + hole.size, line * image.width + right),
            ),
          )
      }
    }
    return any
  }
}

/** Cells by family with a link changed by the last brush move; null for all cells. */
function dirtyCells(last: CellSource, source: CellSource): (family: number) => Uint8Array | null {
  const { changed, step, values, shades, scales, aggregate } = source
  const same =
    last.values === values &&
    last.shades === shades &&
    scales.every((scale, i) => scale === last.scales[i]) &&
    last.aggregate === aggregate
  if (!changed || !same || step !== last.step + 1) return () => null
  const found = new Map<number, Uint8Array>()
  return (family) => {
    let dirty = found.get(family)
    if (dirty) return dirty
    const { count, ofLink } = marksOf(source, family)
    found.set(family, (dirty = new Uint8Array(count)))
    for (let i = 0; i < changed.length; i++) {
      const cell = ofLink[changed[i]!]!
      if (cell >= 0) dirty[cell] = 1
    }
    return dirty
  }
}
