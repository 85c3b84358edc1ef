/** Draws the main picture: sectors or frames, routers, curves by value, job bands, highlights. */
import type { MarkValues } from '../data/aggregate'
import type { RankPlaces } from '../data/ranks'
import { FIRST_SHADE, SHADES, type ColorScale } from '../data/scale'
import type { Picture, Ring } from '../layout/picture'
import { visibleMarks, type DrawnMarks } from './account'
import { BUCKETS, drawCurves, line } from './curves'
import type { LookTable } from './look'
import { FONTS, type Pen } from './pen'
import { drawNodes } from './nodes'
import { drawRouters, type RouterData, type RouterLook } from './routers'

const PATH_CABLES = 200
const LABEL_PIXELS = 10

export interface PictureData {
  readonly marks: MarkValues
  readonly scale: ColorScale
  readonly routers: RouterLook
  /** Rank places, if routers are coloured by rank. */
  readonly places: RankPlaces | null
  /** Job number per node, IDLE or SEVERAL. */
  readonly nodes: Int32Array
  /** Traffic by group and job; null if not attributed to jobs. */
  readonly bands: Float64Array | null
  /** Colour by job number. */
  readonly jobColors: readonly string[]
  /** For differences. */
  readonly cables?: CableMarks | null
}

/** Cables that only one of the compared machines has. */
export interface CableMarks {
  readonly curves: Float32Array
  /** Visible marks. */
  readonly removed: readonly number[]
  readonly added: readonly number[]
}

export function drawPicture(
  pen: Pen,
  picture: Picture,
  data: PictureData,
  looks: LookTable,
  pixelSize: number,
): DrawnMarks {
  const drawn = visibleMarks(data.marks)
  drawScene(pen, picture, sceneOf(data, drawn, looks), pixelSize)
  return drawn
}

/** Plain data that describes the look of a picture, for the drawing thread. */
export interface Scene extends RouterData {
  /** Colour bucket per mark, from 1; 0 is not drawn. */
  readonly buckets: Uint8Array
  readonly drawn: number
  readonly diverging: boolean
  readonly nodes: Int32Array
  readonly bands: Float64Array | null
  readonly cables: CableMarks | null
  readonly looks: LookTable
}

export function sceneOf(data: PictureData, { visible, drawn }: DrawnMarks, looks: LookTable): Scene {
  const { marks, scale, routers, jobColors, nodes, bands, cables = null } = data
  const buckets = new Uint8Array(visible.length)
  for (let m = 0; m < visible.length; m++) {
    if (visible[m] === 0) continue
    const shade = scale.shade(marks.values[m]!) - FIRST_SHADE
    buckets[m] = 1 + Math.min(BUCKETS - 1, Math.floor((shade * BUCKETS) / SHADES))
  }
  return { buckets, drawn, diverging: scale.diverging, routers, jobColors, nodes, bands, cables, looks }
}

/** A picture without its link lists. */
export type Shape = Omit<Picture, 'marks'>

/** `pixelSize` is a CSS pixel in scene units, `ratio` the device pixels per CSS pixel. */
export function drawScene(pen: Pen, picture: Shape, scene: Scene, pixelSize: number, ratio = 1): void {
  drawGround(pen, picture, scene, pixelSize / ratio)
  drawRouterLayer(pen, picture, scene, pixelSize)
  drawMarks(pen, picture, scene, pixelSize, ratio)
}

/** The layer that does not change while links are filtered. */
export function drawGround(
  pen: Pen,
  picture: Shape,
  { looks, nodes, jobColors }: Scene,
  /** Screen pixel in scene units. */
  pixel: number,
): void {
  drawFrames(pen, picture, looks)
  for (const ring of picture.rings) {
    drawSectors(pen, ring, looks)
    drawNodes(pen, ring, nodes, jobColors, looks, pixel)
  }
}

/** The layer that does not change while a range is dragged on a large machine. */
export function drawRouterLayer(pen: Pen, picture: Shape, scene: Scene, pixelSize: number): void {
  if (scene.bands) drawBands(pen, picture.rings, scene.bands, scene.jobColors)
  drawRouters(pen, picture, scene, scene.looks, pixelSize)
}

export function drawMarks(pen: Pen, picture: Shape, scene: Scene, pixelSize: number, ratio = 1): void {
  const { looks } = scene
  if (scene.cables) drawCables(pen, scene.cables, looks, pixelSize)
  drawCurves(pen, picture, scene, pixelSize / ratio)
  drawLabels(pen, picture, looks, pixelSize)
}

/** Removed cables dashed, added ones solid; drawn below the changes in colours that no change has. */
function drawCables(
  pen: Pen,
  { curves, removed, added }: CableMarks,
  looks: LookTable,
  pixelSize: number,
): void {
  pen.lineWidth = 0.9 * pixelSize
  for (const [marks, color, dash] of [
    [removed, looks.palette.muted, [3 * pixelSize, 3 * pixelSize]],
    [added, looks.palette.accent, []],
  ] as const) {
    if (marks.length === 0) continue
    pen.globalAlpha = marks.length > 4000 ? 0.3 : marks.length > 500 ? 0.5 : 0.9
    pen.strokeStyle = color
    pen.setLineDash([...dash])
    for (let from = 0; from < marks.length; from += PATH_CABLES) {
      pen.beginPath()
      for (const m of marks.slice(from, from + PATH_CABLES)) line(pen, curves, 8 * m)
      pen.stroke()
    }
  }
  pen.setLineDash([])
  pen.globalAlpha = 1
}

function drawFrames(pen: Pen, picture: Shape, looks: LookTable): void {
  if (picture.frames.length === 0) return
  pen.beginPath()
  for (const { x, y, width, height } of picture.frames) pen.rect(x, y, width, height)
  pen.fillStyle = looks.palette.panel
  pen.fill()
}

function sectorPath(pen: Pen, ring: Ring, start: number, end: number, inner: number, outer: number): void {
  const quarter = Math.PI / 2
  pen.moveTo(ring.x + inner * Math.sin(start), ring.y - inner * Math.cos(start))
  pen.lineTo(ring.x + outer * Math.sin(start), ring.y - outer * Math.cos(start))
  pen.arc(ring.x, ring.y, outer, start - quarter, end - quarter)
  pen.lineTo(ring.x + inner * Math.sin(end), ring.y - inner * Math.cos(end))
  pen.arc(ring.x, ring.y, inner, end - quarter, start - quarter, true)
  pen.closePath()
}

function drawSectors(pen: Pen, ring: Ring, looks: LookTable): void {
  pen.beginPath()
  for (const { start, end } of ring.sectors) sectorPath(pen, ring, start, end, ring.inner, ring.outer)
  pen.fillStyle = looks.palette.panel
  pen.fill()
  pen.strokeStyle = looks.palette.line
  pen.lineWidth = ring.sectors.length > 60 ? 0.3 : 1
  pen.stroke()
}

/**
 * Bands along a group's edge: width is a job's share of the selected traffic, height the traffic relative to
 * the busiest group.
 */
function drawBands(pen: Pen, rings: readonly Ring[], bands: Float64Array, colors: readonly string[]): void {
  const jobs = colors.length
  const sectors = rings.flatMap((ring) => ring.sectors.map((sector) => ({ ring, ...sector })))
  const totals = new Map(
    sectors.map(({ group }) => [
      group,
      bands.subarray(group * jobs, (group + 1) * jobs).reduce((sum, v) => sum + v, 0),
    ]),
  )
  const largest = Math.max(...totals.values())
  if (!(largest > 0)) return
  const drawn = new Map<number, number>()
  for (let job = 0; job < jobs; job++) {
    pen.beginPath()
    let any = false
    for (const { ring, group, start, end } of sectors) {
      const total = totals.get(group)!
      const value = bands[group * jobs + job]!
      if (!(value > 0)) continue
      any = true
      const before = drawn.get(group) ?? 0
      drawn.set(group, before + value)
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

/** Labels shrink less than the picture, to stay readable. */
function drawLabels(pen: Pen, picture: Shape, looks: LookTable, pixelSize: number): void {
  for (const label of picture.labels) {
    const size = Math.max(label.size, LABEL_PIXELS * pixelSize)
    pen.font = `${label.strong ? '600 ' : ''}${size}px ${FONTS}`
    pen.textAlign = label.anchor === 'middle' ? 'center' : label.anchor === 'end' ? 'right' : 'left'
    pen.fillStyle = label.strong ? looks.palette.ink : looks.palette.muted
    pen.fillText(label.text, label.x, label.y + (picture.rings.length > 0 ? size * 0.35 : 0))
  }
}

export interface Highlight {
  readonly marks: readonly number[]
  readonly routers: readonly number[]
  readonly groups: readonly number[]
}

/** Draws hovered and focused marks on top. */
export function drawHighlight(
  pen: Pen,
  picture: Picture,
  highlight: Highlight,
  looks: LookTable,
  pixelSize: number,
): void {
  pen.strokeStyle = looks.palette.ink
  if (picture.rings.length > 0 && highlight.groups.length > 0) {
    pen.beginPath()
    for (const ring of picture.rings)
      for (const { group, start, end } of ring.sectors)
        if (highlight.groups.includes(group))
          sectorPath(pen, ring, start, end, ring.inner - 2, ring.outer + 2)
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
