import { describe, expect, test } from 'vitest'
import { machinePicture } from '../src/layout/machine'
import { interior } from '../src/layout/matrices'
import type { Picture } from '../src/layout/picture'
import { radialPicture } from '../src/layout/radial'
import { grid, tiny, type Wire } from './machines'

const distance = (picture: Picture, r: number): number =>
  Math.hypot(picture.routers[2 * r]! - 500, picture.routers[2 * r + 1]! - 500)

describe('planes', () => {
  // Two planes of three groups with two routers each; a link inside a group joins its two routers.
  const planes = (): ReturnType<typeof tiny> =>
    tiny({
      axes: ['plane', 'group_in_plane', 'router'],
      routers: [0, 1].flatMap((plane) => grid(3, 2).map((place) => [plane, ...place])),
      groupOf: ([plane, group]) => 3 * plane! + group!,
      shape: 'graph',
    })

  test('each plane has its own groups', () => {
    const run = planes()
    expect(run.shape).toBe('grouped')
    expect(run.routers.groups).toBe(6)
    const picture = radialPicture(run)
    for (let r = 0; r < 12; r++) expect(distance(picture, r)).toBeCloseTo(distance(picture, 0))
  })

  test('planes of a fat tree are side by side on each level', () => {
    // A leaf and a spine in each of two planes.
    const wire = (source: number, target: number): Wire => ({ source, target, class: 'local' })
    const run = tiny({
      axes: ['plane', 'level', 'pod', 'index'],
      routers: [0, 1].flatMap((plane) => [0, 1].map((level) => [plane, level, 0, 0])),
      groupOf: ([plane, level]) => 2 * plane! + level!,
      shape: 'graph',
      wires: [wire(0, 1), wire(1, 0), wire(2, 3), wire(3, 2)],
    })
    const picture = machinePicture(run)
    const [leaf, spine, other] = [0, 1, 2].map((r) => [picture.routers[2 * r]!, picture.routers[2 * r + 1]!])
    expect(spine![1]).toBeLessThan(leaf![1]!)
    expect(other![1]).toBe(leaf![1])
    expect(other![0]).toBeGreaterThan(leaf![0]!)
    expect(picture.labels.map((label) => label.text)).toContain('top (1)')
  })

  test('planes have the matrices of a single plane', () => {
    const families = (run: ReturnType<typeof tiny>): unknown =>
      interior(run).families.map(({ title, size, lines }) => [title, size, lines])
    expect(families(planes())).toEqual(families(tiny()))
  })
})
