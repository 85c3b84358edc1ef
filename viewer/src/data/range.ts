/** Selected value range: between two ends, outside of them, or the hottest share of each class. */
import { below, numbersOnly, type ClassValues } from './stats'
import type { ViewState } from './state'

export interface ValueRange {
  /** Inclusive ends by class; infinite if open. */
  readonly lows: Float64Array
  readonly highs: Float64Array
  /** Select the values outside of the ends. */
  readonly inverted: boolean
  /** Ends common to all classes; null if each class has its own. */
  readonly ends: readonly [number, number] | null
}

/** Offered shares (percent) of the non-zero links of a class. The first picture shows one of them. */
export const HOTTEST = [1, 5, 25] as const
export const HOTTEST_FIRST = 5
/** Above this many links, arcs overlap into a solid disc; the first picture then shows only the hottest. */
export const BALL = 1000

/** Settings that select all values; and settings that only reset the ends, for another unit. */
export const ALL_VALUES = { low: null, high: null, inverted: false, hottest: 0 } as const
export const NO_ENDS = { low: null, high: null, inverted: false } as const

/** Whether it selects the hottest of values that are all zero: no link. */
export const isOfNothing = ({ ends, lows, highs }: ValueRange): boolean =>
  ends === null && lows.every((low, code) => low === Infinity || (highs[code] === -low && low === -Infinity))

export const isOpen = ({ ends, inverted }: ValueRange): boolean =>
  ends !== null && ends[0] === -Infinity && ends[1] === Infinity && !inverted

type RangeChoice = Pick<ViewState, 'low' | 'high' | 'inverted' | 'hottest'>

/**
 * The chosen range. The hottest p % of a class are the ceil(p/100 n) largest of its n non-zero values, with
 * ties. For a difference, the largest by absolute value, outside of a range around zero. By class: otherwise
 * only links of the busiest class would remain.
 *
 * Args:
 * values: Of each class.
 */
export function valueRange(state: RangeChoice, values: ClassValues, signed: boolean): ValueRange {
  const { low, high, inverted, hottest } = state
  const classes = values.min.length
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
  return { lows, highs, inverted: inverted !== signed, ends: null }
}

/** Largest absolute value below the hottest; infinite if all are zero. */
function sizeBelow(signed: Float64Array, hottest: number): number {
  const sizes = numbersOnly(signed.map(Math.abs).sort())
  const n = sizes.length - below(sizes, Number.MIN_VALUE)
  if (n === 0) return Infinity
  const least = sizes[sizes.length - Math.max(1, Math.ceil((hottest * n) / 100))]!
  return sizes[below(sizes, least) - 1] ?? 0
}
