/**
 * A torus or mesh: planes side by side, or projected onto two axes.
 *
 * A plane spans the first two (or the projected) axes; each combination of the other axes is a plane. A link
 * within a plane is a segment. One that wraps around or leaves the plane is a dashed stub at its source. In a
 * projection, links along hidden axes are parts of a ring around their place, so every link has a mark.
 *
 * Above 16 routers a side, segments are too thin to see. Then a router is a cell, and its outgoing links
 * within the plane are the four edges.
 */
import { moveOf } from '../data/direction'
import { marksFrom } from '../data/aggregate'
import type { Projection } from '../data/projection'
import type { Axis, Run } from '../data/run'
import { at, shiftParallel, paneLabels, paneOf, placePanes, SCENE, segment, stubTo } from './lattice'
import { type Picture, PLAIN, type Stacks } from './picture'

export function planesPicture(run: Run, { kind, across: u, down: v }: Projection): Picture {
  const { routers, links } = run
  const projected = kind === 'flat'
  const flat = routers.axes.length === 1
  const across = routers.axes[u]!
  const down = flat ? { name: '', size: 1, values: new Uint32Array(routers.count) } : routers.axes[v]!
  const others = projected ? [] : routers.axes.filter((_, i) => i !== u && i !== v)
  const planes = others.reduce((n, axis) => n * axis.size, 1)
  const place = placePanes(planes, across.size, down.size)
  const celled = !projected && Math.max(across.size, down.size) > SIDE_MAX

  const planeOf = paneOf(others)
  const positions = new Float32Array(2 * routers.count)
  for (let r = 0; r < routers.count; r++) {
    const [x, y] = place.corner(planeOf(r))
    positions[2 * r] = x + (across.values[r]! + 0.5) * place.step
    positions[2 * r + 1] = y + (down.values[r]! + 0.5) * place.step
  }

  const bundle = 1 + links.parallel.reduce((most, p) => Math.max(most, p), 0)
  const beyond = projected ? routers.axes.flatMap((_, i) => (i === u || i === v ? [] : [i])) : []
  const curveOf = (s: number, t: number, parallel: number): { curve: number[]; stub: boolean } => {
    const [sx, sy, tx, ty] = [...at(positions, s), ...at(positions, t)]
    if (projected && sx === tx && sy === ty)
      return { curve: ringPart(run, s, t, sx, sy, beyond, place.step), stub: false }
    if (celled) return cellMark(run, [s, t, parallel, bundle], [sx, sy], [u, flat ? -1 : v], place.step)
    const near =
      Math.abs(tx - sx) < 1.5 * place.step &&
      Math.abs(ty - sy) < 1.5 * place.step &&
      planeOf(s) === planeOf(t)
    return near
      ? { curve: segment(sx, sy, tx, ty, place.step, projected ? 0.36 : 0.2), stub: false }
      : { curve: stub(run, s, t, sx, sy, u, flat ? -1 : v, place.step), stub: true }
  }
  const { ofLink, first } = projected ? samePlaces(run, across, down) : eachLink(links.count)
  const curves = new Float32Array(8 * first.length)
  const stubs = new Uint8Array(first.length)
  for (let mark = 0; mark < first.length; mark++) {
    const l = first[mark]!
    const parallel = links.parallel[l]!
    const { curve, stub } = curveOf(links.source[l]!, links.target[l]!, parallel)
    stubs[mark] = stub ? 1 : 0
    curves.set(projected || celled ? curve : shiftParallel(curve, parallel, place.step), 8 * mark)
  }
  return {
    ...PLAIN,
    width: SCENE,
    height: place.height,
    marks: marksFrom(ofLink, first.length),
    curves,
    taper: celled
      ? [place.step * EDGE, place.step * EDGE]
      : [clamp(place.step * 0.13, 0.8, 10), clamp(place.step * 0.05, 0.4, 4)],
    stub: stubs,
    markNoun: projected ? 'projected links' : 'links',
    routers: positions,
    apart: !projected,
    stacks: projected ? stacksOf(positions) : null,
    routerRadius: celled ? place.step * 0.15 : Math.min(7, place.step * 0.2),
    routerLength: place.step * 0.4,
    frames: place.frames,
    labels: paneLabels(place, others, across.name, down.name),
    reading: projected
      ? projectedReading(beyond.map((i) => routers.axes[i]!.name))
      : `${celled ? cellReading(across.name, flat ? '' : down.name, others.length > 0) : SEGMENTS}${others.length > 1 ? ` Planes are labelled with ${others.map((axis) => axis.name).join(', ')}.` : ''}`,
  }
}

/** Mark of each link, and one link per mark. */
interface MarkTable {
  readonly ofLink: Int32Array
  readonly first: ArrayLike<number>
}

function eachLink(count: number): MarkTable {
  const ofLink = new Int32Array(count)
  for (let l = 0; l < count; l++) ofLink[l] = l
  return { ofLink, first: ofLink }
}

/** Projected links of one place, axis and direction share a mark. */
function samePlaces(run: Run, across: Axis, down: Axis): MarkTable {
  const { links, routers } = run
  const known = new Int32Array(across.size * down.size * routers.axes.length * 2).fill(-1)
  const first: number[] = []
  const ofLink = new Int32Array(links.count)
  for (let l = 0; l < links.count; l++) {
    const s = links.source[l]!
    const { axis, sign } = moveOf(run, s, links.target[l]!)
    const place = across.values[s]! * down.size + down.values[s]!
    const key = 2 * (place * routers.axes.length + axis) + (sign > 0 ? 1 : 0)
    if (known[key] === -1) known[key] = first.push(l) - 1
    ofLink[l] = known[key]!
  }
  return { ofLink, first }
}

const clamp = (value: number, least: number, most: number): number => Math.max(least, Math.min(most, value))

const SEGMENTS =
  'A link is wide at its source, narrow at its target. Dashed stubs: wraparound (straight), to another plane (diagonal).'

/** Planes with more routers per side use cells. */
const SIDE_MAX = 16
/** Edge width, distance from the router and half length, in router steps. */
const [EDGE, EDGE_AWAY, EDGE_HALF] = [0.21, 0.37, 0.36]

/**
 * A link in the plane is the edge on its side, also if it wraps around; a link leaving the plane is a stub
 * inside the cell. Parallel cables share an edge.
 *
 * Args:
 * link: Its routers, its number among parallel links, and their maximum count.
 * axes: Horizontal and vertical axis; -1 for none.
 */
function cellMark(
  run: Run,
  [s, t, parallel, bundle]: readonly [number, number, number, number],
  [x, y]: readonly [number, number],
  [u, v]: readonly [number, number],
  step: number,
): { curve: number[]; stub: boolean } {
  const { axis, sign } = moveOf(run, s, t)
  if (axis !== u && axis !== v) {
    const stub = stubTo(x, y, beyondAngle(run, axis, sign, u, v), step, 0.17, 0.29)
    return { curve: shiftParallel(stub, parallel, step), stub: true }
  }
  const away = sign * EDGE_AWAY * step
  const on = (share: number): [number, number] => {
    const along = ((2 * (parallel + 0.04 + 0.92 * share)) / bundle - 1) * EDGE_HALF * step
    return axis === u ? [x + away, y + along] : [x + along, y + away]
  }
  return { curve: [...on(0), ...on(1 / 3), ...on(2 / 3), ...on(1)], stub: false }
}

function cellReading(across: string, down: string, planes: boolean): string {
  const sides =
    down === ''
      ? `right ${across}+, left ${across}−`
      : `right ${across}+, left ${across}−, below ${down}+, above ${down}−`
  return `A cell is a router, its edges are outgoing links: ${sides}. Edges at the border of a plane wrap around.${planes ? ' Dashed stubs inside a cell lead to other planes.' : ''}`
}

/**
 * Links along a hidden axis: part of the ring around their place. Each hidden axis has two parts, one per
 * direction, clockwise from the top. A single axis uses the right half for + and the left half for -.
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
  // Control points of a cubic along a circle.
  const pull = (4 / 3) * Math.tan((to - from) / 4) * radius
  const on = (angle: number, along: number): [number, number] => [
    x + radius * Math.sin(angle) + along * Math.cos(angle),
    y - radius * Math.cos(angle) + along * Math.sin(angle),
  ]
  return [...on(from, 0), ...on(from, pull), ...on(to, -pull), ...on(to, 0)]
}

/** Groups routers by drawn place. */
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
      ? `Half rings around a dot: links along ${beyond[0]} (right +, left −)`
      : `Ring parts around a dot: links along ${beyond.join(', ')} (right half +, left half −)`
  return `All planes on top of each other. A mark stands for the links of one place, axis and direction. ${ring}. Dashed stubs at the edge wrap around. A dot of several colours has routers of several jobs.`
}

/** A stub away from the plane: straight for a wraparound along a plane axis, diagonal for another axis. */
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
  const { axis: moved, sign, wraps } = moveOf(run, s, t)
  const angle =
    moved === u
      ? sign > 0
        ? 0
        : Math.PI
      : moved === v
        ? sign > 0
          ? Math.PI / 2
          : -Math.PI / 2
        : beyondAngle(run, moved, sign, u, v)
  return stubTo(sx, sy, angle, step, 0.2, wraps && (moved === u || moved === v) ? 0.48 : 0.4)
}

/** Hidden axes share the diagonals, each turned a little further. */
function beyondAngle({ routers }: Run, axis: number, sign: number, u: number, v: number): number {
  const beyond = routers.axes.flatMap((_, i) => (i === u || i === v ? [] : [i])).indexOf(axis)
  return (sign > 0 ? -Math.PI / 4 : (3 * Math.PI) / 4) + beyond * 0.35
}
