/** Draws the main picture: sectors or frames, routers, curves by value, bands of jobs, highlights. */
import { count } from '../base/format'
import type { MarkValues } from '../data/aggregate'
import { FIRST_SHADE, SHADES, type ColorScale } from '../data/scale'
import { MARKS_MAX, type Picture, type Ring } from '../layout/picture'
import type { Looks } from './look'
import type { Pen } from './pen'
import { drawNodes } from './nodes'
import { drawRouters, type RouterLook } from './routers'

/** Curves of one bucket are one path, filled once: colours are told apart in 25 steps, far finer than thin lines show. */
const BUCKETS = 25
const PATH_RIBBONS = 200
const LABEL_PIXELS = 10

export interface PictureData {
  readonly marks: MarkValues
  readonly scale: ColorScale
  readonly routers: RouterLook
  /** By node: a job's number, IDLE or SEVERAL. */
  readonly nodes: Int32Array
  /** Traffic by group and job; null if jobs are not told apart. */
  readonly bands: Float64Array | null
  /** Colour by job number. */
  readonly jobColors: readonly string[]
  /** Of a difference. */
  readonly cables?: CableMarks | null
}

/** Cables that only one of two compared machines has, as curves of their own. */
export interface CableMarks {
  readonly curves: Float32Array
  /** Marks that are shown. */
  readonly removed: readonly number[]
  readonly added: readonly number[]
}

export interface Drawn {
  /** 1 for a mark that was drawn, and so can be hit. */
  readonly visible: Uint8Array
  readonly drawn: number
  /** Marks with traffic that the filter leaves. */
  readonly wanted: number
}

/** What became of every link: the parts add up to all of them. */
export interface Account {
  readonly drawn: number
  /** Their mark is not among the strongest. */
  readonly weaker: number
  readonly empty: number
  /** Together with others in one mark whose value is zero. */
  readonly balanced: number
  readonly filtered: number
  /** Without a mark in this picture. */
  readonly elsewhere: number
}

export function accountOf(
  picture: Picture,
  marks: MarkValues,
  drawn: Drawn,
  { values, selected }: { readonly values: Float64Array; readonly selected: Uint8Array },
): Account {
  const account = { drawn: 0, weaker: 0, empty: 0, balanced: 0, filtered: 0, elsewhere: 0 }
  const { ofLink } = picture.marks
  for (let l = 0; l < values.length; l++) {
    const mark = ofLink[l]!
    if (selected[l] === 0) account.filtered++
    else if (values[l] === 0) account.empty++
    else if (mark < 0) account.elsewhere++
    else if (drawn.visible[mark] === 1) account.drawn++
    else if (marks.values[mark] === 0) account.balanced++
    else account.weaker++
  }
  return account
}

/** The account in words, after how many marks are drawn. */
export function accountText(account: Account, picture: Picture, signed: boolean): string {
  const all = Object.values(account).reduce((sum, n) => sum + n, 0)
  const parts: [number, string][] = [
    [account.drawn, 'drawn'],
    [account.weaker, 'weaker than those'],
    [account.empty, signed ? 'unchanged' : 'carry nothing'],
    [account.balanced, 'cancel out'],
    [account.filtered, 'filtered away'],
    [account.elsewhere, picture.elsewhere],
  ]
  const said = parts.filter(([n]) => n > 0).map(([n, words]) => `${count(n)} ${words}`)
  return `. Of all ${count(all)} links ${said.join(', ')}`
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
    drawNodes(pen, picture.ring, data.nodes, data.jobColors, looks)
    if (data.bands) drawBands(pen, picture.ring, data.bands, data.jobColors)
  }
  drawRouters(pen, picture, data, looks, pixelSize)
  if (data.cables) drawCables(pen, data.cables, looks, pixelSize)
  const drawn = visibleMarks(data.marks, limit)
  drawCurves(pen, picture, data, looks, drawn)
  drawLabels(pen, picture, looks, pixelSize)
  return drawn
}

/** Removed ones dashed, added ones whole: below the changes, in colours that no change has. */
function drawCables(pen: Pen, { curves, removed, added }: CableMarks, looks: Looks, pixelSize: number): void {
  pen.lineWidth = 0.9 * pixelSize
  for (const [marks, color, dash] of [
    [removed, looks.palette.muted, [3 * pixelSize, 3 * pixelSize]],
    [added, looks.palette.accent, []],
  ] as const) {
    if (marks.length === 0) continue
    pen.globalAlpha = marks.length > 4000 ? 0.3 : marks.length > 500 ? 0.5 : 0.9
    pen.strokeStyle = color
    pen.setLineDash([...dash])
    for (let from = 0; from < marks.length; from += PATH_RIBBONS) {
      pen.beginPath()
      for (const m of marks.slice(from, from + PATH_RIBBONS)) line(pen, curves, 8 * m)
      pen.stroke()
    }
  }
  pen.setLineDash([])
  pen.globalAlpha = 1
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
