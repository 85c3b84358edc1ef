/** Machines built by their published rules, each in its own picture. */
import { describe, expect, test } from 'vitest'
import type { Run } from '../src/data/run'
import { levelsPicture } from '../src/layout/levels'
import { machinePicture } from '../src/layout/machine'
import { MARKS_MAX, type Picture } from '../src/layout/picture'
import { dump } from './dump'
import { edison, fatTree, grid, makeRun, tiny, torus, type Wire } from './machines'

const both = (source: number, target: number, of = 'local'): Wire[] => [
  { source, target, class: of },
  { source: target, target: source, class: of },
]

/** All pairs of each line. */
function hyperx(...dims: number[]): Run {
  const routers = grid(...dims)
  const wires = routers.flatMap((a, i) =>
    routers.flatMap((b, j) => {
      const moved = a.flatMap((v, axis) => (v === b[axis] ? [] : [axis]))
      return moved.length === 1 && i < j ? both(i, j, `x${moved[0]}`) : []
    }),
  )
  const axes = dims.map((_, i) => `x${i}`)
  return makeRun({ name: 'hyperx', shape: 'graph', axes, routers, groupOf: () => 0, wires })
}

/**
 * Over the prime field of q = 4 w + 1: even powers of a primitive element in half 0, odd powers in half 1.
 */
function slimFly(q: number, primitive: number): Run {
  const power = (n: number): number => Array.from({ length: n }).reduce<number>((v) => (v * primitive) % q, 1)
  const generators = [0, 1].map((odd) => Array.from({ length: (q - 1) / 2 }, (_, i) => power(2 * i + odd)))
  const id = (half: number, column: number, row: number): number => (half * q + column) * q + row
  const wires: Wire[] = []
  for (let c = 0; c < q; c++)
    for (let r = 0; r < q; r++) {
      for (const half of [0, 1])
        for (let other = r + 1; other < q; other++)
          if (generators[half]!.includes(other - r)) wires.push(...both(id(half, c, r), id(half, c, other)))
      // (0, c, r) and (1, m, k) iff r = m c + k.
      for (let m = 0; m < q; m++)
        wires.push(...both(id(0, c, r), id(1, m, (r + q * q - m * c) % q), 'global'))
    }
  return makeRun({
    name: 'slim-fly',
    shape: 'graph',
    axes: ['half', 'column', 'row'],
    routers: grid(2, q, q),
    groupOf: () => 0,
    wires,
  })
}

/** Points of the projective plane over a prime field, connected if orthogonal. */
function polarFly(q: number): Run {
  const points = [...grid(q, q).map(([y, z]) => [1, y!, z!]), ...grid(q).map(([z]) => [0, 1, z!]), [0, 0, 1]]
  const wires = points.flatMap((a, i) =>
    points.flatMap((b, j) =>
      i < j && a.reduce((sum, v, k) => sum + v * b[k]!, 0) % q === 0 ? both(i, j) : [],
    ),
  )
  const axes = ['x', 'y', 'z']
  return makeRun({ name: 'polarfly', shape: 'graph', axes, routers: points, groupOf: () => 0, wires })
}

function dragonflyPlus(groups: number, leaves: number, spines: number): Run {
  const a = leaves + spines
  const wires: Wire[] = []
  for (let g = 0; g < groups; g++)
    for (let leaf = 0; leaf < leaves; leaf++)
      for (let s = leaves; s < a; s++) wires.push(...both(g * a + leaf, g * a + s))
  for (let g = 0; g < groups; g++)
    for (let h = g + 1; h < groups; h++)
      for (let s = leaves; s < a; s++) wires.push(...both(g * a + s, h * a + s, 'global'))
  const run = makeRun({
    name: 'dragonfly-plus',
    shape: 'grouped',
    axes: ['group', 'router'],
    routers: grid(groups, a),
    groupOf: (c) => c[0]!,
    wires,
  })
  // Only leaves have nodes.
  const router = run.nodes.router.filter((r) => r % a < leaves)
  return { ...run, nodes: { ...run.nodes, count: router.length, router } }
}

const start = (p: Picture, mark: number) => [p.curves[8 * mark]!, p.curves[8 * mark + 1]!] as const
const middleY = (p: Picture, m: number): number =>
  (p.curves[8 * m + 1]! + 3 * p.curves[8 * m + 3]! + 3 * p.curves[8 * m + 5]! + p.curves[8 * m + 7]!) / 8
const radius = (p: Picture, r: number): number =>
  Math.hypot(p.routers[2 * r]! - 500, p.routers[2 * r + 1]! - 500)

const MACHINES: Record<string, Run> = {
  'HyperX of one dimension': hyperx(5),
  'HyperX 3 x 4': hyperx(3, 4),
  'HyperX 3 x 3 x 4': hyperx(3, 3, 4),
  'HyperX 3 x 2 x 2 x 3': hyperx(3, 2, 2, 3),
  'Slim Fly of q = 5': slimFly(5, 2),
  'PolarFly of q = 5': polarFly(5),
  'Dragonfly+': dragonflyPlus(3, 2, 3),
  'fat tree': fatTree(4, 2),
  torus: torus(4, 4),
}

describe.each(Object.entries(MACHINES))('%s', (_, run) => {
  const picture = machinePicture(run)

  test('each link has one mark, each router its own place inside the scene', () => {
    const counts = new Uint32Array(run.links.count)
    for (const l of picture.marks.links) counts[l]!++
    expect([...counts].every((n) => n === 1)).toBe(true)
    const places = new Set<string>()
    for (let r = 0; r < run.routers.count; r++) {
      const [x, y] = [picture.routers[2 * r]!, picture.routers[2 * r + 1]!]
      places.add(`${x.toFixed(1)},${y.toFixed(1)}`)
      expect(x > 0 && x < picture.width && y > 0 && y < picture.height).toBe(true)
    }
    expect(places.size).toBe(run.routers.count)
    expect(picture.curves.length).toBe(8 * picture.marks.count)
    expect(picture.curves.every((v) => Number.isFinite(v))).toBe(true)
    expect(picture.elsewhere).toBe('')
  })
})

describe('HyperX', () => {
  test('3 x 2 routers as text', () => {
    // Of 1000, 40 are reserved for the label x1 and 4 % for each side: step (960 x 0.92) / 3 = 294.4, first
    // router at half a step.
    expect(dump(machinePicture(hyperx(3, 2)))).toMatchInlineSnapshot(`
      "router 0 at 226,226
      router 1 at 226,520
      router 2 at 520,226
      router 3 at 520,520
      router 4 at 814,226
      router 5 at 814,520
      links 0 from 226,226 to 226,520
      links 1 from 226,520 to 226,226
      links 2 from 226,226 to 520,226
      links 3 from 520,226 to 226,226
      links 4 from 226,226 to 814,226
      links 5 from 814,226 to 226,226
      links 6 from 226,520 to 520,520
      links 7 from 520,520 to 226,520
      links 8 from 226,520 to 814,520
      links 9 from 814,520 to 226,520
      links 10 from 520,226 to 520,520
      links 11 from 520,520 to 520,226
      links 12 from 520,226 to 814,226
      links 13 from 814,226 to 520,226
      links 14 from 520,520 to 814,520
      links 15 from 814,520 to 520,520
      links 16 from 814,226 to 814,520
      links 17 from 814,520 to 814,226
      label x0 → at 520,685
      label x1 ↓ at 2,373"
    `)
  })

  test('higher arcs span more routers; rightwards is above, leftwards below', () => {
    const run = hyperx(4)
    const picture = machinePicture(run)
    const arc = (s: number, t: number): number => {
      const l = run.links.source.findIndex((v, i) => v === s && run.links.target[i] === t)
      return middleY(picture, picture.marks.ofLink[l]!) - picture.routers[1]!
    }
    expect(arc(0, 3)).toBeLessThan(arc(0, 2))
    expect(arc(0, 2)).toBeLessThan(arc(0, 1))
    expect(arc(0, 1)).toBeLessThan(0)
    expect(arc(3, 0)).toBeCloseTo(-arc(0, 3))
  })

  test('links of a third axis share one mark per pair of panes', () => {
    const run = hyperx(3, 3, 4)
    const { marks } = machinePicture(run)
    const third = run.links.classes.indexOf('x2')
    const bundles = new Set(
      [...run.links.class.keys()].filter((l) => run.links.class[l] === third).map((l) => marks.ofLink[l]),
    )
    // 4 panes, 12 ordered pairs with 9 links each.
    expect(bundles.size).toBe(12)
    for (const m of bundles) expect(marks.offsets[m! + 1]! - marks.offsets[m!]!).toBe(9)
  })

  test('too many links are bundled by line', () => {
    const run = hyperx(28, 28)
    expect(run.links.count).toBeGreaterThan(MARKS_MAX)
    // 28 rows and 28 columns of 28 x 27 pairs.
    expect(machinePicture(run).marks.count).toBe(2 * 28 * 28 * 27)
  })
})

describe('Slim Fly', () => {
  const run = slimFly(5, 2)
  const picture = machinePicture(run)

  test('50 routers of 7 ports: halves face each other, columns stand together', () => {
    expect(run.links.count).toBe(50 * 7)
    const y = (r: number): number => picture.routers[2 * r + 1]!
    for (let r = 0; r < 25; r++) expect(y(r)).toBeLessThan(y(r + 25))
    for (let r = 1; r < 25; r++) expect(picture.routers[2 * r]!).toBeGreaterThan(picture.routers[2 * r - 2]!)
    expect(picture.frames.length).toBe(10)
  })

  test('column links are outside, links between halves in the middle', () => {
    for (let l = 0; l < run.links.count; l++) {
      const [s, t] = [run.links.source[l]!, run.links.target[l]!]
      const at = middleY(picture, picture.marks.ofLink[l]!)
      const [top, bottom] = [picture.routers[1]!, picture.routers[2 * 25 + 1]!]
      if (s < 25 === t < 25) expect(s < 25 ? at < top : at > bottom).toBe(true)
      else expect(at > top && at < bottom).toBe(true)
    }
  })
})

describe('PolarFly and random graphs', () => {
  test('7 routers of the projective plane of order 2, as text', () => {
    expect(dump(machinePicture(polarFly(2)))).toMatchInlineSnapshot(`
      "router 0 at 185,838
      router 1 at 500,500
      router 2 at 859,209
      router 3 at 730,516
      router 4 at 270,516
      router 5 at 815,838
      router 6 at 141,209
      links 0 from 185,838 to 270,516
      links 1 from 270,516 to 185,838
      links 2 from 185,838 to 815,838
      links 3 from 815,838 to 185,838
      links 4 from 185,838 to 141,209
      links 5 from 141,209 to 185,838
      links 6 from 500,500 to 730,516
      links 7 from 730,516 to 500,500
      links 8 from 500,500 to 270,516
      links 9 from 270,516 to 500,500
      links 10 from 859,209 to 730,516
      links 11 from 730,516 to 859,209
      links 12 from 859,209 to 141,209
      links 13 from 141,209 to 859,209
      links 14 from 730,516 to 815,838
      links 15 from 815,838 to 730,516
      links 16 from 270,516 to 141,209
      links 17 from 141,209 to 270,516
      label x1y0z1 at 500,520
      label 1 hop: 2 at 500,274
      label 2 hops: 4 at 500,43"
    `)
  })

  test('a quadric in the centre, q routers around it, q outside each: fans of triangles', () => {
    const [q, run] = [5, polarFly(5)]
    const picture = machinePicture(run)
    const circles = new Map<number, number>()
    for (let r = 0; r < run.routers.count; r++) {
      const at = Math.round(radius(picture, r))
      circles.set(at, (circles.get(at) ?? 0) + 1)
    }
    expect([...circles].sort(([a], [b]) => a - b).map(([, n]) => n)).toEqual([1, q, q * q])
    // Of the q routers outside another one, one is a quadric; the others form connected, adjacent pairs.
    const outer = [...Array(run.routers.count).keys()].filter((r) => Math.round(radius(picture, r)) === 462)
    const angle = (r: number): number =>
      (Math.atan2(picture.routers[2 * r]! - 500, 500 - picture.routers[2 * r + 1]!) + 2 * Math.PI) %
      (2 * Math.PI)
    outer.sort((a, b) => angle(a) - angle(b))
    const joined = (a: number, b: number): boolean =>
      run.links.source.some((s, l) => s === a && run.links.target[l] === b)
    let pairs = 0
    for (let i = 1; i < outer.length; i++) if (joined(outer[i - 1]!, outer[i]!)) pairs++
    expect(pairs).toBeGreaterThanOrEqual((q * (q - 1)) / 2)
  })

  test('unreachable routers have their own labelled circle', () => {
    const wires = [...both(0, 1), ...both(1, 2), ...both(3, 4)]
    const run = makeRun({
      name: 'g',
      shape: 'graph',
      axes: ['router'],
      routers: grid(5),
      groupOf: () => 0,
      wires,
    })
    const graph = machinePicture(run)
    // Routers 0, 1 and 2 reach the most; router 1 is their centre.
    expect(graph.labels.map(({ text }) => text)).toEqual(['r1', '1 hop: 2', 'unreachable'])
  })
})

describe('Dragonfly+', () => {
  const run = dragonflyPlus(3, 2, 3)
  const picture = machinePicture(run)

  test('leaves outside, spines inside, arcs between groups from spines', () => {
    for (let r = 0; r < run.routers.count; r++)
      expect(radius(picture, r)).toBeCloseTo(r % 5 < 2 ? 434 : 338, 1)
    for (let l = 0; l < run.links.count; l++) {
      const [x, y] = start(picture, picture.marks.ofLink[l]!)
      const inside = run.routers.group[run.links.source[l]!] === run.routers.group[run.links.target[l]!]
      const from = Math.hypot(x - 500, y - 500)
      if (inside) expect(from).toBeCloseTo(run.links.source[l]! % 5 < 2 ? 426 : 346, 1)
      else expect(from).toBeCloseTo(326, 1)
    }
  })

  test('a dragonfly stays a ring of groups', () => {
    for (const other of [tiny(), edison()]) expect(machinePicture(other).elsewhere).toMatch(/inside groups/)
  })
})

test('a fat-tree pod keeps its horizontal range on all levels', () => {
  // Four pods of two routers on two levels below a top of four.
  const pods = [0, 1].flatMap((level) => grid(4, 2).map(([pod, i]) => [level, pod!, i!]))
  const top = grid(4).map(([i]) => [2, 4, i!])
  const wires = grid(4, 2, 2).flatMap(([pod, low, high]) => both(2 * pod! + low!, 8 + 2 * pod! + high!))
  const up = grid(4, 2, 2).flatMap(([pod, high, i]) => both(8 + 2 * pod! + high!, 16 + 2 * high! + i!))
  const picture = levelsPicture(
    makeRun({
      name: 'tree',
      shape: 'fat-tree',
      axes: ['level', 'pod', 'index'],
      routers: [...pods, ...top],
      groupOf: (c) => c[1]!,
      wires: [...wires, ...up],
    }),
  )
  expect(picture.frames.length).toBe(4)
  for (let r = 0; r < 16; r++) {
    const frame = picture.frames[Math.floor((r % 8) / 2)]!
    const [x, y] = [picture.routers[2 * r]!, picture.routers[2 * r + 1]!]
    expect(x > frame.x && x < frame.x + frame.width && y > frame.y && y < frame.y + frame.height).toBe(true)
  }
  for (let r = 16; r < 20; r++) expect(picture.routers[2 * r + 1]!).toBeLessThan(picture.frames[0]!.y)
})
