/** A picture and what is marked in it, on their two canvases. */
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import type { Drawn } from '../draw/account'
import type { Looks } from '../draw/look'
import type { View } from '../draw/order'
import { drawHighlight, sceneOf, type Highlight, type PictureData } from '../draw/picture'
import { workshop } from '../draw/workshop'
import type { Picture } from '../layout/picture'
import { prepareCanvas, type Size } from './size'

/** When the first picture was drawn, for the benchmark. */
const FIRST_PICTURE = 'odonata-first-picture'

/** A picture as it is seen. */
export interface Seen {
  readonly picture: Picture
  readonly data: PictureData
  readonly drawn: Drawn
  readonly looks: Looks
  readonly size: Size
  readonly view: View
  /** What `view` and `size` come from, as one object. */
  readonly zoom: readonly [number, number, number]
}

export function fit(picture: Picture, size: Size, zoom: readonly [number, number, number]): View {
  const scale = Math.min(size.width / picture.width, size.height / picture.height)
  const [k, x, y] = zoom
  const [left, top] = [(size.width - picture.width * scale) / 2, (size.height - picture.height * scale) / 2]
  return { k: scale * k, x: left + x * scale, y: top + y * scale }
}

/** Draws in the thread that draws; `data-drawing` stands on the canvas until it is seen. */
export function useDrawing(
  canvas: RefObject<HTMLCanvasElement>,
  { picture, data, drawn, looks, size, view, zoom }: Seen,
): void {
  // At once: other effects wait until what stands around the picture has been painted.
  useLayoutEffect(() => {
    if (!canvas.current || size.width === 0) return
    const ratio = window.devicePixelRatio || 1
    const order = { scene: sceneOf(data, drawn, looks), view, ...size, ratio }
    workshop().draw(canvas.current, picture, order, () => {
      if (performance.getEntriesByName(FIRST_PICTURE).length === 0) performance.mark(FIRST_PICTURE)
    })
  }, [data, picture, looks, size, zoom])
  useEffect(() => {
    const { current } = canvas
    return () => workshop().forget(current!)
  }, [])
}

/** Draws at once what is hovered or focused: it follows the pointer. */
export function useHighlight(
  canvas: RefObject<HTMLCanvasElement>,
  { picture, looks, size, view, zoom }: Seen,
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
