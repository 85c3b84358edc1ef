/** Cells differ in colour only if they differ by more than the spread of their seeds. */
import { describe, expect, test } from 'vitest'
import { cellColors, pivotColors } from '../src/data/noise'
import { pivotOf } from '../src/data/pivot'
import { random } from './machines'

const cells = (...means: number[]) => means.map((mean) => ({ mean }))

describe('colours of a table', () => {
  test('within the spread of their seeds, all cells have one colour', () => {
    expect(new Set(cellColors(cells(138, 137, 134), [10, 10, 10]).deviations)).toEqual(new Set([0]))
    const next = random(3)
    for (let round = 0; round < 200; round++) {
      const means = Array.from({ length: 8 }, () => 100 + 20 * next())
      const spreads = means.map(() => 12 * next() ** 2)
      const { deviations } = cellColors(cells(...means), spreads)
      for (let a = 0; a < 8; a++)
        for (let b = 0; b < 8; b++) {
          const isNoise = Math.abs(means[a]! - means[b]!) <= Math.max(spreads[a]!, spreads[b]!)
          if (isNoise) expect(deviations[a]).toBe(deviations[b])
        }
    }
  })

  test('a difference beyond the spread shows; small ones stay pale', () => {
    const { deviations, scale } = cellColors(cells(134, 137, 138), [0, 0, 0])
    expect(new Set(deviations).size).toBe(3)
    // The range is at least ±5 %: 3 % is not the end of the ramp.
    expect(scale.high).toBe(0.05)
    expect(cellColors(cells(1, 2), [0, 0]).scale.high).toBe(1)
  })

  test('slowdowns deviate from 1', () => {
    const { deviations, scale, middle } = cellColors(cells(1.0021, 1), [0, 0], 'ratio')
    expect([middle, scale.high, deviations[1]]).toEqual([1, 0.05, 0])
    expect(deviations[0]).toBeCloseTo(0.0021)
  })

  test('what seeds do not distinguish from a slowdown of 1 has no deviation', () => {
    // The job alone is 1 by definition, and has no spread.
    expect(cellColors(cells(1.02, 1), [0.03, 0], 'ratio').deviations).toEqual([0, 0])
    expect(cellColors(cells(0.98, 0.993, 1, 1), [0.04, 0.02, 0, 0], 'ratio').deviations).toEqual([0, 0, 0, 0])
    const [slower, same] = cellColors(cells(1.4, 1), [0.03, 0], 'ratio').deviations
    expect(slower).toBeCloseTo(0.4)
    expect(same).toBe(0)
  })

  test('a table over seeds alone has one colour, as rows, as columns and merged', () => {
    const runs = [1, 2, 3, 4].map((seed) => ({ keys: { seed, routing: 'min' } }))
    const values = [10, 14, 11, 30]
    for (const [rows, columns] of [
      [['seed'], []],
      [['routing'], ['seed']],
      [['seed'], ['routing']],
      [['routing', 'seed'], []],
    ] as const) {
      const pivot = pivotOf(runs, values, rows, columns, 'key')
      const isSeed = (keys: readonly string[]) => keys.map((key) => key === 'seed')
      const { shades } = pivotColors(pivot, 's', { rows: isSeed(rows), columns: isSeed(columns) })
      expect(new Set(shades.flat()).size).toBe(1)
    }
  })
})
