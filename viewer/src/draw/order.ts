/** What the page asks of the thread that draws, and what both need to draw it. */
import type { Scene, Shape } from './picture'
import type { Pen } from './pen'

/** From scene units to CSS pixels. */
export interface View {
  readonly k: number
  readonly x: number
  readonly y: number
}

/** One picture at one size. */
export interface Order {
  readonly scene: Scene
  readonly view: View
  /** CSS pixels. */
  readonly width: number
  readonly height: number
  /** Pixels of the screen for one CSS pixel. */
  readonly ratio: number
}

export interface Request extends Omit<Order, 'scene'> {
  /** The answer carries it, too. */
  readonly id: number
  /** What of the scene is another than in the last request for this canvas. */
  readonly scene: Partial<Scene>
  /** The number of the picture, and the picture itself when the thread does not have it yet. */
  readonly picture: number
  readonly shape: Shape | null
  readonly canvas: number
  readonly below: Below
}

/** What lies below the links and is as in the last request: nothing, sectors and nodes, or bands and routers, too. */
export type Below = 'new' | 'ground' | 'all'

/** A canvas is gone. */
export interface Farewell {
  readonly gone: number
}

export interface Answer {
  readonly id: number
  readonly bitmap: ImageBitmap
}

export const pixelsOf = ({ width, height, ratio }: Omit<Order, 'scene'>): [number, number] => [
  Math.max(1, Math.round(width * ratio)),
  Math.max(1, Math.round(height * ratio)),
]

/** Pixels of the screen to scene units. */
export function place(pen: Screen, { view, ratio }: Omit<Order, 'scene'>): void {
  pen.setTransform(ratio, 0, 0, ratio, 0, 0)
  pen.translate(view.x, view.y)
  pen.scale(view.k, view.k)
}

type Screen = Pen & {
  setTransform(a: number, b: number, c: number, d: number, e: number, f: number): void
}
