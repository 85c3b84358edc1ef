/** Groups as sectors of a ring, routers as dots, links between groups as bundled arcs inside. */
import { marksFrom } from '../data/aggregate'
import { axesInside, type Run } from '../data/run'
import { type Label, MARKS_MAX, type Picture, PLAIN, type Ring, type Sector } from './picture'

const CENTRE = 500
const RING_OUTER = 448
const [NODES_INNER, NODES_OUTER] = [450, 456]
const BAND_INNER = 459
const BAND_OUTER = 471
const LABEL = 485
/** With more nodes, ticks are thinner than half a scene unit. */
const NODES_MAX = 6000

export function radialPicture(run: Run): Picture {
  const { routers, links } = run
  const members = groupMembers(run)
  const grids = members.map((routersOfGroup) => grid(run, routersOfGroup))
  const sectors = layoutSectors(grids.map((g) => (g.cells.length === 0 ? 0 : g.rows * g.columns)))
  const rows = Math.max(1, ...grids.map((g) => g.rows))
  const inner = RING_OUTER - Math.min(64, Math.max(16, rows * 8))

  const positions = new Float32Array(routers.count * 2)
  const section = new Float64Array(routers.count)
  const own = new Float64Array(2 * routers.count)
  let radius = 6
  let length = RING_OUTER - inner
  grids.forEach((g, group) => {
    const { start, end } = sectors[group]!
    const [columnAngle, rowHeight] = [(end - start) / g.columns, (RING_OUTER - inner) / g.rows]
    if (g.cells.length > 0) {
      radius = Math.min(radius, 0.42 * Math.min(columnAngle * inner, rowHeight))
      length = Math.min(length, 0.86 * rowHeight)
    }
    g.cells.forEach(([router, column, row]) => {
      const [x, y] = polar(start + (column + 0.5) * columnAngle, RING_OUTER - (row + 0.5) * rowHeight)
      positions[2 * router] = x
      positions[2 * router + 1] = y
      // Each grid column owns an equal part of the inner edge, and each router an equal part of its column.
      section[router] = start + (column + (row + 0.5) / g.rows) * columnAngle
      own[2 * router] = start + (column + row / g.rows) * columnAngle
      own[2 * router + 1] = own[2 * router]! + columnAngle / g.rows
    })
  })

  const between: number[] = []
  for (let l = 0; l < links.count; l++)
    if (routers.group[links.source[l]!] !== routers.group[links.target[l]!]) between.push(l)
  // Single group: every link is an arc.
  const shown =
    between.length > 0 || routers.groups > 1 ? between : Array.from({ length: links.count }, (_, l) => l)
  const arcs =
    shown.length <= MARKS_MAX
      ? singleArcs(run, shown, sectors, section, grids, inner)
      : bundledArcs(run, shown, sectors, inner)
  return {
    ...PLAIN,
    width: 2 * CENTRE,
    height: 2 * CENTRE,
    ...arcs,
    taper: sectors.length > 60 ? [1.6, 0.5] : [2.6, 0.7],
    routers: positions,
    elsewhere: shown === between ? 'inside groups (see the matrices)' : '',
    routerRadius: radius,
    routerLength: length,
    rings: [ringOf(run, sectors, inner, own)],
    labels: sectorLabels(sectors),
    reading: 'An arc is wide at its source, narrow at its target, and drawn on the right of its direction.',
  }
}

/** `own`: the angle range of each router's nodes. */
export function ringOf(run: Run, sectors: readonly Sector[], inner: number, own: Float64Array): Ring {
  return {
    x: CENTRE,
    y: CENTRE,
    inner,
    outer: RING_OUTER,
    bandInner: BAND_INNER,
    bandOuter: BAND_OUTER,
    sectors,
    nodes: run.nodes.count <= NODES_MAX ? nodeAngles(run, own) : null,
    nodeNumbers: Uint32Array.from({ length: run.nodes.count }, (_, n) => n),
    nodesInner: NODES_INNER,
    nodesOuter: NODES_OUTER,
  }
}

/** Nodes of a router share its range evenly. */
function nodeAngles({ nodes, routers }: Run, own: Float64Array): Float64Array {
  const perRouter = new Uint32Array(routers.count)
  const place = nodes.router.map((r) => perRouter[r]!++)
  const angles = new Float64Array(2 * nodes.count)
  nodes.router.forEach((r, n) => {
    const [start, end] = [own[2 * r]!, own[2 * r + 1]!]
    const part = (end - start) / perRouter[r]!
    angles[2 * n] = start + place[n]! * part
    angles[2 * n + 1] = angles[2 * n]! + part
  })
  return angles
}

export function groupMembers(run: Run): number[][] {
  const members = Array.from({ length: run.routers.groups }, () => [] as number[])
  run.routers.group.forEach((group, router) => members[group]!.push(router))
  return members
}

/** Sector angles in proportion to router places; an empty group gets a quarter of the mean. */
export function layoutSectors(sizes: readonly number[]): Sector[] {
  const mean = sizes.reduce((sum, n) => sum + n, 0) / Math.max(1, sizes.filter((n) => n > 0).length)
  const weight = (n: number): number => (n > 0 ? n : mean / 4 || 1)
  const total = sizes.reduce((sum, n) => sum + weight(n), 0)
  const gap = sizes.length === 1 ? 0.02 : Math.min(0.02, (2 * Math.PI * 0.15) / sizes.length)
  let at = 0
  return sizes.map((n, group) => {
    const angle = (2 * Math.PI * weight(n)) / total
    const sector = { group, label: String(group), start: at + gap / 2, end: at + angle - gap / 2 }
    at += angle
    return sector
  })
}

interface Grid {
  readonly rows: number
  readonly columns: number
  /** Router, column, row. */
  readonly cells: readonly (readonly [number, number, number])[]
}

/** Two axes within the group give rows and columns; otherwise routers fill columns of suitable height. */
function grid(run: Run, members: readonly number[]): Grid {
  const inside = axesInside(run.routers.axes)
  if (run.shape === 'grouped' && inside.length === 2) {
    const [row, column] = inside as [(typeof inside)[0], (typeof inside)[0]]
    return {
      rows: row.size,
      columns: column.size,
      cells: members.map((r) => [r, column.values[r]!, row.values[r]!] as const),
    }
  }
  const length = (2 * Math.PI * RING_OUTER) / Math.max(1, run.routers.groups)
  const rows = Math.max(1, Math.min(8, Math.round(Math.sqrt((members.length * 64) / length))))
  const columns = Math.max(1, Math.ceil(members.length / rows))
  return { rows, columns, cells: members.map((r, i) => [r, Math.floor(i / rows), i % rows] as const) }
}

type Arcs = Pick<Picture, 'marks' | 'curves' | 'markNoun'>

function singleArcs(
  run: Run,
  shown: readonly number[],
  sectors: readonly Sector[],
  section: Float64Array,
  grids: readonly Grid[],
  inner: number,
): Arcs {
  const { source, target, parallel } = run.links
  const group = run.routers.group
  const ofLink = new Int32Array(run.links.count).fill(-1)
  const curves = new Float32Array(8 * shown.length)
  let bundle = 1
  for (const l of shown) bundle = Math.max(bundle, parallel[l]! + 1)
  shown.forEach((l, mark) => {
    ofLink[l] = mark
    const [from, to] = [sectors[group[source[l]!]!]!, sectors[group[target[l]!]!]!]
    // Parallel links lie side by side on their router's part of the edge.
    const offset = ((parallel[l]! + 0.5) / bundle - 0.5) * 0.8
    const width = (s: Sector): number => (s.end - s.start) / (grids[s.group]!.columns * grids[s.group]!.rows)
    arc(
      curves,
      8 * mark,
      section[source[l]!]! + offset * width(from),
      section[target[l]!]! + offset * width(to),
      from,
      to,
      inner,
    )
  })
  return { marks: marksFrom(ofLink, shown.length), curves, markNoun: 'links' }
}

export function bundledArcs(
  run: Run,
  shown: readonly number[],
  sectors: readonly Sector[],
  inner: number,
): Arcs {
  const { source, target } = run.links
  const { group, groups } = run.routers
  const ofPair = new Map<number, number>()
  const pairs: number[] = []
  const ofLink = new Int32Array(run.links.count).fill(-1)
  for (const l of shown) {
    const pair = group[source[l]!]! * groups + group[target[l]!]!
    if (!ofPair.has(pair)) {
      ofPair.set(pair, pairs.length)
      pairs.push(pair)
    }
    ofLink[l] = ofPair.get(pair)!
  }
  const curves = new Float32Array(8 * pairs.length)
  pairs.forEach((pair, mark) => {
    const [a, b] = [Math.floor(pair / groups), pair % groups]
    const [from, to] = [sectors[a]!, sectors[b]!]
    // Bundles along a group's edge are sorted by direction, so they leave without crossing.
    const at = (s: Sector, other: number): number =>
      s.end - (((other - s.group + groups) % groups) / groups) * (s.end - s.start)
    arc(curves, 8 * mark, at(from, b), at(to, a), from, to, inner)
  })
  return { marks: marksFrom(ofLink, pairs.length), curves, markNoun: 'pairs of groups' }
}

/** A cubic pulled towards both groups' axes and shifted to the right of its direction. */
export function arc(
  curves: Float32Array,
  at: number,
  start: number,
  end: number,
  from: Sector,
  to: Sector,
  radius: number,
): void {
  const [x0, y0] = polar(start, radius)
  const [x1, y1] = polar(end, radius)
  const [middleFrom, middleTo] = [(from.start + from.end) / 2, (to.start + to.end) / 2]
  const turn = Math.abs(((middleTo - middleFrom + 3 * Math.PI) % (2 * Math.PI)) - Math.PI) / Math.PI
  const pull = radius * (0.74 - 0.5 * turn)
  let [cx0, cy0] = polar(middleFrom, pull)
  let [cx1, cy1] = polar(middleTo, pull)
  const [dx, dy] = [x1 - x0, y1 - y0]
  const length = Math.hypot(dx, dy) || 1
  const shift = Math.min(26, 0.12 * length)
  // With y downwards, the right of (dx, dy) is (-dy, dx).
  cx0 -= (dy / length) * shift
  cy0 += (dx / length) * shift
  cx1 -= (dy / length) * shift
  cy1 += (dx / length) * shift
  curves.set([x0, y0, cx0, cy0, cx1, cy1, x1, y1], at)
}

/** Angle clockwise from the top. */
export function polar(angle: number, radius: number): [number, number] {
  return [CENTRE + radius * Math.sin(angle), CENTRE - radius * Math.cos(angle)]
}

/** All labels that fit: every group up to about 60, then every second, fifth, tenth, ... */
export function sectorLabels(sectors: readonly Sector[]): Label[] {
  const stride = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((s) => sectors.length / s <= 60) ?? 1000
  return (
    sectors
      // The last label must not touch the first, its neighbour on the ring.
      .filter(({ group }) => group % stride === 0 && (group === 0 || sectors.length - group >= stride / 2))
      .map((sector) => {
        const [x, y] = polar((sector.start + sector.end) / 2, LABEL)
        return { x, y, text: sector.label, anchor: 'middle', size: sectors.length > 24 ? 11 : 15 }
      })
  )
}
