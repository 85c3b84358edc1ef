/** Maps values to 250 shades of the colour ramp. */
import type { ScaleKind } from './state'
import { below } from './stats'

/** Look of a link or cell: 0 empty, 1 filtered, `FIRST_SHADE` and up a ramp step. */
export const EMPTY = 0
export const FILTERED = 1
export const FIRST_SHADE = 2
export const SHADES = 250

export interface ColorScale {
  readonly kind: ScaleKind
  readonly low: number
  readonly high: number
  readonly diverging: boolean
  /** For non-zero values. */
  shade(value: number): number
  /** The value at a share of the ramp, for legend labels. */
  value(share: number): number
}

const step = (share: number): number =>
  FIRST_SHADE + Math.max(0, Math.min(SHADES - 1, Math.round(share * (SHADES - 1))))

/**
 * Args:
 * sorted: Ascending values for range and quantiles.
 * frozen: Overrides the range of the values.
 */
export function colorScale(
  kind: ScaleKind,
  sorted: Float64Array,
  diverging: boolean,
  frozen: readonly [number, number] | null,
): ColorScale {
  const [low, high] = frozen ?? fullRange(kind, sorted, diverging)
  if (kind === 'quantile' && sorted.length > 0) return quantileScale(sorted, low, high, diverging)
  if (diverging) {
    const size = Math.max(Math.abs(low), Math.abs(high)) || 1
    const bend = size / 1000
    const top = Math.asinh(size / bend)
    if (kind === 'log')
      return {
        kind,
        low: -size,
        high: size,
        diverging,
        shade: (v) => step(0.5 + Math.asinh(v / bend) / top / 2),
        value: (s) => bend * Math.sinh((s - 0.5) * 2 * top),
      }
    return {
      kind,
      low: -size,
      high: size,
      diverging,
      shade: (v) => step(0.5 + v / size / 2),
      value: (s) => (s - 0.5) * 2 * size,
    }
  }
  if (kind === 'log' && high > 0) {
    const from = Math.log(low > 0 ? low : high / 1e4)
    const span = Math.log(high) - from || 1
    return {
      kind,
      low: Math.exp(from),
      high,
      diverging,
      shade: (v) => (v <= 0 ? FIRST_SHADE : step((Math.log(v) - from) / span)),
      value: (s) => Math.exp(from + s * span),
    }
  }
  const span = high - low || 1
  return {
    kind: 'linear',
    low,
    high,
    diverging,
    shade: (v) => step((v - low) / span),
    value: (s) => low + s * span,
  }
}

/** Linear: from zero. Logarithmic: from the smallest positive value, at most four decades. */
function fullRange(kind: ScaleKind, sorted: Float64Array, diverging: boolean): [number, number] {
  const n = sorted.length
  if (n === 0) return [0, 1]
  const [min, max] = [sorted[0]!, sorted[n - 1]!]
  if (diverging) return [min, max]
  if (kind !== 'log') return [Math.min(0, min), max > 0 ? max : 1]
  const positive = sorted[Math.min(n - 1, below(sorted, Number.MIN_VALUE))]!
  return [Math.max(positive, max / 1e4), max]
}

/** The shade is the share of smaller non-zero values within the range. */
function quantileScale(sorted: Float64Array, low: number, high: number, diverging: boolean): ColorScale {
  const within = sorted.filter((v) => v !== 0 && v >= low && v <= high)
  const thresholds = Float64Array.from(
    { length: SHADES },
    (_, i) => within[Math.floor((i * within.length) / SHADES)] ?? 0,
  )
  const value = (share: number): number =>
    within[Math.min(within.length - 1, Math.floor(share * within.length))] ?? 0
  if (!diverging)
    return {
      kind: 'quantile',
      low,
      high,
      diverging,
      shade: (v) => FIRST_SHADE + Math.max(0, Math.min(SHADES - 1, upTo(thresholds, v) - 1)),
      value,
    }
  // Each sign has half of the ramp, so zero stays in the middle.
  const [negative, positive] = [within.filter((v) => v < 0), within.filter((v) => v > 0)]
  return {
    kind: 'quantile',
    low,
    high,
    diverging,
    shade: (v) =>
      step(
        v < 0
          ? (0.5 * below(negative, v)) / Math.max(1, negative.length)
          : 0.5 + (0.5 * upTo(positive, v)) / Math.max(1, positive.length),
      ),
    value: (s) =>
      s === 0.5
        ? 0
        : s < 0.5
          ? (negative[Math.floor(s * 2 * negative.length)] ?? 0)
          : (positive[Math.min(positive.length - 1, Math.floor((s - 0.5) * 2 * positive.length))] ?? 0),
  }
}

/** Number of sorted values <= `value`. */
function upTo(sorted: Float64Array, value: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle]! <= value) low = middle + 1
    else high = middle
  }
  return low
}

/** Shade of each value; `EMPTY` for zero. */
export function shadeAll(values: Float64Array, scale: ColorScale): Uint8Array {
  const shades = new Uint8Array(values.length)
  for (let l = 0; l < values.length; l++) shades[l] = values[l] === 0 ? EMPTY : scale.shade(values[l]!)
  return shades
}
