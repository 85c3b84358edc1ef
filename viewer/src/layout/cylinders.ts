/**
 * A torus viewed along one axis: Landge et al., "Visualizing Network Traffic to Understand the Performance of
 * Massively Parallel Simulations" (InfoVis 2012), draw Blue Gene in this form.
 *
 * The plane across the view is split into shells, the outline first. A shell through all planes is a
 * cylinder: its routers lie on concentric squares, one per coordinate along the view, the first innermost.
 * Inner shells lie inside. Links along the view are radial, links along a side of a shell concentric. All
 * others (between shells, across a shell, around the ends, to other panes) are dashed stubs at their source.
 */
import { moveOf } from '../data/direction'
import { count } from '../base/format'
import { marksFrom } from '../data/aggregate'
import type { Projection } from '../data/projection'
import type { Axis, Run } from '../data/run'
import { at, shiftParallel, paneLabels, paneOf, placePanes, segment, stubTo, type PaneGrid } from './lattice'
import { type Box, type Label, type Picture, PLAIN } from './picture'

/** How a link is drawn. */
export type Role = 'radial' | 'concentric' | 'stub'

/** Gap between cylinders and in the middle, in steps between squares. */
const GAP = 1.5
const CENTRE = 1

interface Tube {
  readonly across: Axis
  readonly down: Axis
  readonly along: Axis
  readonly shells: number
  /** Half side of the outermost square with stubs, in steps between squares. */
  readonly radius: number
}

function tubeOf({ routers: { axes } }: Run, { across, down, along }: Projection): Tube {
  const [u, v, w] = [axes[across]!, axes[down]!, axes[along]!]
  const shells = Math.ceil(Math.min(u.size, v.size) / 2)
  return { across: u, down: v, along: w, shells, radius: CENTRE + shells * (w.size + GAP) }
}

/** Distance of a router from the outline of its plane. */
export function shellOf({ across, down }: Pick<Tube, 'across' | 'down'>, r: number): number {
  const [u, v] = [across.values[r]!, down.values[r]!]
  return Math.min(u, across.size - 1 - u, v, down.size - 1 - v)
}

/** Half side of the square of a shell and a coordinate along the view. */
const sideOf = ({ shells, along }: Tube, shell: number, coordinate: number): number =>
  CENTRE + (shells - 1 - shell) * (along.size + GAP) + coordinate

/**
 * Place on a square of half side 1. A shell that is one router wide uses one side only, so its squares do not
 * overlap.
 */
function onSquare({ across, down }: Tube, r: number, shell: number): [number, number] {
  const [width, height] = [across.size - 2 * shell - 1, down.size - 2 * shell - 1]
  const part = (value: number, of: number): number => (2 * (value - shell)) / of - 1
  if (width === 0 && height === 0) return [1, 0]
  return [width === 0 ? 1 : part(across.values[r]!, width), height === 0 ? 1 : part(down.values[r]!, height)]
}

/** Whether a link within a plane follows a side of its shell. */
function alongSide(tube: Tube, s: number, t: number, axis: Axis): boolean {
  const shell = shellOf(tube, s)
  if (shell !== shellOf(tube, t)) return false
  const other = axis === tube.across ? tube.down : tube.across
  const value = other.values[s]!
  return value === shell || value === other.size - 1 - shell
}

/** Role of each link, in link order. */
export function rolesOf(run: Run, projection: Projection): Role[] {
  const tube = tubeOf(run, projection)
  const { source, target, count } = run.links
  return Array.from({ length: count }, (_, l) => {
    const [s, t] = [source[l]!, target[l]!]
    const { axis: index, wraps } = moveOf(run, s, t)
    const axis = run.routers.axes[index]!
    if (wraps) return 'stub'
    if (axis === tube.along) return 'radial'
    return (axis === tube.across || axis === tube.down) && alongSide(tube, s, t, axis) ? 'concentric' : 'stub'
  })
}

export function cylindersPicture(run: Run, projection: Projection): Picture {
  const { routers, links } = run
  const tube = tubeOf(run, projection)
  const others = routers.axes.filter((axis) => ![tube.across, tube.down, tube.along].includes(axis))
  const panes = others.reduce((n, axis) => n * axis.size, 1)
  const place = placePanes(panes, 2 * tube.radius, 2 * tube.radius)
  const positions = placeRouters(run, tube, place, paneOf(others))
  const roles = rolesOf(run, projection)

  const ofKey = new Map<string, number>()
  const curves: number[] = []
  const stubs: number[] = []
  const ofLink = Int32Array.from({ length: links.count }, (_, l) => {
    const [s, t] = [links.source[l]!, links.target[l]!]
    const key = `${s},${t},${links.parallel[l]}`
    let mark = ofKey.get(key)
    if (mark === undefined) {
      ofKey.set(key, (mark = ofKey.size))
      const stub = roles[l] === 'stub'
      stubs.push(stub ? 1 : 0)
      const curve = stub
        ? stubOf(run, projection, s, t, positions, place)
        : segment(...at(positions, s), ...at(positions, t), place.step, 0.2)
      curves.push(...shiftParallel(curve, links.parallel[l]!, place.step))
    }
    return mark
  })
  return {
    ...PLAIN,
    width: 1000,
    height: place.height,
    marks: marksFrom(ofLink, ofKey.size),
    curves: Float32Array.from(curves),
    taper: [Math.max(0.6, place.step * 0.13), Math.max(0.3, place.step * 0.05)],
    stub: Uint8Array.from(stubs),
    markNoun: 'links',
    routers: positions,
    routerRadius: Math.min(7, place.step * 0.26),
    routerLength: place.step * 0.4,
    frames: place.frames.flatMap((frame) => bandsOf(frame, tube, place)),
    labels: [...paneLabels(place, others, tube.across.name, tube.down.name), outwards(place, tube)],
    reading: readingOf(roles, tube, others),
  }
}

function placeRouters(run: Run, tube: Tube, place: PaneGrid, pane: (r: number) => number): Float32Array {
  const positions = new Float32Array(2 * run.routers.count)
  for (let r = 0; r < run.routers.count; r++) {
    const frame = place.frames[pane(r)]!
    const shell = shellOf(tube, r)
    const [x, y] = onSquare(tube, r, shell)
    const side = sideOf(tube, shell, tube.along.values[r]!) * place.step
    positions[2 * r] = frame.x + frame.width / 2 + x * side
    positions[2 * r + 1] = frame.y + frame.height / 2 + y * side
  }
  return positions
}

/**
 * Stubs are turned slightly off the axes, which the segments use: within the plane towards the target, around
 * the ends outwards or inwards, to other panes diagonally.
 */
function stubOf(
  run: Run,
  { across, down, along }: Projection,
  s: number,
  t: number,
  positions: Float32Array,
  { frames, step }: PaneGrid,
): number[] {
  const { axis, sign } = moveOf(run, s, t)
  const [x, y] = at(positions, s)
  const back = sign > 0 ? 0 : Math.PI
  const angle = (): number => {
    if (axis === across) return back + 0.3
    if (axis === down) return Math.PI / 2 + back + 0.3
    if (axis === along) {
      const frame = frames.find((f) => x >= f.x && x <= f.x + f.width && y >= f.y && y <= f.y + f.height)!
      return Math.atan2(y - frame.y - frame.height / 2, x - frame.x - frame.width / 2) + back + 0.75
    }
    const beyond = run.routers.axes.flatMap((_, i) => ([across, down, along].includes(i) ? [] : [i]))
    return -Math.PI / 4 + back + beyond.indexOf(axis) * 0.35
  }
  return stubTo(x, y, angle(), step, 0.2, 0.5)
}

/** A frame around each cylinder. */
function bandsOf(frame: Box, tube: Tube, { step }: PaneGrid): Box[] {
  return Array.from({ length: tube.shells }, (_, shell) => {
    const half = (sideOf(tube, shell, tube.along.size - 1) + 0.7) * step
    const [x, y] = [frame.x + frame.width / 2 - half, frame.y + frame.height / 2 - half]
    return { x, y, width: 2 * half, height: 2 * half }
  })
}

function outwards({ frames }: PaneGrid, { along }: Tube): Label {
  const [first, last] = [frames[0]!, frames[frames.length - 1]!]
  return {
    x: first.x,
    y: last.y + last.height + 16,
    text: `${along.name} increases outwards`,
    anchor: 'start',
    size: 13,
  }
}

function readingOf(roles: readonly Role[], tube: Tube, others: readonly Axis[]): string {
  const number = (role: Role): string => count(roles.filter((of) => of === role).length)
  const panes =
    others.length === 0
      ? ''
      : ` One pane per ${others.map((axis) => axis.name).join(', ')}; links to other panes are also stubs.`
  return (
    `View along ${tube.along.name}. Of ${count(roles.length)} links, ${number('radial')} along it are radial, ` +
    `${number('concentric')} follow a side of their square, ${number('stub')} are dashed stubs at their source ` +
    `(between cylinders, across one, or wraparound).${panes}`
  )
}
