/**
 * Any other graph, such as a Jellyfish or PolarFly: circles by hop distance from a central router.
 *
 * The centre is the router with the smallest eccentricity; ties go to the fewest neighbours. A router stands
 * outside its parent, and connected siblings stand together. For a PolarFly, this shows the fans of triangles
 * around a quadric (Lakhotia et al., SC 2022); for a random graph, how fast it expands.
 */
import type { Run } from '../data/run'
import { edges } from './edges'
import { type Label, type Picture, PLAIN } from './picture'

const CENTRE = 500
const OUTER = 462
/** Free angle at the top, for circle labels. */
const FREE = 0.14
/** Maximum number of link steps for finding the centre. */
const STEPS_MAX = 20_000_000

interface Tree {
  readonly hops: Int32Array
  /** Parent of each router; itself for the centre and unreachable routers. */
  readonly parent: Int32Array
  readonly circles: readonly (readonly number[])[]
}

export function hopsPicture(run: Run): Picture {
  const { routers, links } = run
  const around = neighbours(run)
  const root = middle(around)
  const tree = breadthFirst(around, root)
  const angle = angles(tree, around)
  const rings = Math.max(1, tree.circles.length - 1)
  const radiusOf = (hop: number): number => (OUTER * hop) / rings
  const positions = new Float32Array(2 * routers.count)
  for (let r = 0; r < routers.count; r++) {
    const [x, y] = polar(angle[r]!, radiusOf(tree.hops[r]!))
    positions[2 * r] = x
    positions[2 * r + 1] = y
  }
  const branch = branches(tree)
  const { marks, first, bundled } = edges(run, (r) => branch[r]! * (rings + 1) + tree.hops[r]!)
  const curves = new Float32Array(8 * marks.count)
  first.forEach((l, mark) => {
    const [s, t] = [links.source[l]!, links.target[l]!]
    curves.set(curve(angle, radiusOf, tree.hops, s, t), 8 * mark)
  })
  const closest =
    Math.min(...tree.circles.map((all, hop) => (hop === 0 ? OUTER : radiusOf(hop) / all.length))) * 5
  const beyond = tree.hops.some((hop, r) => hop === rings && tree.parent[r] === r && r !== root)
  return {
    ...PLAIN,
    width: 2 * CENTRE,
    height: 2 * CENTRE,
    marks,
    curves,
    taper: [Math.max(0.6, Math.min(2.2, closest * 0.16)), Math.max(0.25, Math.min(0.6, closest * 0.05))],
    markNoun: bundled ? 'bundles between branches' : 'links',
    routers: positions,
    routerRadius: Math.max(0.6, Math.min(8, closest * 0.38)),
    routerLength: 12,
    labels: tree.circles.map((all, hop): Label => {
      const [x, y] = polar(0, radiusOf(hop))
      const apart = beyond && hop === rings
      const text =
        hop === 0
          ? routers.names.at(root)
          : apart
            ? 'unreachable'
            : `${hop} ${hop === 1 ? 'hop' : 'hops'}: ${all.length}`
      return { x, y: hop === 0 ? y + 20 : y + 5, text, anchor: 'middle', size: 12, strong: hop === 0 }
    }),
    reading: `Circles: hops from ${routers.names.at(root)}. Each router stands outside its parent. A link is wide at its source and drawn on the right of its direction.`,
  }
}

function polar(angle: number, radius: number): [number, number] {
  return [CENTRE + radius * Math.sin(angle), CENTRE - radius * Math.cos(angle)]
}

/** Neighbours of each router, ascending, without duplicates. */
function neighbours({ routers, links }: Run): number[][] {
  const sets = Array.from({ length: routers.count }, () => new Set<number>())
  for (let l = 0; l < links.count; l++) {
    sets[links.source[l]!]!.add(links.target[l]!)
    sets[links.target[l]!]!.add(links.source[l]!)
  }
  return sets.map((set) => [...set].sort((a, b) => a - b))
}

/** The centre: reaches most routers, then smallest eccentricity, then fewest neighbours. */
function middle(around: readonly (readonly number[])[]): number {
  const ends = around.reduce((n, list) => n + list.length, 0)
  const candidates = Math.min(around.length, Math.max(1, Math.floor(STEPS_MAX / Math.max(1, ends))))
  if (around.length === 0) return 0
  const rank = (r: number): readonly [number, number, number] => {
    const { circles, parent } = breadthFirst(around, r)
    const apart = parent.reduce((n, of, other) => n + Number(of === other), -1)
    return [apart, circles.length, around[r]!.length]
  }
  let best = 0
  let least = rank(0)
  for (let r = 1; r < candidates; r++) {
    const other = rank(r)
    const first = other.findIndex((v, i) => v !== least[i])
    if (first >= 0 && other[first]! < least[first]!) [best, least] = [r, other]
  }
  return best
}

/** Unreachable routers get an extra circle. */
function breadthFirst(around: readonly (readonly number[])[], root: number): Tree {
  const hops = new Int32Array(around.length).fill(-1)
  const parent = Int32Array.from(around, (_, r) => r)
  hops[root] = 0
  const circles = [[root]]
  for (;;) {
    const next: number[] = []
    for (const r of circles.at(-1)!)
      for (const other of around[r]!) {
        if (hops[other] !== -1) continue
        hops[other] = circles.length
        parent[other] = r
        next.push(other)
      }
    if (next.length === 0) break
    circles.push(next)
  }
  const apart = [...hops.keys()].filter((r) => hops[r] === -1)
  if (apart.length > 0) {
    apart.forEach((r) => (hops[r] = circles.length))
    circles.push(apart)
  }
  return { hops, parent, circles }
}

/** Each router owns part of its parent's angle, in proportion to the leaves of its branch. */
function angles({ parent, circles }: Tree, around: readonly (readonly number[])[]): Float64Array {
  const children = parent.reduce(
    (lists, of, r) => (of === r || lists[of]!.push(r), lists),
    Array.from(parent, () => [] as number[]),
  )
  const weight = new Float64Array(parent.length).fill(1)
  for (const circle of [...circles].reverse())
    for (const r of circle)
      if (children[r]!.length > 0) weight[r] = children[r]!.reduce((sum, c) => sum + weight[c]!, 0)
  const angle = new Float64Array(parent.length)
  const start = new Float64Array(parent.length)
  const spread = (members: readonly number[], from: number, width: number): void => {
    const total = members.reduce((sum, r) => sum + weight[r]!, 0)
    let at = from
    for (const r of groupSiblings(members, around)) {
      const part = (width * weight[r]!) / total
      start[r] = at
      angle[r] = at + part / 2
      weightAngle[r] = part
      at += part
    }
  }
  const weightAngle = new Float64Array(parent.length)
  const round = 2 * Math.PI - 2 * FREE
  const root = circles[0]![0]!
  start[root] = FREE
  weightAngle[root] = round
  for (const circle of circles) {
    const apart = circle.filter((r) => parent[r] === r && r !== root)
    if (apart.length > 0) spread(apart, FREE, round)
    else for (const r of circle) spread(children[r]!, start[r]!, weightAngle[r]!)
  }
  return angle
}

/** Reorders siblings: each is followed by the first remaining one that it is connected to. */
function groupSiblings(members: readonly number[], around: readonly (readonly number[])[]): number[] {
  const left = new Set(members)
  const order: number[] = []
  for (const first of members) {
    for (let r: number | undefined = first; r !== undefined && left.delete(r);) {
      order.push(r)
      r = around[r]!.find((other) => left.has(other))
    }
  }
  return order
}

/** The router on the first circle whose branch contains each router. */
function branches({ parent, circles }: Tree): Int32Array {
  const branch = Int32Array.from(parent, (_, r) => r)
  for (const circle of circles.slice(2)) for (const r of circle) branch[r] = branch[parent[r]!]!
  return branch
}

/** Between circles an S curve; along a circle an inner arc, deeper for larger distance. */
function curve(
  angle: Float64Array,
  radiusOf: (hop: number) => number,
  hops: Int32Array,
  s: number,
  t: number,
): number[] {
  const [rs, rt] = [radiusOf(hops[s]!), radiusOf(hops[t]!)]
  // The centre has no angle.
  const [as, at] = [hops[s] === 0 ? angle[t]! : angle[s]!, hops[t] === 0 ? angle[s]! : angle[t]!]
  const [from, to] = [polar(as, rs), polar(at, rt)]
  const apart = Math.abs(((at - as + 3 * Math.PI) % (2 * Math.PI)) - Math.PI) / Math.PI
  const inner = Math.min(rs, rt)
  const pull = (radius: number): number =>
    rs === rt ? radius * (0.86 - 0.6 * apart) : inner + (radius - inner) * 0.45 - inner * 0.5 * apart
  const [a, b] = [polar(as, pull(rs)), polar(at, pull(rt))]
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]]
  const length = Math.hypot(dx, dy) || 1
  const shift = Math.min(8, 0.06 * length)
  const right = ([x, y]: [number, number]): [number, number] => [
    x - (dy / length) * shift,
    y + (dx / length) * shift,
  ]
  return [...from, ...right(a), ...right(b), ...to]
}
