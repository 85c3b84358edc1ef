/**
 * A grid whose links stay in a line and may skip routers: HyperX, flattened butterfly, express mesh.
 *
 * Rows and columns of a pane are the first two axes. Panes stand in a grid of the further axes: the third
 * along rows, the fourth along columns, and so on. A link is an arc over its line, higher if it spans more
 * routers: rightwards above, leftwards below, downwards right, upwards left. Links between two panes share
 * one mark, an arc over the panes.
 */
import { marksFrom } from '../data/aggregate'
import type { Axis, Run } from '../data/run'
import { type Label, MARKS_MAX, type Picture, PLAIN } from './picture'

const SCENE = 1000
/** Free space around a pane as a share of the pane distance, with and without arcs between panes. */
const [MARGIN, NARROW] = [0.17, 0.04]

/** Whether the axes form a full grid and each link changes one axis; a plain router number is no axis. */
export function isLines({ routers, links }: Run): boolean {
  const { axes } = routers
  if (axes.length === 0 || (axes.length === 1 && axes[0]!.name === 'router')) return false
  if (axes.reduce((n, axis) => n * axis.size, 1) !== routers.count) return false
  for (let l = 0; l < links.count; l++)
    if (changes(axes, links.source[l]!, links.target[l]!).length !== 1) return false
  return true
}

const changes = (axes: readonly Axis[], s: number, t: number): number[] =>
  axes.flatMap(({ values }, i) => (values[s] === values[t] ? [] : [i]))

/** Combines several axes into one, the last fastest. */
function foldAxes(axes: readonly Axis[]): { size: number; of: (router: number) => number } {
  return {
    size: axes.reduce((n, axis) => n * axis.size, 1),
    of: (r) => axes.reduce((n, axis) => n * axis.size + axis.values[r]!, 0),
  }
}

/** Sizes and positions of panes and routers. */
function sheet(axes: readonly Axis[]) {
  const further = axes.slice(2)
  const [columns, rows] = [foldAxes(axes.slice(0, 1)), foldAxes(axes.slice(1, 2))]
  const paneColumns = foldAxes(further.filter((_, i) => i % 2 === 0))
  const paneRows = foldAxes(further.filter((_, i) => i % 2 === 1))
  // Arcs along pane rows go above and below, arcs along pane columns left and right.
  const besides = paneRows.size > 1 ? MARGIN : NARROW
  const over = paneColumns.size > 1 ? MARGIN : NARROW
  const pitch = (SCENE - 40) / paneColumns.size
  const step = (pitch * (1 - 2 * besides)) / columns.size
  const [width, height] = [step * columns.size, step * rows.size]
  const rowPitch = height + 2 * over * pitch
  const corner = (column: number, row: number): [number, number] => [
    40 + column * pitch + besides * pitch,
    40 + row * rowPitch + over * pitch,
  ]
  const paneOf = (r: number): number => paneRows.of(r) * paneColumns.size + paneColumns.of(r)
  const panes = Array.from({ length: paneRows.size * paneColumns.size }, (_, p) =>
    corner(p % paneColumns.size, Math.floor(p / paneColumns.size)),
  )
  const arcs = { along: 0.85 * over * pitch, across: 0.85 * besides * pitch }
  return { columns, rows, step, width, height, paneOf, panes, arcs, total: 80 + paneRows.size * rowPitch }
}

export function linesPicture(run: Run): Picture {
  const { routers, links } = run
  const { axes } = routers
  const further = axes.slice(2)
  const { columns, rows, step, width, height, paneOf, panes, arcs, total } = sheet(axes)

  const positions = new Float32Array(2 * routers.count)
  for (let r = 0; r < routers.count; r++) {
    const [x, y] = panes[paneOf(r)]!
    positions[2 * r] = x + (columns.of(r) + 0.5) * step
    positions[2 * r + 1] = y + (rows.of(r) + 0.5) * step
  }
  // If even links within panes are too many, one mark stands for each distance in a line.
  const many = links.count > MARKS_MAX
  const found = new Map<string, number>()
  const curves: number[] = []
  const ofLink = Int32Array.from({ length: links.count }, (_, l) => {
    const [s, t] = [links.source[l]!, links.target[l]!]
    const axis = changes(axes, s, t)[0]!
    const [from, to] = [axes[axis]!.values[s]!, axes[axis]!.values[t]!]
    const between = axis >= 2
    const key = between
      ? `pane ${paneOf(s)} ${paneOf(t)}`
      : many
        ? `line ${axis} ${paneOf(s)} ${axis === 0 ? rows.of(s) : columns.of(s)} ${from} ${to}`
        : `${l}`
    let mark = found.get(key)
    if (mark !== undefined) return mark
    found.set(key, (mark = found.size))
    const forward = to > from ? 1 : -1
    const along = between ? axis % 2 === 0 : axis === 0
    const span = (Math.abs(to - from) / Math.max(1, axes[axis]!.size - 1)) ** 0.7
    if (!between) {
      const bow = 0.08 * step + 0.36 * step * span + 0.04 * step * (links.parallel[l]! % 3)
      curves.push(...arcOver(at(positions, s), at(positions, t), along, forward, bow))
    } else {
      const [edgeX, edgeY] = along ? [0, (height / 2) * -forward] : [(width / 2) * forward, 0]
      const centre = (r: number): [number, number] => {
        const [x, y] = panes[paneOf(r)]!
        return [x + width / 2 + edgeX, y + height / 2 + edgeY]
      }
      curves.push(...arcOver(centre(s), centre(t), along, forward, (along ? arcs.along : arcs.across) * span))
    }
    return mark
  })
  return {
    ...PLAIN,
    width: SCENE,
    height: total,
    marks: marksFrom(ofLink, found.size),
    curves: Float32Array.from(curves),
    taper: [Math.max(0.7, Math.min(2.4, step * 0.045)), Math.max(0.3, Math.min(0.7, step * 0.015))],
    markNoun: many || further.length > 0 ? 'links and bundles of links' : 'links',
    routers: positions,
    routerRadius: Math.min(8, step * 0.16),
    routerLength: step * 0.4,
    frames: panes.map(([x, y]) => ({ x, y, width, height })),
    labels: labelsOf(axes, panes, step, rows.size),
    reading: `${axes.length > 1 ? 'Rows and columns are lines of routers. ' : ''}A link is an arc over its line; higher arcs span more routers. Rightwards is above, leftwards below${axes.length > 1 ? ', downwards right, upwards left' : ''}.${further.length > 0 ? ` All links from one pane to another are one arc over the panes, which stand by ${further.map((axis) => axis.name).join(', ')}.` : ''}`,
  }
}

const at = (positions: Float32Array, r: number): [number, number] => [
  positions[2 * r]!,
  positions[2 * r + 1]!,
]

/** An arc between two places in a row (or column), bowed by `bow` at its middle. */
function arcOver(
  [sx, sy]: readonly [number, number],
  [tx, ty]: readonly [number, number],
  along: boolean,
  forward: number,
  bow: number,
): number[] {
  // A cubic reaches three quarters of the distance to its control points. Rightwards is above, downwards is
  // right.
  const pull = ((along ? -forward : forward) * bow * 4) / 3
  const [dx, dy] = [0.2 * (tx - sx), 0.2 * (ty - sy)]
  return along
    ? [sx, sy, sx + dx, sy + pull, tx - dx, ty + pull, tx, ty]
    : [sx, sy, sx + pull, sy + dy, tx + pull, ty - dy, tx, ty]
}

function labelsOf(
  axes: readonly Axis[],
  panes: readonly (readonly [number, number])[],
  step: number,
  rows: number,
): Label[] {
  const further = axes.slice(2)
  const word = (pane: number): string => {
    // Panes are counted like folded axes: columns from even further axes, rows from odd ones.
    const [even, odd] = [0, 1].map((part) => further.filter((_, i) => i % 2 === part))
    const columns = even!.reduce((n, axis) => n * axis.size, 1)
    const digits = (list: readonly Axis[], n: number): Map<Axis, number> => {
      const found = new Map<Axis, number>()
      for (const axis of [...list].reverse()) {
        found.set(axis, n % axis.size)
        n = Math.floor(n / axis.size)
      }
      return found
    }
    const values = new Map([...digits(even!, pane % columns), ...digits(odd!, Math.floor(pane / columns))])
    return further.map((axis) => `${axis.name}=${values.get(axis)}`).join(' ')
  }
  const [x, y] = panes[0]!
  const labels: Label[] = [
    {
      x: x + (step * axes[0]!.size) / 2,
      y: y + step * rows + 18,
      text: `${axes[0]!.name} →`,
      anchor: 'middle',
      size: 13,
    },
  ]
  if (axes[1])
    labels.push({ x: 2, y: y + (step * rows) / 2, text: `${axes[1].name} ↓`, anchor: 'start', size: 13 })
  if (further.length > 0)
    panes.forEach(([px, py], pane) =>
      labels.push({ x: px, y: py - 4, text: word(pane), anchor: 'start', size: 11 }),
    )
  return labels
}
