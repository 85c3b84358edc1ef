/**
 * Draws links as curves: wide at the source, narrow at the target, coloured by value.
 *
 * Curves wider than a pixel are filled ribbons. Thinner ones are stroked in three pieces of decreasing width:
 * browsers draw lines of at most a pixel (Skia hairlines) without building an outline. 20,000 arcs across a
 * ring of 620 pixels on the CPU: 2,100 ms as ribbons, 200 per path; 800 ms, 20 per path; 90 ms as hairlines.
 * WebGL2 is no faster without a GPU.
 */
import { FIRST_SHADE, SHADES } from '../data/scale'
import type { Picture } from '../layout/picture'
import { HOLE } from './look'
import type { Pen } from './pen'
import type { Scene } from './picture'

/** Number of curve colours; far more than thin lines can show. */
export const BUCKETS = 25
/** Curves per path: the cost of a ribbon path grows faster than its length, the cost of hairlines does not. */
const [PATH_RIBBONS, PATH_LINES] = [20, 400]
const PIECES = 3
/** Above this many arcs in a ring, which overlap anyway, all are hairlines. */
const RIBBONS_MAX = 4000
/** Just below one pixel: at exactly one, rounding would decide between hairline and outline. */
const HAIRLINE = 0.99

export function drawCurves(
  pen: Pen,
  picture: Pick<Picture, 'curves' | 'taper' | 'stub' | 'rings' | 'apart'>,
  { buckets, drawn, diverging, looks }: Pick<Scene, 'buckets' | 'drawn' | 'diverging' | 'looks'>,
  /** Screen pixel in scene units. */
  pixel: number,
): void {
  const { curves, stub, taper, apart = false } = picture
  const { marks, starts } = byBucket(buckets)
  pen.globalAlpha = drawn > 4000 && !apart ? 0.6 : drawn > 800 && !apart ? 0.75 : 0.92
  const thinned = picture.rings.length > 0 && drawn > RIBBONS_MAX
  const hair = thinned || taper[0] <= pixel
  const scale = Math.min(1, (HAIRLINE * pixel) / taper[0])
  for (const bucket of bucketOrder(diverging)) {
    const all = marks.subarray(starts[bucket], starts[bucket + 1])
    if (all.length === 0) continue
    const look = FIRST_SHADE + Math.floor(((bucket + 0.5) * SHADES) / BUCKETS)
    const [color, hollow] = [looks.colors[look]!, looks.hollow[look] === 1]
    const whole = stub ? all.filter((m) => stub[m] !== 1) : all
    if (hair) hairlines(pen, curves, whole, [taper[0] * scale, taper[1] * scale], color, hollow)
    else {
      ribbons(pen, curves, whole, taper, color)
      if (hollow) ribbons(pen, curves, whole, [HOLE * taper[0], 0], looks.palette.background)
    }
    if (whole.length < all.length) {
      const stubs = all.filter((m) => stub![m] === 1)
      dashes(pen, curves, stubs, 0.8 * taper[0], taper[0], color)
      if (hollow) dashes(pen, curves, stubs, 0.8 * HOLE * taper[0], taper[0], looks.palette.background)
    }
  }
  pen.globalAlpha = 1
}

/** Marks sorted by bucket; bucket b starts at `starts[b]`. */
function byBucket(of: Uint8Array): { marks: Uint32Array; starts: Uint32Array } {
  const starts = new Uint32Array(BUCKETS + 2)
  for (let m = 0; m < of.length; m++) starts[of[m]! + 1]!++
  for (let b = 1; b < starts.length; b++) starts[b]! += starts[b - 1]!
  const next = starts.slice()
  const marks = new Uint32Array(of.length)
  for (let m = 0; m < of.length; m++) marks[next[of[m]!]!++] = m
  // Bucket 0 holds marks that are not drawn.
  return { marks, starts: starts.subarray(1) }
}

/** Drawing order: large values last, on top. On a diverging scale, both ends are large. */
function bucketOrder(diverging: boolean): number[] {
  const order = Array.from({ length: BUCKETS }, (_, b) => b)
  const middle = (BUCKETS - 1) / 2
  return diverging ? order.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle)) : order
}

type Taper = readonly [number, number]

/**
 * Strokes the piece t = p/3 to (p + 1)/3 of all curves at once, since pieces of one p share a width. A line
 * too thin to be hollow is broken instead: its pieces do not meet.
 */
function hairlines(
  pen: Pen,
  curves: Float32Array,
  marks: Uint32Array,
  [wide, narrow]: Taper,
  color: string,
  broken: boolean,
): void {
  pen.strokeStyle = color
  for (let piece = 0; piece < PIECES; piece++) {
    const [from, to] = [piece / PIECES, (piece + (broken ? 0.7 : 1)) / PIECES]
    pen.lineWidth = wide + (narrow - wide) * ((from + to) / 2)
    for (let start = 0; start < marks.length; start += PATH_LINES) {
      pen.beginPath()
      const end = Math.min(marks.length, start + PATH_LINES)
      for (let i = start; i < end; i++) part(pen, curves, 8 * marks[i]!, from, to)
      pen.stroke()
    }
  }
}

/** The part of a cubic between two parameters: its control points are the polar form at s and t. */
function part(pen: Pen, c: Float32Array, i: number, s: number, t: number): void {
  pen.moveTo(polar(c, i, s, s, s), polar(c, i + 1, s, s, s))
  pen.bezierCurveTo(
    polar(c, i, s, s, t),
    polar(c, i + 1, s, s, t),
    polar(c, i, s, t, t),
    polar(c, i + 1, s, t, t),
    polar(c, i, t, t, t),
    polar(c, i + 1, t, t, t),
  )
}

/**
 * Polar form of the coordinates at i, i + 2, i + 4 and i + 6. Called twenty times per curve, so it allocates
 * nothing.
 */
function polar(c: Float32Array, i: number, u: number, v: number, w: number): number {
  const b = c[i + 2]!
  const d = c[i + 4]!
  const bd = b + (d - b) * u
  const ab = c[i]! + (b - c[i]!) * u
  const abd = ab + (bd - ab) * v
  const bde = bd + (d + (c[i + 6]! - d) * u - bd) * v
  return abd + (bde - abd) * w
}

function ribbons(pen: Pen, curves: Float32Array, marks: Uint32Array, taper: Taper, color: string): void {
  pen.fillStyle = color
  for (let start = 0; start < marks.length; start += PATH_RIBBONS) {
    pen.beginPath()
    const end = Math.min(marks.length, start + PATH_RIBBONS)
    for (let i = start; i < end; i++) ribbon(pen, curves, 8 * marks[i]!, taper)
    pen.fill()
  }
}

/** All ribbons have the same orientation: overlapping ones in a path then unite instead of cancelling. */
function ribbon(pen: Pen, c: Float32Array, i: number, [wide, narrow]: Taper): void {
  const [x0, y0, x1, y1] = [c[i]!, c[i + 1]!, c[i + 2]!, c[i + 3]!]
  const [x2, y2, x3, y3] = [c[i + 4]!, c[i + 5]!, c[i + 6]!, c[i + 7]!]
  const n0 = normal(x1 - x0, y1 - y0, wide / 2)
  const n1 = normal(x3 - x2, y3 - y2, narrow / 2)
  const [mx, my] = normal(x2 - x1, y2 - y1, (wide + narrow) / 4)
  pen.moveTo(x0 + n0[0], y0 + n0[1])
  pen.bezierCurveTo(x1 + mx, y1 + my, x2 + mx, y2 + my, x3 + n1[0], y3 + n1[1])
  pen.lineTo(x3 - n1[0], y3 - n1[1])
  pen.bezierCurveTo(x2 - mx, y2 - my, x1 - mx, y1 - my, x0 - n0[0], y0 - n0[1])
}

function normal(dx: number, dy: number, length: number): [number, number] {
  const size = Math.hypot(dx, dy) || 1
  return [(-dy / size) * length, (dx / size) * length]
}

function dashes(
  pen: Pen,
  curves: Float32Array,
  marks: Uint32Array,
  width: number,
  step: number,
  color: string,
): void {
  pen.beginPath()
  for (const m of marks) line(pen, curves, 8 * m)
  pen.strokeStyle = color
  pen.lineWidth = width
  pen.setLineDash([step * 1.2, step * 0.8])
  pen.stroke()
  pen.setLineDash([])
}

export function line(pen: Pen, c: Float32Array, i: number): void {
  pen.moveTo(c[i]!, c[i + 1]!)
  pen.bezierCurveTo(c[i + 2]!, c[i + 3]!, c[i + 4]!, c[i + 5]!, c[i + 6]!, c[i + 7]!)
}
