/** Draws the main picture: sectors or frames, routers, curves by value, bands of jobs, highlights. */
import type { MarkValues } from '../data/aggregate'
import { IDLE, SEVERAL } from '../data/run'
import { FIRST_SHADE, SHADES, type ColorScale } from '../data/scale'
import { MARKS_MAX, type Picture, type Ring } from '../layout/picture'
import type { Looks } from './look'
import type { Pen } from './pen'

/** Curves of one bucket are one path, filled once: colours are told apart in 25 steps, far finer than thin lines show. */
const BUCKETS = 25
const PATH_RIBBONS = 200
const PATH_ROUTERS = 1000
const LABEL_PIXELS = 10

export interface RouterLook {
  /** Per router: a job's number, IDLE or SEVERAL; used if `shade` is null. */
  readonly job: Int32Array
  /** Per router: a look of the colour scale. */
  readonly shade: Uint8Array | null
  /** 1 for a router with a selected link; null if nothing is filtered. */
  readonly active: Uint8Array | null
  readonly up: Uint8Array
}

export interface PictureData {
  readonly marks: MarkValues
  readonly scale: ColorScale
  readonly routers: RouterLook
  /** Traffic by group and job; null if jobs are not told apart. */
  readonly bands: Float64Array | null
  /** Colour by job number. */
  readonly jobColors: readonly string[]
}

export interface Drawn {
  /** 1 for a mark that was drawn, and so can be hit. */
  readonly visible: Uint8Array
  readonly drawn: number
  /** Marks with traffic that the filter leaves. */
  readonly wanted: number
}

/** What became of the marks that are not drawn, to go on with after how many are. */
export function theRest(drawn: Drawn, picture: Picture): string {
  return drawn.drawn < picture.marks.count ? '; the rest carry nothing or are filtered away' : ''
}

/** Which marks are drawn: all that carry something, the strongest `limit` if there are more. */
export function visibleMarks({ values, selected }: MarkValues, limit = MARKS_MAX): Drawn {
  const visible = new Uint8Array(values.length)
  const sizes = new Float64Array(values.length)
  let wanted = 0
  for (let m = 0; m < values.length; m++)
    if (selected[m]! > 0 && values[m] !== 0) {
      visible[m] = 1
      sizes[wanted++] = Math.abs(values[m]!)
    }
  if (wanted <= limit) return { visible, drawn: wanted, wanted }
  const threshold = sizes.subarray(0, wanted).sort()[wanted - limit]!
  // Of equal ones at the limit, the first are drawn.
  let room = limit
  for (let i = wanted - 1; i >= 0 && sizes[i]! > threshold; i--) room--
  for (let m = 0; m < values.length; m++) {
    const size = Math.abs(values[m]!)
    if (visible[m] === 1 && (size < threshold || (size === threshold && room-- <= 0))) visible[m] = 0
  }
  return { visible, drawn: limit, wanted }
}

export function drawPicture(
  pen: Pen,
  picture: Picture,
  data: PictureData,
  looks: Looks,
  pixelSize: number,
  limit = MARKS_MAX,
): Drawn {
  drawFrames(pen, picture, looks)
  if (picture.ring) {
    drawSectors(pen, picture.ring, looks)
    if (data.bands) drawBands(pen, picture.ring, data.bands, data.jobColors)
  }
  drawRouters(pen, picture, data, looks, pixelSize)
  const drawn = visibleMarks(data.marks, limit)
  drawCurves(pen, picture, data, looks, drawn)
  drawLabels(pen, picture, looks, pixelSize)
  return drawn
}

function drawFrames(pen: Pen, picture: Picture, looks: Looks): void {
  if (picture.frames.length === 0) return
  pen.beginPath()
  for (const { x, y, width, height } of picture.frames) pen.rect(x, y, width, height)
  pen.fillStyle = looks.palette.panel
  pen.fill()
}

function sectorPath(pen: Pen, ring: Ring, start: number, end: number, inner: number, outer: number): void {
  const quarter = Math.PI / 2
  pen.moveTo(ring.centre + inner * Math.sin(start), ring.centre - inner * Math.cos(start))
  pen.lineTo(ring.centre + outer * Math.sin(start), ring.centre - outer * Math.cos(start))
  pen.arc(ring.centre, ring.centre, outer, start - quarter, end - quarter)
  pen.lineTo(ring.centre + inner * Math.sin(end), ring.centre - inner * Math.cos(end))
  pen.arc(ring.centre, ring.centre, inner, end - quarter, start - quarter, true)
  pen.closePath()
}

function drawSectors(pen: Pen, ring: Ring, looks: Looks): void {
  pen.beginPath()
  for (const { start, end } of ring.sectors) sectorPath(pen, ring, start, end, ring.inner, ring.outer)
  pen.fillStyle = looks.palette.panel
  pen.fill()
  pen.strokeStyle = looks.palette.line
  pen.lineWidth = ring.sectors.length > 60 ? 0.3 : 1
  pen.stroke()
}

/** Along a group's edge the jobs' shares of its selected traffic; the band's height is that traffic against the busiest group's. */
function drawBands(pen: Pen, ring: Ring, bands: Float64Array, colors: readonly string[]): void {
  const jobs = colors.length
  const totals = ring.sectors.map((_, g) =>
    bands.subarray(g * jobs, (g + 1) * jobs).reduce((sum, v) => sum + v, 0),
  )
  const largest = Math.max(...totals)
  if (!(largest > 0)) return
  for (let job = 0; job < jobs; job++) {
    pen.beginPath()
    let any = false
    for (const { group, start, end } of ring.sectors) {
      const total = totals[group]!
      const value = bands[group * jobs + job]!
      if (!(value > 0)) continue
      any = true
      let before = 0
      for (let j = 0; j < job; j++) before += bands[group * jobs + j]!
      const [from, to] = [
        start + ((end - start) * before) / total,
        start + ((end - start) * (before + value)) / total,
      ]
      const height = 2 + (ring.bandOuter - ring.bandInner - 2) * (total / largest)
      sectorPath(pen, ring, from, to, ring.bandInner, ring.bandInner + height)
    }
    pen.fillStyle = colors[job]!
    if (any) pen.fill()
  }
}

function drawRouters(
  pen: Pen,
  picture: Picture,
  { routers, jobColors }: PictureData,
  looks: Looks,
  pixelSize: number,
): void {
  const { palette } = looks
  const count = picture.routers.length / 2
  const byColor = new Map<string, number[]>()
  const several: number[] = []
  const down: number[] = []
  for (let r = 0; r < count; r++) {
    if (Number.isNaN(picture.routers[2 * r])) continue
    if (routers.up[r] === 0) {
      down.push(r)
      continue
    }
    const job = routers.job[r]!
    if (routers.shade === null && job === SEVERAL) {
      several.push(r)
      continue
    }
    const color = routers.shade
      ? looks.colors[routers.shade[r]!]!
      : job === IDLE
        ? palette.idle
        : (jobColors[job] ?? palette.idle)
    const list = byColor.get(color)
    if (list) list.push(r)
    else byColor.set(color, [r])
  }
  // A router with a selected link is larger, as soon as something is filtered.
  const radius = (r: number): number =>
    picture.routerRadius * (routers.active !== null && routers.active[r] === 0 ? 0.55 : 1)
  const tiny = picture.routerRadius < 1.1 * pixelSize
  const dot = (r: number, size: number): void => {
    const [x, y] = [picture.routers[2 * r]!, picture.routers[2 * r + 1]!]
    if (tiny) return bar(pen, picture, x, y, (picture.routerLength * size) / picture.routerRadius, pixelSize)
    pen.moveTo(x + size, y)
    pen.arc(x, y, size, 0, 2 * Math.PI)
  }
  // Idle first: where routers share a place, as in a projection, the busy ones are seen.
  const order = [...byColor].sort(([a], [b]) => Number(b === palette.idle) - Number(a === palette.idle))
  for (const [color, list] of order) {
    pen.fillStyle = color
    for (let from = 0; from < list.length; from += PATH_ROUTERS) {
      pen.beginPath()
      for (const r of list.slice(from, from + PATH_ROUTERS)) dot(r, radius(r))
      pen.fill()
    }
  }
  drawSeveral(pen, several, dot, radius, tiny, looks)
  if (down.length === 0) return
  pen.beginPath()
  for (const r of down) {
    const [x, y, s] = [picture.routers[2 * r]!, picture.routers[2 * r + 1]!, picture.routerRadius * 0.8]
    pen.moveTo(x - s, y - s)
    pen.lineTo(x + s, y + s)
    pen.moveTo(x - s, y + s)
    pen.lineTo(x + s, y - s)
  }
  pen.strokeStyle = palette.ink
  pen.lineWidth = Math.max(pixelSize, picture.routerRadius * 0.3)
  pen.stroke()
}

/** Dots below a pixel would fade away: a bar across the ring's row, one pixel wide at least. */
function bar(pen: Pen, picture: Picture, x: number, y: number, length: number, pixelSize: number): void {
  const width = Math.max(pixelSize, 2.3 * picture.routerRadius) / 2
  if (!picture.ring) return pen.rect(x - width, y - width, 2 * width, 2 * width)
  const [dx, dy] = [x - picture.ring.centre, y - picture.ring.centre]
  const size = Math.hypot(dx, dy)
  const [ux, uy] = [((dx / size) * length) / 2, ((dy / size) * length) / 2]
  const [vx, vy] = [(-dy / size) * width, (dx / size) * width]
  pen.moveTo(x - ux - vx, y - uy - vy)
  pen.lineTo(x + ux - vx, y + uy - vy)
  pen.lineTo(x + ux + vx, y + uy + vy)
  pen.lineTo(x - ux + vx, y - uy + vy)
}

/** Several jobs on one router: a ring, so that no job's colour is mistaken for it. */
function drawSeveral(
  pen: Pen,
  list: readonly number[],
  dot: (r: number, size: number) => void,
  radius: (r: number) => number,
  tiny: boolean,
  looks: Looks,
): void {
  if (list.length === 0) return
  pen.beginPath()
  for (const r of list) dot(r, radius(r))
  pen.fillStyle = looks.palette.ink
  pen.fill()
  if (tiny) return
  pen.beginPath()
  for (const r of list) dot(r, radius(r) * 0.5)
  pen.fillStyle = looks.palette.background
  pen.fill()
}

function drawCurves(
  pen: Pen,
  picture: Picture,
  { marks, scale }: PictureData,
  looks: Looks,
  drawn: Drawn,
): void {
  const buckets = Array.from({ length: BUCKETS }, () => [] as number[])
  for (let m = 0; m < picture.marks.count; m++) {
    if (drawn.visible[m] === 0) continue
    const shade = scale.shade(marks.values[m]!) - FIRST_SHADE
    buckets[Math.min(BUCKETS - 1, Math.floor((shade * BUCKETS) / SHADES))]!.push(m)
  }
  pen.globalAlpha = drawn.drawn > 4000 ? 0.6 : drawn.drawn > 800 ? 0.75 : 0.92
  for (const bucket of bucketOrder(scale.diverging)) {
    const list = buckets[bucket]!
    if (list.length === 0) continue
    const color = looks.colors[FIRST_SHADE + Math.floor(((bucket + 0.5) * SHADES) / BUCKETS)]!
    pen.fillStyle = color
    let dashed = false
    let inPath = 0
    pen.beginPath()
    for (const m of list) {
      if (picture.stub?.[m] === 1) {
        dashed = true
        continue
      }
      ribbon(pen, picture.curves, 8 * m, picture.taper)
      // The cost of a path grows faster than its length: 2,000 ribbons in one take longer than in ten.
      if (++inPath % PATH_RIBBONS === 0) {
        pen.fill()
        pen.beginPath()
      }
    }
    pen.fill()
    if (!dashed) continue
    pen.beginPath()
    for (const m of list) if (picture.stub?.[m] === 1) line(pen, picture.curves, 8 * m)
    pen.strokeStyle = color
    pen.lineWidth = picture.taper[0] * 0.8
    pen.setLineDash([picture.taper[0] * 1.2, picture.taper[0] * 0.8])
    pen.stroke()
    pen.setLineDash([])
  }
  pen.globalAlpha = 1
}

/** Large values last, so that they lie on top; on a diverging scale both ends are large. */
function bucketOrder(diverging: boolean): number[] {
  const order = Array.from({ length: BUCKETS }, (_, b) => b)
  const middle = (BUCKETS - 1) / 2
  return diverging ? order.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle)) : order
}

/** All ribbons run round in the same sense, so that overlapping ones in a path unite instead of cancelling. */
function ribbon(pen: Pen, c: Float32Array, i: number, [wide, narrow]: readonly [number, number]): void {
  const [x0, y0, x1, y1, x2, y2, x3, y3] = [
    c[i]!,
    c[i + 1]!,
    c[i + 2]!,
    c[i + 3]!,
    c[i + 4]!,
    c[i + 5]!,
    c[i + 6]!,
    c[i + 7]!,
  ]
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

function line(pen: Pen, c: Float32Array, i: number): void {
  pen.moveTo(c[i]!, c[i + 1]!)
  pen.bezierCurveTo(c[i + 2]!, c[i + 3]!, c[i + 4]!, c[i + 5]!, c[i + 6]!, c[i + 7]!)
}

/** In a small picture labels are larger than in proportion: they stay readable. */
function drawLabels(pen: Pen, picture: Picture, looks: Looks, pixelSize: number): void {
  for (const label of picture.labels) {
    const size = Math.max(label.size, LABEL_PIXELS * pixelSize)
    pen.font = `${label.strong ? '600 ' : ''}${size}px system-ui, sans-serif`
    pen.textAlign = label.anchor === 'middle' ? 'center' : label.anchor === 'end' ? 'right' : 'left'
    pen.fillStyle = label.strong ? looks.palette.ink : looks.palette.muted
    pen.fillText(label.text, label.x, label.y + (picture.ring ? size * 0.35 : 0))
  }
}

export interface Highlight {
  readonly marks: readonly number[]
  readonly routers: readonly number[]
  readonly groups: readonly number[]
}

/** What is hovered or focused, over the picture. */
export function drawHighlight(
  pen: Pen,
  picture: Picture,
  highlight: Highlight,
  looks: Looks,
  pixelSize: number,
): void {
  const { ring } = picture
  pen.strokeStyle = looks.palette.ink
  if (ring && highlight.groups.length > 0) {
    pen.beginPath()
    for (const g of highlight.groups) {
      const sector = ring.sectors[g]
      if (sector) sectorPath(pen, ring, sector.start, sector.end, ring.inner - 2, ring.outer + 2)
    }
    pen.lineWidth = 2 * pixelSize
    pen.stroke()
  }
  if (highlight.marks.length > 0) {
    pen.beginPath()
    for (const m of highlight.marks) line(pen, picture.curves, 8 * m)
    pen.lineWidth = Math.max(picture.taper[0], 2.5 * pixelSize)
    pen.stroke()
  }
  if (highlight.routers.length > 0) {
    pen.beginPath()
    for (const r of highlight.routers) {
      const [x, y] = [picture.routers[2 * r]!, picture.routers[2 * r + 1]!]
      const size = picture.routerRadius + 2.5 * pixelSize
      pen.moveTo(x + size, y)
      pen.arc(x, y, size, 0, 2 * Math.PI)
    }
    pen.lineWidth = 2 * pixelSize
    pen.stroke()
  }
}
