/**
 * Draws pictures in a separate thread, so the page stays responsive; falls back to the page's thread.
 *
 * One request is in flight at a time. For each canvas only the newest waiting request is drawn, so a drag
 * skips stale states.
 */
import type { Picture } from '../layout/picture'
import {
  pixelsOf,
  place,
  type Reply,
  type CachedLayers,
  type CanvasRemoval,
  type Drawing,
  type Request,
} from './messages'
import { drawScene, type Scene } from './picture'
import DrawingThread from './worker?worker&inline'

interface Job {
  readonly drawing: Drawing
  readonly picture: Picture
  shown(): void
}

/** What the thread knows of a canvas. */
interface CanvasRecord {
  readonly number: number
  readonly scene: Scene
  /** Inputs of the ground layer, and of the bands and routers on it. */
  readonly ground: readonly unknown[]
  readonly routerLayer: readonly unknown[]
}

const sameParts = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.every((part, i) => part === b[i])

class DrawingService {
  private thread: Worker | null = null
  private readonly numbers = new WeakMap<Picture, number>()
  private pictures = 0
  private requests = 0
  private readonly waiting = new Map<HTMLCanvasElement, Job>()
  private readonly canvases = new Map<HTMLCanvasElement, CanvasRecord>()
  private canvasCount = 0
  private readonly idleCallbacks: (() => void)[] = []
  private current: { id: number; canvas: HTMLCanvasElement; job: Job } | null = null

  constructor() {
    if (typeof Worker === 'undefined' || typeof OffscreenCanvas === 'undefined') return
    try {
      this.thread = new DrawingThread()
    } catch {
      return // A Content-Security-Policy may forbid workers.
    }
    this.thread.onmessage = ({ data }: MessageEvent<Reply>) => this.receive(data)
    this.thread.onerror = () => this.fallBack()
  }

  /** Draws now or soon; calls `shown` when done. */
  draw(canvas: HTMLCanvasElement, picture: Picture, drawing: Drawing, shown: () => void): void {
    canvas.dataset['drawing'] = 'yes'
    this.waiting.set(canvas, { drawing, picture, shown })
    this.next()
  }

  /** Calls back when all requested pictures are visible. */
  whenVisible(then: () => void): void {
    this.idleCallbacks.push(then)
    this.notifyIdle()
  }

  private notifyIdle(): void {
    if (this.current !== null || this.waiting.size > 0) return
    // A separate task after the frame that shows the picture.
    for (const then of this.idleCallbacks.splice(0)) requestAnimationFrame(() => setTimeout(then))
  }

  /** Forgets a removed canvas. */
  release(canvas: HTMLCanvasElement): void {
    this.waiting.delete(canvas)
    this.notifyIdle()
    const known = this.canvases.get(canvas)
    if (known) this.thread?.postMessage({ gone: known.number } satisfies CanvasRemoval)
    this.canvases.delete(canvas)
  }

  private next(): void {
    if (this.current !== null) return
    const [first] = this.waiting
    if (!first) return this.notifyIdle()
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

  /** Link lists are not sent: they are large and not needed for drawing. */
  private request(id: number, canvas: HTMLCanvasElement, { drawing, picture }: Job): Request {
    const known = this.numbers.get(picture)
    const { marks: _, ...shape } = picture
    if (known === undefined) this.numbers.set(picture, ++this.pictures)
    return {
      ...drawing,
      ...this.changedParts(canvas, picture, drawing),
      id,
      picture: known ?? this.pictures,
      shape: known === undefined ? shape : null,
    }
  }

  /** The parts that changed since the last request for this canvas. */
  private changedParts(canvas: HTMLCanvasElement, picture: Picture, drawing: Drawing) {
    const { scene, view, width, height, ratio } = drawing
    const { looks, nodes, jobColors, bands, routers } = scene
    const ground = [picture, looks, nodes, jobColors, view.k, view.x, view.y, width, height, ratio]
    const routerLayer = [bands, routers]
    const known = this.canvases.get(canvas)
    const number = known?.number ?? ++this.canvasCount
    this.canvases.set(canvas, { number, scene, ground, routerLayer })
    const below: CachedLayers =
      !known || !sameParts(known.ground, ground)
        ? 'new'
        : sameParts(known.routerLayer, routerLayer)
          ? 'all'
          : 'ground'
    const parts = Object.entries(scene) as [keyof Scene, unknown][]
    const changed = parts.filter(([part, value]) => known?.scene[part] !== value)
    return { canvas: number, below, scene: Object.fromEntries(changed) as Partial<Scene> }
  }

  private receive({ id, bitmap }: Reply): void {
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

  /** Draws the current and all later requests on the page's thread. */
  private fallBack(): void {
    this.thread?.terminate()
    this.thread = null
    const { current } = this
    this.current = null
    if (current && !this.waiting.has(current.canvas)) this.waiting.set(current.canvas, current.job)
    this.next()
  }
}

/** Transfers the bitmap; drawing it would copy it twice. */
function showBitmap(canvas: HTMLCanvasElement, bitmap: ImageBitmap): void {
  const { width, height } = bitmap
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height]
  canvas.getContext('bitmaprenderer')!.transferFromImageBitmap(bitmap)
}

/** Draws on the page's thread. A canvas that has shown a bitmap accepts only bitmaps. */
function drawHere(canvas: HTMLCanvasElement, { drawing, picture }: Job): void {
  const off = typeof OffscreenCanvas === 'undefined' ? null : new OffscreenCanvas(1, 1)
  const sheet = off ?? canvas
  // Setting the size clears a canvas and its transform.
  ;[sheet.width, sheet.height] = pixelsOf(drawing)
  const context = sheet.getContext('2d')!
  place(context, drawing)
  drawScene(context, picture, drawing.scene, 1 / drawing.view.k, drawing.ratio)
  if (off) showBitmap(canvas, off.transferToImageBitmap())
}

let instance: DrawingService | undefined

/** The instance shared by all canvases, created on first use. */
export const drawingService = (): DrawingService => (instance ??= new DrawingService())
