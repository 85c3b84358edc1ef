/** Which values are selected: between two ends, outside of them, or the hottest share of each class. */
import { below, numbersOnly, type ClassValues } from './stats'
import type { ViewState } from './state'

export interface ValueRange {
  /** Inclusive ends by class; infinite where they are open. */
  readonly lows: Float64Array
  readonly highs: Float64Array
  /** Selected is what lies outside. */
  readonly inverted: boolean
  /** The ends that all classes have; null where each has its own. */
  readonly ends: readonly [number, number] | null
}

/** Shares of the links of a class that carry something, in percent, as they are offered; the first picture shows the one of them. */
export const HOTTEST = [1, 5, 25] as const
export const HOTTEST_FIRST = 5
/** Of a machine with more links; fewer are seen one by one. */
export const BALL = 1000

/** Settings that select all values again, and those that drop ends which would mean something else in other units. */
export const ALL_VALUES = { low: null, high: null, inverted: false, hottest: 0 } as const
export const NO_ENDS = { low: null, high: null, inverted: false } as const

export const isOpen = ({ ends, inverted }: ValueRange): boolean =>
  ends !== null && ends[0] === -Infinity && ends[1] === Infinity && !inverted

type Chosen = Pick<ViewState, 'low' | 'high' | 'inverted' | 'hottest'>

/**
 * The range that is chosen. The hottest p % of a class are the ceil(p/100 n) largest of its n values that are not zero, and all that
 * equal the least of these; of a difference the largest by size, which lie outside of a range around zero. By class, since else the
 * links of the one that is busiest everywhere are all that is seen.
 *
 * Args:
 *   values: Of each class.
 */
export function valueRange(state: Chosen, values: ClassValues, signed: boolean): ValueRange {
  const { low, high, inverted, hottest } = state
  const classes = values.least.length
  const same = (ends: readonly [number, number]): ValueRange => ({
    lows: new Float64Array(classes).fill(ends[0]),
    highs: new Float64Array(classes).fill(ends[1]),
    inverted,
    ends,
  })
  if (hottest === 0) return same([low ?? -Infinity, high ?? Infinity])
  const [lows, highs] = [new Float64Array(classes), new Float64Array(classes).fill(Infinity)]
  for (let code = 0; code < classes; code++) {
    if (!signed) lows[code] = values.hottest(code, hottest)
    else {
      highs[code] = sizeBelow(values.sorted[code]!, hottest)
      lows[code] = -highs[code]!
    }
  }
  if (lows.every((value) => value === (signed ? -Infinity : Infinity))) return same([-Infinity, Infinity])
  return { lows, highs, inverted: inverted !== signed, ends: null }
}

/** The largest size that is below those of the hottest; infinite where all are zero. */
function sizeBelow(signed: Float64Array, hottest: number): number {
  const sizes = numbersOnly(signed.map(Math.abs).sort())
  const n = sizes.length - below(sizes, Number.MIN_VALUE)
  if (n === 0) return Infinity
  const least = sizes[sizes.length - Math.max(1, Math.ceil((hottest * n) / 100))]!
  return sizes[below(sizes, least) - 1] ?? 0
}
