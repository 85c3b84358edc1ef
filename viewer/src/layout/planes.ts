/**
 * A torus or mesh: planes of routers unrolled side by side, or the whole machine projected on two of its axes.
 *
 * A plane spans the first two axes (or the two that are projected on); every combination of the others is a plane of its own.
 * A link within the plane is a segment; one that wraps around or leaves the plane is a dashed stub at its source.
 */
import { marksFrom } from '../data/aggregate'
import type { Run } from '../data/run'
import type { Frame, Label, Picture } from './picture'

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

  // Projected links of the same place and direction are one mark.
  const ofKey = new Map<string, number>()
  const ofLink = new Int32Array(links.count).fill(-1)
  const curves: number[] = []
  const stubs: number[] = []
  for (let l = 0; l < links.count; l++) {
    const [s, t] = [links.source[l]!, links.target[l]!]
    const key = projected
      ? `${across.values[s]},${down.values[s]},${across.values[t]},${down.values[t]}`
      : `${s},${t},${links.parallel[l]}`
    if (projected && across.values[s] === across.values[t] && down.values[s] === down.values[t]) continue
    let mark = ofKey.get(key)
    if (mark === undefined) {
      mark = ofKey.size
      ofKey.set(key, mark)
      const [sx, sy, tx, ty] = [
        positions[2 * s]!,
        positions[2 * s + 1]!,
        positions[2 * t]!,
        positions[2 * t + 1]!,
      ]
      const near =
        Math.abs(tx - sx) < 1.5 * place.step &&
        Math.abs(ty - sy) < 1.5 * place.step &&
        planeOf(s) === planeOf(t)
      stubs.push(near ? 0 : 1)
      curves.push(
        ...(near
          ? segment(sx, sy, tx, ty, place.step)
          : stub(run, s, t, sx, sy, u, flat ? -1 : v, place.step)),
      )
    }
    ofLink[l] = mark
  }
  return {
    width: SCENE,
    height: place.height,
    marks: marksFrom(ofLink, ofKey.size),
    curves: Float32Array.from(curves),
    taper: [Math.max(0.8, place.step * 0.13), Math.max(0.4, place.step * 0.05)],
    stub: Uint8Array.from(stubs),
    markNoun: projected ? 'projected links' : 'links',
    routers: positions,
    routerRadius: Math.min(7, place.step * 0.2),
    routerLength: place.step * 0.4,
    ring: null,
    frames: place.frames,
    labels: planeLabels(place, others, across.name, down.name),
    reading: projected
      ? `All planes on one: a segment stands for the links of one place and direction. A dashed stub at the edge wraps around.`
      : `A segment is wide at its source, narrow at its target. Dashed stubs wrap around (straight) or lead to another plane (diagonal).${others.length > 1 ? ` Planes are numbered by ${others.map((axis) => axis.name).join(', ')}.` : ''}`,
  }
}

/** Kept to the right of its direction, clear of the dots at both ends. */
function segment(sx: number, sy: number, tx: number, ty: number, step: number): number[] {
  const length = Math.hypot(tx - sx, ty - sy) || 1
  const [dx, dy] = [(tx - sx) / length, (ty - sy) / length]
  const [ox, oy] = [-dy * step * 0.1, dx * step * 0.1]
  const clear = step * 0.2
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
