/** Messages between the page and the drawing thread, and code that both use. */
import type { Scene, Shape } from './picture'
import type { Pen } from './pen'

/** Transform from scene units to CSS pixels. */
export interface View {
  readonly k: number
  readonly x: number
  readonly y: number
}

/** A picture at a given size. */
export interface Drawing {
  readonly scene: Scene
  readonly view: View
  /** CSS pixels. */
  readonly width: number
  readonly height: number
  /** Device pixels per CSS pixel. */
  readonly ratio: number
}

export interface Request extends Omit<Drawing, 'scene'> {
  /** Repeated in the answer. */
  readonly id: number
  /** Parts of the scene that changed since the last request for this canvas. */
  readonly scene: Partial<Scene>
  /** Number of the picture; `shape` is set if the thread does not have the picture yet. */
  readonly picture: number
  readonly shape: Shape | null
  readonly canvas: number
  readonly below: CachedLayers
}

/**
 * Unchanged layers below the links: none, sectors and nodes (`ground`), or also bands and routers (`all`).
 */
export type CachedLayers = 'new' | 'ground' | 'all'

/** Releases a canvas. */
export interface CanvasRemoval {
  readonly gone: number
}

export interface Reply {
  readonly id: number
  readonly bitmap: ImageBitmap
}

export const pixelsOf = ({ width, height, ratio }: Omit<Drawing, 'scene'>): [number, number] => [
  Math.max(1, Math.round(width * ratio)),
  Math.max(1, Math.round(height * ratio)),
]

/** Sets the transform from scene units to device pixels. */
export function place(pen: Screen, { view, ratio }: Omit<Drawing, 'scene'>): void {
  pen.setTransform(ratio, 0, 0, ratio, 0, 0)
  pen.translate(view.x, view.y)
  pen.scale(view.k, view.k)
}

type Screen = Pen & {
  setTransform(a: number, b: number, c: number, d: number, e: number, f: number): void
}
