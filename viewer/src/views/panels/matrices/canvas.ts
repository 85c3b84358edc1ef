/** Paints matrices on their canvas, after a brush move only changed ones, and marks on the canvas above. */
import type { RefObject } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { translation } from '../../../data/focus'
import type { DerivedRun } from '../../../data/model'
import { CellPainter } from '../../../draw/cellpainter'
import { drawTexts, marksOf, type CellSource } from '../../../draw/cells'
import type { LookTable } from '../../../draw/look'
import type { MatrixPanel, PlacedMatrix } from '../../../layout/matrices'
import { LARGE, useSession, useStore } from '../../session/session'
import { prepareCanvas } from '../../canvas/size'
import type { Size } from '../../../layout/picture'

interface MatrixScene {
  readonly panel: MatrixPanel
  readonly source: CellSource
  readonly looks: LookTable
  readonly size: Size
  /** Scroll position. */
  readonly top: number
}

export function useMatrixCanvas(
  canvas: RefObject<HTMLCanvasElement | null>,
  d: DerivedRun,
  { panel, source, looks, size, top }: MatrixScene,
): void {
  const painter = useMemo(() => new CellPainter(), [])
  const image = useRef<ImageData>(undefined)
  const reduced = useStore(useSession().dragging) && d.run.links.count > LARGE
  useEffect(() => {
    if (!canvas.current || size.width === 0) return
    if (image.current?.width !== size.width || image.current.height !== size.height)
      image.current = new ImageData(size.width, size.height)
    const changed = painter.paint(image.current, panel, source, looks, top, reduced)
    const sharp = (window.devicePixelRatio || 1) === 1
    if (changed && sharp) return blitParts(canvas.current, image.current, changed, top)
    const context = prepareCanvas(canvas.current, size)
    blit(context, image.current)
    drawTexts(context, panel, looks, top)
  }, [d.selection, d.scale, panel, looks, size, top, source.aggregate, reduced])
}

/** Frames the cells of hovered and focused links. */
export function useMarkedCells(
  overlay: RefObject<HTMLCanvasElement | null>,
  d: DerivedRun,
  { panel, source, looks, size, top }: MatrixScene,
): void {
  const hover = useStore(useSession().hover)
  useEffect(() => {
    if (!overlay.current || size.width === 0) return
    const context = prepareCanvas(overlay.current, size)
    context.strokeStyle = looks.palette.ink
    context.lineWidth = 1.5
    const here = hover && translation(hover.run, d.run)
    const marked = (hover?.links ?? [])
      .slice(0, 200)
      .map((l) => here!.link(l))
      .filter((l) => l >= 0)
    if (d.focus && d.focus.link >= 0) marked.push(d.focus.link)
    for (const matrix of panel.matrices) {
      const marks = marksOf(source, matrix.family)
      for (const l of marked) {
        const cell = marks.ofLink[l]! - matrix.base
        if (marks.ofLink[l]! < 0 || cell < 0 || cell >= matrix.size ** 2) continue
        const [x, y] = [
          matrix.x + (cell % matrix.size) * matrix.cell,
          matrix.y - top + Math.floor(cell / matrix.size) * matrix.cell,
        ]
        context.strokeRect(x - 1.5, y - 1.5, matrix.cell + 3, matrix.cell + 3)
      }
    }
  }, [hover, d.focus, d.run, panel, looks, size, top])
}

/** Only matrices; the text between them is unchanged. */
function blitParts(
  canvas: HTMLCanvasElement,
  image: ImageData,
  matrices: readonly PlacedMatrix[],
  top: number,
): void {
  const context = canvas.getContext('2d')!
  for (const { x, y, size, cell } of matrices)
    context.putImageData(image, 0, 0, x, y - top, size * cell, size * cell)
}

/** Scaled without smoothing, so cells keep sharp edges. */
function blit(context: CanvasRenderingContext2D, image: ImageData): void {
  const ratio = window.devicePixelRatio || 1
  if (ratio === 1) return context.putImageData(image, 0, 0)
  const buffer = new OffscreenCanvas(image.width, image.height)
  buffer.getContext('2d')!.putImageData(image, 0, 0)
  context.imageSmoothingEnabled = false
  context.drawImage(buffer, 0, 0)
}
