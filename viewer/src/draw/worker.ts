/** The thread that draws: takes one request at a time and hands back the picture. */
import { pixelsOf, place, type Answer, type Farewell, type Request } from './order'
import { drawGround, drawMarks, type Shape } from './picture'

const shapes = new Map<number, Shape>()
/** What lies below the links, by canvas: a machine's nodes take longer to draw than the few links that a filter leaves. */
const grounds = new Map<number, OffscreenCanvas>()
const canvas = new OffscreenCanvas(1, 1)
const context = canvas.getContext('2d')!

function groundOf(request: Request, shape: Shape): OffscreenCanvas {
  const known = grounds.get(request.canvas)
  if (known && request.sameGround) return known
  const ground = new OffscreenCanvas(...pixelsOf(request))
  const pen = ground.getContext('2d')!
  place(pen, request)
  drawGround(pen, shape, request.scene)
  grounds.set(request.canvas, ground)
  return ground
}

addEventListener('message', ({ data: request }: MessageEvent<Request | Farewell>) => {
  if ('gone' in request) return void grounds.delete(request.gone)
  if (request.shape) shapes.set(request.picture, request.shape)
  const shape = shapes.get(request.picture)!
  // Setting its size empties a canvas, and forgets its transform.
  ;[canvas.width, canvas.height] = pixelsOf(request)
  context.drawImage(groundOf(request, shape), 0, 0)
  place(context, request)
  drawMarks(context, shape, request.scene, 1 / request.view.k, request.ratio)
  const answer: Answer = { id: request.id, bitmap: canvas.transferToImageBitmap() }
  postMessage(answer, { transfer: [answer.bitmap] })
})
