/** The drawing thread: handles one request at a time and returns a bitmap. */
import { pixelsOf, place, type Reply, type CanvasRemoval, type Request } from './messages'
import { drawGround, drawMarks, drawRouterLayer, type Scene, type Shape } from './picture'
import { FONTS, type Pen } from './pen'

/** Cached state of a canvas. */
interface CanvasCache {
  readonly scene: Scene
  /** Layer below the links. Drawing all nodes takes longer than the few links that a filter leaves. */
  ground: OffscreenCanvas | null
  /** The same with bands and routers; created when they stay unchanged for a second picture. */
  below: OffscreenCanvas | null
}

const shapes = new Map<number, Shape>()
const canvases = new Map<number, CanvasCache>()
const canvas = new OffscreenCanvas(1, 1)
const context = canvas.getContext('2d')!

// The first font lookup takes as long as a picture: do it while idle.
for (const weight of ['', '600 ']) {
  context.font = `${weight}10px ${FONTS}`
  context.fillText('0', 0, 0)
}

function layer(request: Request, under: OffscreenCanvas | null, draw: (pen: Pen) => void): OffscreenCanvas {
  const made = new OffscreenCanvas(...pixelsOf(request))
  const pen = made.getContext('2d')!
  if (under) pen.drawImage(under, 0, 0)
  place(pen, request)
  draw(pen)
  return made
}

function updateCache(request: Request): CanvasCache {
  const old = canvases.get(request.canvas)
  const cache: CanvasCache = {
    scene: { ...old?.scene, ...request.scene } as Scene,
    ground: request.below === 'new' ? null : (old?.ground ?? null),
    below: request.below === 'all' ? (old?.below ?? null) : null,
  }
  canvases.set(request.canvas, cache)
  return cache
}

addEventListener('message', ({ data: request }: MessageEvent<Request | CanvasRemoval>) => {
  if ('gone' in request) return void canvases.delete(request.gone)
  if (request.shape) shapes.set(request.picture, request.shape)
  const shape = shapes.get(request.picture)!
  const cache = updateCache(request)
  const { scene } = cache
  const pixel = 1 / request.view.k
  cache.ground ??= layer(request, null, (pen) => drawGround(pen, shape, scene, pixel / request.ratio))
  if (request.below === 'all')
    cache.below ??= layer(request, cache.ground, (pen) => drawRouterLayer(pen, shape, scene, pixel))
  // Setting the size clears a canvas and its transform.
  ;[canvas.width, canvas.height] = pixelsOf(request)
  context.drawImage(cache.below ?? cache.ground, 0, 0)
  place(context, request)
  if (!cache.below) drawRouterLayer(context, shape, scene, pixel)
  drawMarks(context, shape, scene, pixel, request.ratio)
  const reply: Reply = { id: request.id, bitmap: canvas.transferToImageBitmap() }
  postMessage(reply, { transfer: [reply.bitmap] })
})
