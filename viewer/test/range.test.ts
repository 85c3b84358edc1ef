import { describe, expect, test } from 'vitest'
import { isOfNothing, valueRange } from '../src/data/range'
import { selectLinks } from '../src/data/selection'
import { ClassValues } from '../src/data/stats'
import { DEFAULTS, readUrl, writeUrl, type ViewState } from '../src/data/state'
import { random } from './machines'

const next = random(7)
// A third without traffic, and repeated values.
const values = Float64Array.from({ length: 3000 }, () => (next() < 1 / 3 ? 0 : Math.ceil(next() * 400) - 200))
const sizes = values.map(Math.abs)

const selected = (data: Float64Array, chosen: Partial<ViewState>, signed: boolean): number[] => {
  const range = valueRange({ ...DEFAULTS, ...chosen }, new ClassValues([Float64Array.from(data)]), signed)
  const filter = { range, classOn: Uint8Array.of(1), focus: null }
  const { selected } = selectLinks(
    data,
    new Uint8Array(data.length).fill(9),
    new Uint8Array(data.length),
    filter,
  )
  return [...selected]
}

/** The slow twin: rank among non-zero links, with ties. */
const plain = (data: Float64Array, share: number): number[] => {
  const loaded = [...data].map(Math.abs).filter((v) => v > 0)
  const least = loaded.sort((a, b) => b - a)[Math.max(1, Math.ceil((share * loaded.length) / 100)) - 1]!
  return [...data].map((v) => Number(Math.abs(v) >= least))
}

describe('the hottest links', () => {
  test.each([1, 5, 25])('%s % of non-zero links by rank; for a difference by absolute value', (hottest) => {
    expect(selected(sizes, { hottest }, false)).toEqual(plain(sizes, hottest))
    expect(selected(values, { hottest }, true)).toEqual(plain(values, hottest))
  })

  test('a link is selected either normally or inverted', () => {
    for (const [data, signed] of [
      [sizes, false],
      [values, true],
    ] as const)
      for (const chosen of [{ hottest: 5 }, { low: 20, high: 70 }, { low: 20 }]) {
        const there = selected(data, chosen, signed)
        expect(selected(data, { ...chosen, inverted: true }, signed)).toEqual(there.map((s) => 1 - s))
        expect(there).toContain(1)
      }
  })

  test('per class; a class without traffic has none', () => {
    const classes = new ClassValues([
      Float64Array.of(3, 1, 0, 2),
      Float64Array.of(20, 10, 30),
      new Float64Array(2),
    ])
    const { lows, ends } = valueRange({ ...DEFAULTS, hottest: 25 }, classes, false)
    expect([[...lows], ends]).toEqual([[3, 30, Infinity], null])
  })

  test.each([false, true])('without traffic, none is hot (difference: %s)', (signed) => {
    const range = valueRange({ ...DEFAULTS, hottest: 5 }, new ClassValues([new Float64Array(4)]), signed)
    expect(isOfNothing(range)).toBe(true)
    expect(selected(new Float64Array(4), { hottest: 5 }, signed)).toEqual([0, 0, 0, 0])
    expect(selected(new Float64Array(4), { hottest: 5, inverted: true }, signed)).toEqual([1, 1, 1, 1])
  })

  test('are stored in the address', () => {
    const state = { ...DEFAULTS, hottest: 25, inverted: true }
    expect(readUrl(writeUrl(state))).toMatchObject({ state, problems: [] })
    expect(readUrl('hottest=0').state).toEqual(DEFAULTS)
  })
})
