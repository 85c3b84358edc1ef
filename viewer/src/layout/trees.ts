/**
 * A Dragonfly+: groups as ring sectors, each a two-level tree. Leaves (with the nodes) are outside, spines
 * inside. Links of a group join both rows; links between groups are arcs between spines.
 */
import { marksFrom } from '../data/aggregate'
import type { Run } from '../data/run'
import { MARKS_MAX, type Picture, PLAIN, type Sector } from './picture'
import { arc, bundledArcs, groupMembers, layoutSectors, polar, ringOf, sectorLabels } from './radial'

const [LEAVES, SPINES, INNER] = [434, 338, 326] as const

/** Whether each router has nodes. */
function leavesOf({ routers, nodes }: Run): Uint8Array {
  const leaf = new Uint8Array(routers.count)
  for (const r of nodes.router) leaf[r] = 1
  return leaf
}

/** Whether only leaves have nodes, only spines link to other groups, and links of a group join both. */
export function isTrees(run: Run): boolean {
  const { routers, links } = run
  if (run.shape !== 'grouped' || routers.groups < 2) return false
  const leaf = leavesOf(run)
  let inside = 0
  for (let l = 0; l < links.count; l++) {
    const [s, t] = [links.source[l]!, links.target[l]!]
    if (routers.group[s] !== routers.group[t]) {
      if (leaf[s] === 1 || leaf[t] === 1) return false
    } else if (leaf[s] === leaf[t]) return false
    else inside++
  }
  return inside > 0
}

export function treesPicture(run: Run): Picture {
  const { routers, links } = run
  const leaf = leavesOf(run)
  const rows = groupMembers(run).map((members) => [
    members.filter((r) => leaf[r] === 1),
    members.filter((r) => leaf[r] === 0),
  ])
  const sectors = layoutSectors(rows.map((row) => Math.max(...row.map((members) => members.length))))
  const positions = new Float32Array(2 * routers.count)
  const angle = new Float64Array(routers.count)
  const own = new Float64Array(2 * routers.count)
  let closest = 40
  rows.forEach((row, group) => {
    const { start, end } = sectors[group]!
    row.forEach((members, level) => {
      const step = (end - start) / members.length
      const radius = level === 0 ? LEAVES : SPINES
      closest = Math.min(closest, step * radius)
      members.forEach((r, i) => {
        angle[r] = start + (i + 0.5) * step
        own.set([start + i * step, start + (i + 1) * step], 2 * r)
        const [x, y] = polar(angle[r], radius)
        positions[2 * r] = x
        positions[2 * r + 1] = y
      })
    })
  })
  const sectorOf = (r: number): Sector => sectors[routers.group[r]!]!
  const all = Array.from({ length: links.count }, (_, l) => l)
  const bundled = links.count > MARKS_MAX
  const between = all.filter((l) => routers.group[links.source[l]!] !== routers.group[links.target[l]!])
  const arcs = bundled ? bundledArcs(run, between, sectors, INNER) : null
  const curves = arcs?.curves ?? new Float32Array(8 * links.count)
  if (!arcs)
    for (const l of all) {
      const [s, t] = [links.source[l]!, links.target[l]!]
      // Parallel links and both directions lie side by side at their router.
      const side = (r: number, right: number): number =>
        angle[r]! + ((right * (0.12 + 0.08 * (links.parallel[l]! % 3)) * closest) / SPINES) * 0.8
      if (leaf[s] === leaf[t]) arc(curves, 8 * l, side(s, 1), side(t, -1), sectorOf(s), sectorOf(t), INNER)
      else {
        const up = leaf[s] === 1 ? 1 : -1
        const [from, to] = leaf[s] === 1 ? [LEAVES - 8, SPINES + 8] : [SPINES + 8, LEAVES - 8]
        const [a, b] = [side(s, up), side(t, up)]
        const bend = (from + to) / 2
        curves.set([...polar(a, from), ...polar(a, bend), ...polar(b, bend), ...polar(b, to)], 8 * l)
      }
    }
  return {
    ...PLAIN,
    width: 1000,
    height: 1000,
    marks: arcs?.marks ?? marksFrom(Int32Array.from(all), links.count),
    curves,
    taper: sectors.length > 40 ? [1.3, 0.4] : [2.2, 0.6],
    markNoun: arcs?.markNoun ?? 'links',
    routers: positions,
    elsewhere: arcs ? 'inside groups (see the matrices)' : '',
    routerRadius: Math.min(6, 0.4 * closest),
    routerLength: 12,
    rings: [ringOf(run, sectors, INNER, own)],
    labels: sectorLabels(sectors),
    reading:
      'A sector is a group: leaves (with nodes) outside, spines inside. A link is wide at its source, narrow at its target. Arcs join spines of two groups.',
  }
}
