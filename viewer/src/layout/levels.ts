/** A fat tree: one row of routers per level, level 0 (with the nodes) at the bottom. */
import { marksFrom } from '../data/aggregate'
import type { Run } from '../data/run'
import { type Label, MARKS_MAX, type Picture, PLAIN } from './picture'

const SCENE = 1000
const LEFT = 104

/** Whether the routers have the axes of a fat tree. */
export function isLevels({ routers }: Run): boolean {
  return ['level', 'pod'].every((name) => routers.axes.some((axis) => axis.name === name))
}

export function levelsPicture(run: Run): Picture {
  const { routers, links } = run
  const level = routers.axes.find((axis) => axis.name === 'level')?.values ?? new Uint32Array(routers.count)
  const levels = level.reduce((n, value) => Math.max(n, value + 1), 1)
  const height = Math.min(SCENE, 190 * levels + 100)
  const y = (l: number): number => height - 70 - (levels > 1 ? (l * (height - 140)) / (levels - 1) : 0)

  const inLevel = Array.from({ length: levels }, () => [] as number[])
  level.forEach((l, r) => inLevel[l]!.push(r))
  const pods = podsOf(run, level, levels)
  const { positions, closest, part } = placeRouters(inLevel, pods, y)

  const bundled = links.count > MARKS_MAX
  const { ofLink, ends } = bundled ? podPairs(run, level) : everyLink(run)
  const curves = new Float32Array(8 * ends.length)
  ends.forEach(([sources, targets], mark) => {
    const middle = (members: readonly number[]): [number, number] => [
      members.reduce((sum, r) => sum + positions[2 * r]!, 0) / members.length,
      positions[2 * members[0]! + 1]!,
    ]
    const [sx, sy] = middle(sources)
    const [tx, ty] = middle(targets)
    const up = ty < sy ? 1 : -1
    // Upward links run right of the straight line, downward ones left, so both are visible.
    const shift = up * Math.min(7, closest * 0.2)
    curves.set(
      [
        sx + shift,
        sy - up * 9,
        sx + shift,
        sy + (ty - sy) * 0.45,
        tx + shift,
        ty - (ty - sy) * 0.45,
        tx + shift,
        ty + up * 9,
      ],
      8 * mark,
    )
  })
  return {
    ...PLAIN,
    width: SCENE,
    height,
    marks: marksFrom(ofLink, ends.length),
    curves,
    taper: [Math.max(0.8, Math.min(2.6, closest * 0.2)), Math.max(0.3, Math.min(0.8, closest * 0.08))],
    markNoun: bundled ? 'pairs of pods' : 'links',
    routers: positions,
    routerRadius: Math.min(7, closest * 0.42),
    routerLength: Math.min(14, closest * 0.84),
    frames: pods.map((pod, p) => ({
      x: LEFT + (p + 0.03) * part,
      y: y(pod.length - 1) - 26,
      width: 0.94 * part,
      height: y(0) - y(pod.length - 1) + 52,
    })),
    labels: [
      ...inLevel.map((members, l): Label => ({
        x: 12,
        y: y(l) + 4,
        text: levelLabel(l, levels),
        anchor: 'start',
        size: 13,
        strong: members.length > 0,
      })),
      ...podLabels(pods.length, part, y(0) + 44),
    ],
    reading: `A link is wide at its source, narrow at its target. Upward links are right of downward links.${pods.length > 0 ? ' A frame is a pod.' : ''}`,
  }
}

/** Router positions, smallest distance within a level, and pod width. */
function placeRouters(
  inLevel: readonly (readonly number[])[],
  pods: readonly (readonly (readonly number[])[])[],
  y: (level: number) => number,
): { positions: Float32Array; closest: number; part: number } {
  const positions = new Float32Array(2 * inLevel.flat().length)
  let closest = SCENE
  const width = SCENE - LEFT - 20
  const place = (members: readonly number[], l: number, from: number, width: number): void => {
    const step = width / Math.max(1, members.length)
    closest = Math.min(closest, step)
    members.forEach((r, i) => {
      positions[2 * r] = from + (i + 0.5) * step
      positions[2 * r + 1] = y(l)
    })
  }
  // A pod keeps its horizontal range on all levels; a level without pods uses the whole width.
  const part = width / Math.max(1, pods.length)
  pods.forEach((pod, p) => {
    pod.forEach((members, l) => place(members, l, LEFT + (p + 0.06) * part, 0.88 * part))
  })
  const inPod = new Set(pods.flat(2))
  inLevel.forEach((members, l) => {
    const rest = members.filter((r) => !inPod.has(r))
    if (rest.length > 0) place(rest, l, LEFT, width)
  })
  return { positions, closest, part }
}

/** Routers by pod and level below the top; empty if a level has only one group, as in a two-level tree. */
function podsOf({ routers }: Run, level: Uint32Array, levels: number): number[][][] {
  const pods = new Map<number, number[][]>()
  for (let r = 0; r < routers.count; r++) {
    if (level[r]! >= levels - 1) continue
    const group = routers.group[r]!
    const pod = pods.get(group) ?? Array.from({ length: levels - 1 }, () => [] as number[])
    pods.set(group, pod)
    pod[level[r]!]!.push(r)
  }
  const found = [...pods].sort(([a], [b]) => a - b).map(([, pod]) => pod)
  return found.length > 1 && found.some((pod) => pod.flat().length > 1) ? found : []
}

function podLabels(pods: number, part: number, y: number): Label[] {
  const stride = Math.max(1, Math.ceil(46 / part))
  return Array.from({ length: pods }, (_, p) => p)
    .filter((p) => p % stride === 0)
    .map((p) => ({ x: LEFT + (p + 0.5) * part, y, text: `pod ${p}`, anchor: 'middle', size: 11 }))
}

function levelLabel(level: number, levels: number): string {
  return levels > 1 && level === levels - 1 ? `top (${level})` : `level ${level}`
}

interface Ends {
  readonly ofLink: Int32Array
  /** Sources and targets of each mark. */
  readonly ends: readonly (readonly [readonly number[], readonly number[]])[]
}

function everyLink(run: Run): Ends {
  const { source, target, count } = run.links
  return {
    ofLink: Int32Array.from({ length: count }, (_, l) => l),
    ends: Array.from({ length: count }, (_, l) => [[source[l]!], [target[l]!]] as const),
  }
}

/** One mark per pair of pods on given levels. */
function podPairs(run: Run, level: Uint32Array): Ends {
  const { source, target, count } = run.links
  const group = run.routers.group
  const key = (r: number): number => group[r]! * 64 + level[r]!
  const found = new Map<number, number>()
  const members: [Set<number>, Set<number>][] = []
  const ofLink = new Int32Array(count)
  for (let l = 0; l < count; l++) {
    const pair = key(source[l]!) * 2 ** 26 + key(target[l]!)
    let mark = found.get(pair)
    if (mark === undefined) {
      mark = members.length
      found.set(pair, mark)
      members.push([new Set(), new Set()])
    }
    members[mark]![0].add(source[l]!)
    members[mark]![1].add(target[l]!)
    ofLink[l] = mark
  }
  return { ofLink, ends: members.map(([s, t]) => [[...s], [...t]] as const) }
}
