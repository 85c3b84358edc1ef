/** Draws a picture and its highlights on two canvases. */
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import type { DrawnMarks } from '../../draw/account'
import type { LookTable } from '../../draw/look'
import type { View } from '../../draw/messages'
import { drawHighlight, sceneOf, type Highlight, type PictureData } from '../../draw/picture'
import { drawingService } from '../../draw/drawingservice'
import type { Picture, Size } from '../../layout/picture'
import { prepareCanvas } from '../canvas/size'

/** Performance mark of the first picture, for the benchmark. */
const FIRST_PICTURE = 'odonata-first-picture'

/** A picture as displayed. */
export interface DisplayedPicture {
  readonly picture: Picture
  readonly data: PictureData
  readonly drawn: DrawnMarks
  readonly looks: LookTable
  readonly size: Size
  readonly view: View
  /** The setting that `view` is computed from; a stable reference for memoization. */
  readonly zoom: readonly [number, number, number]
}

export function fit(picture: Picture, size: Size, zoom: readonly [number, number, number]): View {
  const scale = Math.min(size.width / picture.width, size.height / picture.height)
  const [k, x, y] = zoom
  const [left, top] = [(size.width - picture.width * scale) / 2, (size.height - picture.height * scale) / 2]
  return { k: scale * k, x: left + x * scale, y: top + y * scale }
}

/** Draws in the drawing thread; `data-drawing` stays on the canvas until it is visible. */
export function useDrawing(
  canvas: RefObject<HTMLCanvasElement | null>,
  { picture, data, drawn, looks, size, view, zoom }: DisplayedPicture,
): void {
  // Layout effect: plain effects wait until the rest of the page is painted.
  useLayoutEffect(() => {
    if (!canvas.current || size.width === 0) return
    const ratio = window.devicePixelRatio || 1
    const order = { scene: sceneOf(data, drawn, looks), view, ...size, ratio }
    drawingService().draw(canvas.current, picture, order, () => {
      if (performance.getEntriesByName(FIRST_PICTURE).length === 0) performance.mark(FIRST_PICTURE)
    })
  }, [data, picture, looks, size, zoom])
  useEffect(() => {
    const { current } = canvas
    return () => drawingService().release(current!)
  }, [])
}

/** Draws the hover or focus synchronously, so it follows the pointer. */
export function useHighlight(
  canvas: RefObject<HTMLCanvasElement | null>,
  { picture, looks, size, view, zoom }: DisplayedPicture,
  highlight: () => Highlight,
  marked: readonly unknown[],
): void {
  useEffect(() => {
    if (!canvas.current || size.width === 0) return
    const context = prepareCanvas(canvas.current, size)
    context.translate(view.x, view.y)
    context.scale(view.k, view.k)
    drawHighlight(context, picture, highlight(), looks, 1 / view.k)
  }, [...marked, picture, looks, size, zoom])
}
