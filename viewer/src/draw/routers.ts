/** Draws routers as dots by job, value or rank; also shared, stacked and failed ones. */
import { IDLE, SEVERAL } from '../data/run'
import type { Picture, Ring, Stacks } from '../layout/picture'
import { HOLE, type LookTable } from './look'
import type { Pen } from './pen'

const PATH_ROUTERS = 1000

export interface RouterLook {
  /** Job number per router, IDLE or SEVERAL; used if `shade` is null. */
  readonly job: Int32Array
  /** Look per router, from the colour scale or the rank scale. */
  readonly shade: Uint8Array | null
  /** Whether `shade` holds ranks. */
  readonly ranked: boolean
  /** 1 for a router with a selected link; null without a filter. */
  readonly active: Uint8Array | null
  readonly up: Uint8Array
}

export interface RouterData {
  readonly routers: RouterLook
  /** Colour by job number. */
  readonly jobColors: readonly string[]
}

export function drawRouters(
  pen: Pen,
  picture: Omit<Picture, 'marks'>,
  { routers, jobColors }: RouterData,
  looks: LookTable,
  pixelSize: number,
): void {
  const { palette } = looks
  if (picture.stacks) return drawStacks(pen, picture, picture.stacks, { routers, jobColors }, looks)
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
      ? (routers.ranked ? looks.ranks : looks.colors)[routers.shade[r]!]!
      : job === IDLE
        ? palette.idle
        : (jobColors[job] ?? palette.idle)
    const list = byColor.get(color)
    if (list) list.push(r)
    else byColor.set(color, [r])
  }
  // Routers with a selected link are larger if a filter is active.
  const radius = (r: number): number =>
    picture.routerRadius * (routers.active !== null && routers.active[r] === 0 ? 0.55 : 1)
  const tiny = picture.routerRadius < 1.1 * pixelSize
  const bars = tiny && picture.rings.length > 0
  // Bars of one pixel are drawn as hairlines (see curves.ts).
  const width = Math.max(0.99 * pixelSize, 2.3 * picture.routerRadius)
  pen.lineWidth = width
  const dot = (r: number, size: number): void => {
    const [x, y] = [picture.routers[2 * r]!, picture.routers[2 * r + 1]!]
    if (bars)
      return bar(
        pen,
        nearestRing(picture.rings, x, y),
        x,
        y,
        (picture.routerLength * size) / picture.routerRadius,
      )
    if (tiny) return pen.rect(x - width / 2, y - width / 2, width, width)
    pen.moveTo(x + size, y)
    pen.arc(x, y, size, 0, 2 * Math.PI)
  }
  // Idle routers first: at a shared place, the busy ones stay visible.
  const order = [...byColor].sort(([a], [b]) => Number(b === palette.idle) - Number(a === palette.idle))
  for (const [color, list] of order) {
    pen.fillStyle = pen.strokeStyle = color
    for (let from = 0; from < list.length; from += PATH_ROUTERS) {
      pen.beginPath()
      for (const r of list.slice(from, from + PATH_ROUTERS)) dot(r, radius(r))
      if (bars) pen.stroke()
      else pen.fill()
    }
  }
  if (!tiny) drawHoles(pen, picture, routers, (r) => dot(r, HOLE * radius(r)), looks)
  drawSeveral(pen, several, dot, radius, bars ? 'bars' : tiny ? 'tiny' : 'dots', looks)
  drawFailed(pen, picture, down, looks, pixelSize)
}

/** Draws a cross per failed router. */
function drawFailed(
  pen: Pen,
  picture: Omit<Picture, 'marks'>,
  down: readonly number[],
  { palette }: LookTable,
  pixelSize: number,
): void {
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

/** Decreases are hollow. */
function drawHoles(
  pen: Pen,
  picture: Omit<Picture, 'marks'>,
  { shade, ranked, up }: RouterLook,
  hole: (r: number) => void,
  { hollow, palette }: LookTable,
): void {
  if (!shade || ranked) return
  pen.fillStyle = palette.background
  pen.beginPath()
  for (let r = 0; r < shade.length; r++)
    if (hollow[shade[r]!] === 1 && up[r] === 1 && !Number.isNaN(picture.routers[2 * r])) hole(r)
  pen.fill()
}

/** Dots below a pixel would fade: draw a bar across the row, at least one pixel wide. */
function nearestRing(rings: readonly Ring[], x: number, y: number): Ring {
  const distance = (ring: Ring): number => Math.hypot(x - ring.x, y - ring.y)
  return rings.reduce((best, ring) => (distance(ring) < distance(best) ? ring : best))
}

function bar(pen: Pen, ring: Ring, x: number, y: number, length: number): void {
  const [dx, dy] = [x - ring.x, y - ring.y]
  const size = Math.hypot(dx, dy)
  const [ux, uy] = [((dx / size) * length) / 2, ((dy / size) * length) / 2]
  pen.moveTo(x - ux, y - uy)
  pen.lineTo(x + ux, y + uy)
}

/** A router with several jobs is a ring in a neutral colour. */
function drawSeveral(
  pen: Pen,
  list: readonly number[],
  dot: (r: number, size: number) => void,
  radius: (r: number) => number,
  shape: 'dots' | 'tiny' | 'bars',
  looks: LookTable,
): void {
  if (list.length === 0) return
  pen.beginPath()
  for (const r of list) dot(r, radius(r))
  pen.fillStyle = pen.strokeStyle = looks.palette.ink
  if (shape === 'bars') pen.stroke()
  else pen.fill()
  if (shape !== 'dots') return
  pen.beginPath()
  for (const r of list) dot(r, radius(r) * 0.5)
  pen.fillStyle = looks.palette.background
  pen.fill()
}

/** Routers at one place: a pie of their jobs or ranks, or the look of the largest value. */
function drawStacks(
  pen: Pen,
  picture: Omit<Picture, 'marks'>,
  { members }: Stacks,
  { routers, jobColors }: RouterData,
  looks: LookTable,
): void {
  for (const stack of members) {
    const [x, y] = [picture.routers[2 * stack[0]!]!, picture.routers[2 * stack[0]! + 1]!]
    const active = routers.active === null || stack.some((r) => routers.active![r] === 1)
    const radius = picture.routerRadius * (active ? 1 : 0.55)
    let from = -Math.PI / 2
    for (const [color, count] of stackColors(stack, routers, jobColors, looks)) {
      const to = from + (2 * Math.PI * count) / stack.length
      pen.beginPath()
      if (count < stack.length) pen.moveTo(x, y)
      pen.arc(x, y, radius, from, to)
      pen.closePath()
      pen.fillStyle = color
      pen.fill()
      from = to
    }
  }
}

/** Colours of a stack with router counts: jobs in order, then several, idle and failed. */
function stackColors(
  stack: readonly number[],
  { job, shade, ranked, up }: RouterLook,
  jobColors: readonly string[],
  { palette, colors, ranks }: LookTable,
): [string, number][] {
  if (shade && !ranked)
    return [[colors[stack.reduce((most, r) => Math.max(most, shade[r]!), 0)]!, stack.length]]
  const counts = new Map<number, number>()
  if (shade && ranked) {
    for (const r of stack) counts.set(shade[r]!, (counts.get(shade[r]!) ?? 0) + 1)
    return [...counts].sort(([a], [b]) => a - b).map(([look, count]) => [ranks[look]!, count])
  }
  const failed = jobColors.length + 2
  const rank = (r: number): number =>
    up[r] === 0
      ? failed
      : job[r] === IDLE
        ? jobColors.length + 1
        : job[r] === SEVERAL
          ? jobColors.length
          : job[r]!
  for (const r of stack) counts.set(rank(r), (counts.get(rank(r)) ?? 0) + 1)
  const others = [palette.ink, palette.idle, palette.background]
  return [...counts]
    .sort(([a], [b]) => a - b)
    .map(([key, count]) => [jobColors[key] ?? others[key - jobColors.length]!, count])
}
