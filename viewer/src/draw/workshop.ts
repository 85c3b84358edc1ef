/**
 * Pictures drawn in a thread of their own, so that the page answers while they are drawn; on the page's own thread where a
 * browser or its rules allow none.
 *
 * One request is under way at a time. Of those that wait, only the last of each canvas is drawn: what a dragged range has already
 * left behind is not.
 */
import type { Picture } from '../layout/picture'
import { pixelsOf, place, type Answer, type Below, type Farewell, type Order, type Request } from './order'
import { drawScene, type Scene } from './picture'
import DrawingThread from './worker?worker&inline'

interface Job {
  readonly order: Order
  readonly picture: Picture
  shown(): void
}

/** What the thread has of a canvas. */
interface Known {
  readonly number: number
  readonly scene: Scene
  /** What the ground, and what stands on it, were drawn from. */
  readonly ground: readonly unknown[]
  readonly stands: readonly unknown[]
}

const alike = (a: readonly unknown[], b: readonly unknown[]): boolean => a.every((part, i) => part === b[i])

class Workshop {
  private thread: Worker | null = null
  private readonly numbers = new WeakMap<Picture, number>()
  private pictures = 0
  private requests = 0
  private readonly waiting = new Map<HTMLCanvasElement, Job>()
  private readonly canvases = new Map<HTMLCanvasElement, Known>()
  private numbered = 0
  private readonly afterwards: (() => void)[] = []
  private current: { id: number; canvas: HTMLCanvasElement; job: Job } | null = null

  constructor() {
    if (typeof Worker === 'undefined' || typeof OffscreenCanvas === 'undefined') return
    try {
      this.thread = new DrawingThread()
    } catch {
      return // A page's rules may forbid it.
    }
    this.thread.onmessage = ({ data }: MessageEvent<Answer>) => this.receive(data)
    this.thread.onerror = () => this.giveUp()
  }

  /** Draws on a canvas, at once or soon; `shown` is called when it is there. */
  draw(canvas: HTMLCanvasElement, picture: Picture, order: Order, shown: () => void): void {
    canvas.dataset['drawing'] = 'yes'
    this.waiting.set(canvas, { order, picture, shown })
    this.next()
  }

  /** Calls back when all that was asked for is seen. */
  whenSeen(then: () => void): void {
    this.afterwards.push(then)
    this.rest()
  }

  private rest(): void {
    if (this.current !== null || this.waiting.size > 0) return
    // A task of its own, and after the frame that shows what was drawn.
    for (const then of this.afterwards.splice(0)) requestAnimationFrame(() => setTimeout(then))
  }

  /** Of a canvas that is taken away. */
  forget(canvas: HTMLCanvasElement): void {
    this.waiting.delete(canvas)
    this.rest()
    const known = this.canvases.get(canvas)
    if (known) this.thread?.postMessage({ gone: known.number } satisfies Farewell)
    this.canvases.delete(canvas)
  }

  private next(): void {
    if (this.current !== null) return
    const [first] = this.waiting
    if (!first) return this.rest()
    const [canvas, job] = first
    this.waiting.delete(canvas)
    if (!this.thread) {
      drawHere(canvas, job)
      this.done(canvas, job)
      return this.next()
    }
    this.current = { id: ++this.requests, canvas, job }
    this.thread.postMessage(this.request(this.requests, canvas, job))
  }

  /** The lists of links stay here: they are large, and drawing needs none of them. */
  private request(id: number, canvas: HTMLCanvasElement, { order, picture }: Job): Request {
    const known = this.numbers.get(picture)
    const { marks: _, ...shape } = picture
    if (known === undefined) this.numbers.set(picture, ++this.pictures)
    return {
      ...order,
      ...this.news(canvas, picture, order),
      id,
      picture: known ?? this.pictures,
      shape: known === undefined ? shape : null,
    }
  }

  /** What the thread does not have of a canvas yet. */
  private news(canvas: HTMLCanvasElement, picture: Picture, order: Order) {
    const { scene, view, width, height, ratio } = order
    const { looks, nodes, jobColors, bands, routers } = scene
    const ground = [picture, looks, nodes, jobColors, view.k, view.x, view.y, width, height, ratio]
    const stands = [bands, routers]
    const known = this.canvases.get(canvas)
    const number = known?.number ?? ++this.numbered
    this.canvases.set(canvas, { number, scene, ground, stands })
    const below: Below =
      !known || !alike(known.ground, ground) ? 'new' : alike(known.stands, stands) ? 'all' : 'ground'
    const parts = Object.entries(scene) as [keyof Scene, unknown][]
    const changed = parts.filter(([part, value]) => known?.scene[part] !== value)
    return { canvas: number, below, scene: Object.fromEntries(changed) as Partial<Scene> }
  }

  private receive({ id, bitmap }: Answer): void {
    const { current } = this
    if (current === null || current.id !== id) return bitmap.close()
    this.current = null
    const { canvas, job } = current
    showBitmap(canvas, bitmap)
    this.done(canvas, job)
    this.next()
  }

  private done(canvas: HTMLCanvasElement, job: Job): void {
    if (!this.waiting.has(canvas)) delete canvas.dataset['drawing']
    job.shown()
  }

  /** What was under way and all that comes is drawn on the page's thread. */
  private giveUp(): void {
    this.thread?.terminate()
    this.thread = null
    const { current } = this
    this.current = null
    if (current && !this.waiting.has(current.canvas)) this.waiting.set(current.canvas, current.job)
    this.next()
  }
}

/** Hands the picture over as it is: a drawing of it would be copied twice more. */
function showBitmap(canvas: HTMLCanvasElement, bitmap: ImageBitmap): void {
  const { width, height } = bitmap
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height]
  canvas.getContext('bitmaprenderer')!.transferFromImageBitmap(bitmap)
}

/** On the page's own thread; a canvas that the thread has drawn on takes nothing but whole pictures. */
function drawHere(canvas: HTMLCanvasElement, { order, picture }: Job): void {
  const off = typeof OffscreenCanvas === 'undefined' ? null : new OffscreenCanvas(1, 1)
  const sheet = off ?? canvas
  // Setting its size empties a canvas, and forgets its transform.
  ;[sheet.width, sheet.height] = pixelsOf(order)
  const context = sheet.getContext('2d')!
  place(context, order)
  drawScene(context, picture, order.scene, 1 / order.view.k, order.ratio)
  if (off) showBitmap(canvas, off.transferToImageBitmap())
}

let made: Workshop | undefined

/** One for all canvases of a page, made when it is first asked for. */
export const workshop = (): Workshop => (made ??= new Workshop())
