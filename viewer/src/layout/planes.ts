/**
 * A torus or mesh: planes of routers unrolled side by side, or the whole machine projected on two of its axes.
 *
 * A plane spans the first two axes (or the two that are projected on); every combination of the others is a plane of its own.
 * A link within the plane is a segment; one that wraps around or leaves the plane is a dashed stub at its source. In a
 * projection links along the axes that one looks down are parts of a ring around their place: every link has its mark.
 */
import { marksFrom } from '../data/aggregate'
import type { Run } from '../data/run'
import type { Frame, Label, Picture, Stacks } from './picture'

const SCENE = 1000
/** Room for the name of the axis that runs down, also where labels are larger than in proportion. */
const MARGIN = 62

/** Pairs of axes that the machine can be projected on, as `x0,x1`. */
export function projections(run: Run): string[] {
  const names = run.routers.axes.map((axis) => axis.name)
  return names.length < 3 ? [] : names.flatMap((a, i) => names.slice(i + 1).map((b) => `${a},${b}`))
}

export function planesPicture(run: Run, projection: string): Picture {
  const { routers, links } = run
  const names = projection === '' ? [] : projection.split(',')
  const chosen = names
    .map((name) => routers.axes.findIndex((axis) => axis.name === name))
    .filter((i) => i >= 0)
  const projected = chosen.length === 2
  const [u, v] = projected ? (chosen as [number, number]) : [0, Math.min(1, routers.axes.length - 1)]
  const flat = routers.axes.length === 1
  const across = routers.axes[u]!
  const down = flat ? { name: '', size: 1, values: new Uint32Array(routers.count) } : routers.axes[v]!
  const others = projected ? [] : routers.axes.filter((_, i) => i !== u && i !== v)
  const planes = others.reduce((n, axis) => n * axis.size, 1)
  const place = placePlanes(planes, across.size, down.size)

  const planeOf = (r: number): number =>
    others.reduce((index, axis) => index * axis.size + axis.values[r]!, 0)
  const positions = new Float32Array(2 * routers.count)
  for (let r = 0; r < routers.count; r++) {
    const [x, y] = place.corner(planeOf(r))
    positions[2 * r] = x + (across.values[r]! + 0.5) * place.step
    positions[2 * r + 1] = y + (down.values[r]! + 0.5) * place.step
  }

  const beyond = projected ? routers.axes.flatMap((_, i) => (i === u || i === v ? [] : [i])) : []
  const curveOf = (s: number, t: number): { curve: number[]; stub: boolean } => {
    const [sx, sy, tx, ty] = [...at(positions, s), ...at(positions, t)]
    if (projected && sx === tx && sy === ty)
      return { curve: ringPart(run, s, t, sx, sy, beyond, place.step), stub: false }
    const near =
      Math.abs(tx - sx) < 1.5 * place.step &&
      Math.abs(ty - sy) < 1.5 * place.step &&
      planeOf(s) === planeOf(t)
    return near
      ? { curve: segment(sx, sy, tx, ty, place.step, projected ? 0.36 : 0.2), stub: false }
      : { curve: stub(run, s, t, sx, sy, u, flat ? -1 : v, place.step), stub: true }
  }
  // Projected links of the same place, axis and direction are one mark.
  const ofKey = new Map<string, number>()
  const curves: number[] = []
  const stubs: number[] = []
  const ofLink = Int32Array.from({ length: links.count }, (_, l) => {
    const [s, t] = [links.source[l]!, links.target[l]!]
    const { axis, sign } = moveOf(run, s, t)
    const key = projected
      ? `${across.values[s]},${down.values[s]},${axis},${sign}`
      : `${s},${t},${links.parallel[l]}`
    let mark = ofKey.get(key)
    if (mark === undefined) {
      ofKey.set(key, (mark = ofKey.size))
      const { curve, stub } = curveOf(s, t)
      stubs.push(stub ? 1 : 0)
      curves.push(...curve)
    }
    return mark
  })
  return {
    width: SCENE,
    height: place.height,
    marks: marksFrom(ofLink, ofKey.size),
    curves: Float32Array.from(curves),
    taper: [Math.max(0.8, place.step * 0.13), Math.max(0.4, place.step * 0.05)],
    stub: Uint8Array.from(stubs),
    markNoun: projected ? 'projected links' : 'links',
    routers: positions,
    stacks: projected ? stacksOf(positions) : null,
    elsewhere: '',
    routerRadius: Math.min(7, place.step * 0.2),
    routerLength: place.step * 0.4,
    ring: null,
    frames: place.frames,
    labels: planeLabels(place, others, across.name, down.name),
    reading: projected
      ? projectedReading(beyond.map((i) => routers.axes[i]!.name))
      : `A segment is wide at its source, narrow at its target. Dashed stubs wrap around (straight) or lead to another plane (diagonal).${others.length > 1 ? ` Planes are numbered by ${others.map((axis) => axis.name).join(', ')}.` : ''}`,
  }
}

/** Kept to the right of its direction, clear of the dots at both ends. */
function segment(sx: number, sy: number, tx: number, ty: number, step: number, from: number): number[] {
  const length = Math.hypot(tx - sx, ty - sy) || 1
  const [dx, dy] = [(tx - sx) / length, (ty - sy) / length]
  const [ox, oy] = [-dy * step * 0.1, dx * step * 0.1]
  const clear = step * from
  const [ax, ay, bx, by] = [
    sx + dx * clear + ox,
    sy + dy * clear + oy,
    tx - dx * clear + ox,
    ty - dy * clear + oy,
  ]
  return [
    ax,
    ay,
    ax + (bx - ax) / 3,
    ay + (by - ay) / 3,
    ax + (2 * (bx - ax)) / 3,
    ay + (2 * (by - ay)) / 3,
    bx,
    by,
  ]
}

const at = (positions: Float32Array, r: number): [number, number] => [
  positions[2 * r]!,
  positions[2 * r + 1]!,
]

/** The axis along which a link runs, and which way: one that wraps around goes on in its direction. */
function moveOf({ routers: { axes } }: Run, s: number, t: number): { axis: number; sign: number } {
  const moved = axes.findIndex((axis) => axis.values[s] !== axis.values[t])
  if (moved < 0) return { axis: 0, sign: 1 }
  const delta = axes[moved]!.values[t]! - axes[moved]!.values[s]!
  return { axis: moved, sign: Math.abs(delta) > 1 ? -Math.sign(delta) : Math.sign(delta) }
}

/**
 * Links along an axis that one looks down: a part of the ring around their place. Each such axis has two parts, one
 * for each direction, clockwise from the top: for one axis the right half for + and the left half for -.
 */
function ringPart(
  run: Run,
  s: number,
  t: number,
  x: number,
  y: number,
  beyond: readonly number[],
  step: number,
): number[] {
  const { axis, sign } = moveOf(run, s, t)
  const parts = 2 * beyond.length
  const part = sign > 0 ? beyond.indexOf(axis) : parts - 1 - beyond.indexOf(axis)
  const [gap, radius] = [0.12, step * 0.3]
  const [from, to] = [(2 * Math.PI * part) / parts + gap, (2 * Math.PI * (part + 1)) / parts - gap]
  // The control points of a cubic curve that keeps to a circle.
  const pull = (4 / 3) * Math.tan((to - from) / 4) * radius
  const on = (angle: number, along: number): [number, number] => [
    x + radius * Math.sin(angle) + along * Math.cos(angle),
    y - radius * Math.cos(angle) + along * Math.sin(angle),
  ]
  return [...on(from, 0), ...on(from, pull), ...on(to, -pull), ...on(to, 0)]
}

/** Routers by the place they are drawn at. */
function stacksOf(positions: Float32Array): Stacks {
  const members: number[][] = []
  const found = new Map<string, number>()
  const of = Int32Array.from({ length: positions.length / 2 }, (_, r) => {
    const key = at(positions, r).join()
    let place = found.get(key)
    if (place === undefined) {
      found.set(key, (place = members.length))
      members.push([])
    }
    members[place]!.push(r)
    return place
  })
  return { of, members }
}

function projectedReading(beyond: readonly string[]): string {
  const ring =
    beyond.length === 1
      ? `half rings around a dot are its links along ${beyond[0]} (right: +, left: −)`
      : `parts of the ring around a dot are its links along ${beyond.join(', ')} (clockwise on the right: +, back on the left: −)`
  return `All planes on one: a mark stands for the links of one place, axis and direction; ${ring}; a dashed stub at the edge wraps around. A dot of several colours is several jobs' routers.`
}

/** Away from the plane: straight out for a wrap along one of its axes, diagonally for a link along another axis. */
function stub(
  run: Run,
  s: number,
  t: number,
  sx: number,
  sy: number,
  u: number,
  v: number,
  step: number,
): number[] {
  const moved = run.routers.axes.findIndex((axis) => axis.values[s] !== axis.values[t])
  const axis = run.routers.axes[moved]!
  const delta = axis.values[t]! - axis.values[s]!
  const wraps = Math.abs(delta) > 1
  const sign = wraps ? -Math.sign(delta) : Math.sign(delta)
  // The axes beyond the plane share the diagonals, each turned a little further.
  const beyond = run.routers.axes.filter((_, i) => i !== u && i !== v).indexOf(axis)
  const angle =
    moved === u
      ? sign > 0
        ? 0
        : Math.PI
      : moved === v
        ? sign > 0
          ? Math.PI / 2
          : -Math.PI / 2
        : (sign > 0 ? -Math.PI / 4 : (3 * Math.PI) / 4) + beyond * 0.35
  const [dx, dy] = [Math.cos(angle), Math.sin(angle)]
  const [ox, oy] = [-dy * step * 0.1, dx * step * 0.1]
  const [from, to] = [step * 0.2, step * (wraps && (moved === u || moved === v) ? 0.48 : 0.4)]
  const point = (d: number): [number, number] => [sx + dx * d + ox, sy + dy * d + oy]
  return [
    ...point(from),
    ...point(from + (to - from) / 3),
    ...point(from + (2 * (to - from)) / 3),
    ...point(to),
  ]
}

interface Placing {
  readonly step: number
  readonly height: number
  readonly columns: number
  readonly frames: readonly Frame[]
  corner(plane: number): [number, number]
}

/** As many columns of planes as give the largest step between routers in a square scene. */
function placePlanes(planes: number, across: number, down: number): Placing {
  let best = { step: 0, columns: 1 }
  for (let columns = 1; columns <= planes; columns++) {
    const rows = Math.ceil(planes / columns)
    const step = Math.min(
      (SCENE - 2 * MARGIN) / (columns * (across + 1) - 1),
      (SCENE - 2 * MARGIN) / (rows * (down + 1.4) - 1),
    )
    if (step > best.step) best = { step, columns }
  }
  const { step, columns } = best
  const corner = (plane: number): [number, number] => [
    MARGIN + (plane % columns) * (across + 1) * step,
    MARGIN + Math.floor(plane / columns) * (down + 1.4) * step + (planes > 1 ? 6 : 0),
  ]
  const frames = Array.from({ length: planes }, (_, plane) => {
    const [x, y] = corner(plane)
    return { x, y, width: across * step, height: down * step }
  })
  const last = frames[frames.length - 1]!
  return { step, columns, corner, frames, height: last.y + last.height + MARGIN }
}

function planeLabels(
  place: Placing,
  others: readonly { name: string; size: number }[],
  across: string,
  down: string,
): Label[] {
  const labels: Label[] = place.frames.map((frame, plane) => {
    let rest = plane
    const parts = [...others].reverse().map((axis) => {
      const value = rest % axis.size
      rest = Math.floor(rest / axis.size)
      // Of several axes the sentence below the picture tells the names.
      return others.length === 1 ? `${axis.name} ${value}` : String(value)
    })
    return {
      x: frame.x,
      y: frame.y - 5,
      text: parts.reverse().join(', '),
      anchor: 'start',
      size: Math.max(9, Math.min(14, place.step * 0.5)),
    }
  })
  const first = place.frames[0]!
  // Above the first plane's own number, if it has one.
  const y = first.y - (others.length > 0 ? 32 : 5)
  labels.push({ x: first.x + first.width, y, text: `${across} →`, anchor: 'end', size: 13 })
  if (down !== '')
    labels.push({ x: first.x - 6, y: first.y + 12, text: `${down} ↓`, anchor: 'end', size: 13 })
  return labels.filter((label) => label.text !== '')
}
