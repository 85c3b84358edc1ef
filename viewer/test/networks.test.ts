/** Network planes are separate machines, drawn side by side. */
import { describe, expect, test } from 'vitest'
import { machinePicture } from '../src/layout/machine'
import { networksOf } from '../src/layout/networks'
import { grid, makeRun, type Wire } from './machines'

/** Two planes of three groups of two routers; in each plane, one cable inside a group and between two groups. */
const PLANES = 2
const wires: Wire[] = []
for (let plane = 0; plane < PLANES; plane++) {
  const at = (group: number, router: number): number => 6 * plane + 2 * group + router
  const cable = (a: number, b: number, name: string): number =>
    wires.push({ source: a, target: b, class: name }, { source: b, target: a, class: name })
  for (let group = 0; group < 3; group++) {
    cable(at(group, 0), at(group, 1), 'local')
    cable(at(group, 1), at((group + 1) % 3, 0), 'global')
  }
}
const run = makeRun({
  name: 'planes',
  shape: 'graph',
  axes: ['plane', 'group_in_plane', 'seat'],
  routers: grid(PLANES, 3, 2),
  groupOf: ([plane, group]) => 3 * plane! + group!,
  wires,
  jobs: ['a'],
  jobOf: (n) => (n % 6 < 4 ? 0 : -1),
  traffic: () => [1],
})

describe('two network planes', () => {
  const picture = machinePicture(run)

  test('are two rings, each with its own groups, next to each other', () => {
    expect(picture.rings.map(({ sectors }) => sectors.map(({ group }) => group))).toEqual([
      [0, 1, 2],
      [3, 4, 5],
    ])
    const [left, right] = picture.rings as [(typeof picture.rings)[0], (typeof picture.rings)[0]]
    expect(right.x - left.x).toBeGreaterThan(2 * left.outer)
    expect(picture.labels.map(({ text }) => text)).toEqual([
      'plane 0',
      '0',
      '1',
      '2',
      'plane 1',
      '3',
      '4',
      '5',
    ])
  })

  test('routers and arcs stay in their plane', () => {
    for (let r = 0; r < run.routers.count; r++) {
      const ring = picture.rings[r < 6 ? 0 : 1]!
      const [x, y] = [picture.routers[2 * r]!, picture.routers[2 * r + 1]!]
      expect(Math.hypot(x - ring.x, y - ring.y)).toBeLessThan(ring.outer)
    }
    run.links.source.forEach((source, l) => {
      const mark = picture.marks.ofLink[l]!
      const isInside = run.routers.group[source] === run.routers.group[run.links.target[l]!]
      expect(mark >= 0).toBe(!isInside)
      if (mark < 0) return
      const ring = picture.rings[source < 6 ? 0 : 1]!
      for (const i of [0, 6])
        expect(Math.abs(picture.curves[8 * mark + i]! - ring.x)).toBeLessThanOrEqual(ring.inner + 1e-3)
    })
    expect(picture.marks.count).toBe(12)
  })

  test('nodes keep their numbers', () => {
    expect(picture.rings.map(({ nodeNumbers }) => [...nodeNumbers])).toEqual([
      [0, 1, 2, 3, 4, 5],
      [6, 7, 8, 9, 10, 11],
    ])
  })

  test('a plane is a machine with axes of its own', () => {
    const [, second] = networksOf(run)
    expect(second!.run.routers.axes.map(({ name }) => name)).toEqual(['group', 'seat'])
    expect([...second!.run.routers.group]).toEqual([0, 0, 1, 1, 2, 2])
    expect(second!.firstGroup).toBe(3)
  })

  test('a job on both planes has the routers of both', () => {
    expect(run.jobs[0]!.routers).toBe(8)
  })
})
