/** Wrong numbers in a file are refused or reported. */
import { describe, expect, test } from 'vitest'
import { groupMatrix, interior } from '../src/layout/matrices'
import { radialPicture } from '../src/layout/radial'
import { tiny, TRAFFIC } from './machines'

describe('numbers of a file', () => {
  test('a number outside of its table is refused; nothing is sized by it', () => {
    for (const [change, words] of [
      [{ routers: [[2e9, 0]] }, 'routers, row 0: group is 2000000000, expected 0 to 4095'],
      [{ routers: [[0, 2e9]] }, 'routers, row 0: router is 2000000000, expected 0 to 4095'],
      [{ wires: [{ source: 0, target: 77, class: 'local' }] }, 'links, row 0: target is 77, expected 0 to 5'],
    ] as const)
      expect(() => tiny(change as object)).toThrow(words)
  })

  test('a matrix of too many groups is left out', () => {
    const routers = Array.from({ length: 4096 }, (_, g) => [g, 0])
    const run = tiny({ routers, groupOf: ([g]) => g! })
    expect(groupMatrix(run).count).toBe(0)
    expect(interior(run).leftOut).toEqual(['between groups (4096 × 4096)'])
    expect(radialPicture(run).marks.count).toBeGreaterThan(0)
  })

  test('negative and infinite traffic are reported; infinite values are unknown', () => {
    const run = tiny({ links: TRAFFIC, traffic: (l) => [[-5, Infinity, 1, 2][l % 4]!] })
    const negative = run.measures[0]!.total.filter((value) => value < 0).length
    expect(run.mistakes).toEqual([
      `Traffic is negative on ${negative} links: the file is wrong`,
      'Traffic is infinite, and not shown, on 3 links: the file is wrong',
    ])
    expect(run.measures[0]!.total.some((value) => value === Infinity)).toBe(false)
    expect(tiny({ links: TRAFFIC, traffic: (l) => [l] }).mistakes).toEqual([])
  })

  test('the routers of a job are counted from its nodes, in all planes', () => {
    const jobColumns = {
      routers: { type: 'u32', unit: 'count', merge: 'attribute', label: 'Routers' },
    } as const
    const run = tiny({ jobs: ['a'], jobColumns, nodesPerRouter: 2, jobOf: (n) => (n < 8 ? 0 : -1) })
    expect(run.jobs[0]!.routers).toBe(4)
    expect(run.jobs[0]!.figures.find(({ id }) => id === 'routers')?.value).toBe(4)
  })
})
