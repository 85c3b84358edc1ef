import { describe, expect, test } from 'vitest'
import { ClassValues, concatSorted } from '../src/data/stats'
import { random } from './machines'

test('merging sorted parts equals sorting all values, with negative, equal and missing ones', () => {
  const next = random(7)
  for (const sizes of [[], [0], [3], [0, 4], [5, 0, 1], [40, 1, 17, 80], [9, 9, 9, 9, 9]]) {
    const parts = sizes.map((n) =>
      Float64Array.from({ length: n }, () => (next() < 0.1 ? NaN : Math.floor(20 * next()) - 10)).sort(),
    )
    const all = Float64Array.from(parts.flatMap((part) => [...part])).sort()
    expect([...concatSorted(parts)]).toEqual([...all])
  }
})

describe('unsorted class values', () => {
  const next = random(11)
  const values = Float64Array.from({ length: 4000 }, () => (next() < 0.2 ? 0 : Math.ceil(next() * 90)))
  const classOf = Uint8Array.from({ length: 4000 }, () => Math.floor(next() * 3))

  test.each([1, 5, 25, 100])('the hottest %s %% and the extremes equal the sorted values', (share) => {
    const quick = ClassValues.of(values, classOf, 3)
    const slow = ClassValues.of(values, classOf, 3)
    for (let code = 0; code < 3; code++) {
      const sorted = slow.sorted[code]!
      expect([quick.min[code], quick.max[code]]).toEqual([sorted[0], sorted.at(-1)])
      expect(quick.hottest(code, share)).toBe(slow.hottest(code, share))
      const carry = sorted.filter((v) => v > 0)
      expect(quick.hottest(code, share)).toBe(carry[carry.length - Math.ceil((share * carry.length) / 100)])
    }
    expect(quick.sorted.map((part) => [...part])).toEqual(slow.sorted.map((part) => [...part]))
  })

  test('NaN is neither an extreme nor hot', () => {
    const some = new ClassValues([Float64Array.of(NaN, 3, 1, NaN, 2), Float64Array.of(NaN, NaN)])
    expect([...some.min, ...some.max]).toEqual([1, Infinity, 3, -Infinity])
    expect([some.hottest(0, 34), some.hottest(1, 5)]).toEqual([2, Infinity])
  })
})
