import { expect, test } from 'vitest'
import { sortNumbers } from '../src/data/sorting'
import { random } from './machines'

const next = random(7)
const COUNT = 120_000
const make = (value: (i: number) => number): Float64Array =>
  Float64Array.from({ length: COUNT }, (_, i) => value(i))

/** Kinds of run values, and extreme floats. */
const KINDS: Record<string, Float64Array> = {
  'whole numbers with many that are equal': make(() => Math.floor(next() * 50) * 65536),
  shares: make(() => next()),
  'all decades': make(() => 10 ** (600 * next() - 300)),
  zeros: make(() => 0),
  descending: make((i) => COUNT - i),
  'ends of the range': make((i) => [0, Number.MIN_VALUE, Number.MAX_VALUE, Infinity, NaN, 1][i % 6]!),
  'both signs': make(() => next() - 0.5),
  'a zero with a sign': make((i) => (i % 3 === 0 ? -0 : 0)),
}

test.each(Object.entries(KINDS))('%s: same order as Array.sort', (_, values) => {
  const expected = values.slice().sort()
  sortNumbers(values)
  expect(Buffer.compare(Buffer.from(values.buffer), Buffer.from(expected.buffer))).toBe(0)
})

test('part of a larger array, and few numbers', () => {
  const all = make((i) => COUNT - i)
  const part = all.subarray(5, COUNT - 5)
  sortNumbers(part)
  expect([part[0], part[part.length - 1]]).toEqual([6, COUNT - 5])
  expect([all[0], all[4], all[COUNT - 1]]).toEqual([COUNT, COUNT - 4, 1])
  const few = Float64Array.of(3, 1, 2)
  sortNumbers(few)
  expect([...few]).toEqual([1, 2, 3])
})
