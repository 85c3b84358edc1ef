/** The thread that draws: takes one request at a time and hands back the picture. */
import { pixelsOf, place, type Answer, type Farewell, type Request } from './order'
import { drawGround, drawMarks, drawStands, type Scene, type Shape } from './picture'
import { FONTS, type Pen } from './pen'

/** What is kept of a canvas. */
interface Kept {
  readonly scene: Scene
  /** Pixels of what lies below the links: a machine's nodes take longer to draw than the few links that a filter leaves. */
  ground: OffscreenCanvas | null
  /** The same with bands and routers, made when they stay for a second picture. */
  below: OffscreenCanvas | null
}

const shapes = new Map<number, Shape>()
const canvases = new Map<number, Kept>()
const canvas = new OffscreenCanvas(1, 1)
const context = canvas.getContext('2d')!

// Finding the fonts of labels takes as long as a picture: they are found while there is nothing to draw yet.
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

function keep(request: Request): Kept {
  const old = canvases.get(request.canvas)
  const kept: Kept = {
    scene: { ...old?.scene, ...request.scene } as Scene,
    ground: request.below === 'new' ? null : (old?.ground ?? null),
    below: request.below === 'all' ? (old?.below ?? null) : null,
  }
  canvases.set(request.canvas, kept)
  return kept
}

addEventListener('message', ({ data: request }: MessageEvent<Request | Farewell>) => {
  if ('gone' in request) return void canvases.delete(request.gone)
  if (request.shape) shapes.set(request.picture, request.shape)
  const shape = shapes.get(request.picture)!
  const kept = keep(request)
  const { scene } = kept
  const pixel = 1 / request.view.k
  kept.ground ??= layer(request, null, (pen) => drawGround(pen, shape, scene, pixel / request.ratio))
  if (request.below === 'all')
    kept.below ??= layer(request, kept.ground, (pen) => drawStands(pen, shape, scene, pixel))
  // Setting its size empties a canvas, and forgets its transform.
  ;[canvas.width, canvas.height] = pixelsOf(request)
  context.drawImage(kept.below ?? kept.ground, 0, 0)
  place(context, request)
  if (!kept.below) drawStands(context, shape, scene, pixel)
  drawMarks(context, shape, scene, pixel, request.ratio)
  const answer: Answer = { id: request.id, bitmap: canvas.transferToImageBitmap() }
  postMessage(answer, { transfer: [answer.bitmap] })
})
