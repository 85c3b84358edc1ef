import { expect, test } from 'vitest'
import { concatSorted } from '../src/data/stats'
import { random } from './machines'

test('sorted parts together are what sorting them all would give, negative, equal and missing values included', () => {
  const next = random(7)
  for (const sizes of [[], [0], [3], [0, 4], [5, 0, 1], [40, 1, 17, 80], [9, 9, 9, 9, 9]]) {
    const parts = sizes.map((n) =>
      Float64Array.from({ length: n }, () => (next() < 0.1 ? NaN : Math.floor(20 * next()) - 10)).sort(),
    )
    const all = Float64Array.from(parts.flatMap((part) => [...part])).sort()
    expect([...concatSorted(parts)]).toEqual([...all])
  }
})
