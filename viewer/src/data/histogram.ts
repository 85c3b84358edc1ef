/** Histograms of each class over common bins, and their shared axis. */
import { below } from './stats'

/** Positions run from 0 to 1. */
export interface ValueAxis {
  readonly kind: 'linear' | 'log'
  readonly low: number
  readonly high: number
  position(value: number): number
  value(position: number): number
}

/**
 * An axis over [min, max]. A logarithmic axis starts at the smallest positive value; smaller values are at
 * its left end.
 *
 * Differences have both signs: their logarithmic axis is asinh, linear within 1/1000 of the largest.
 */
export function valueAxis(
  kind: 'linear' | 'log',
  min: number,
  max: number,
  smallestPositive: number,
): ValueAxis {
  if (kind === 'linear' || max === min) {
    const low = Math.min(0, min)
    const high = max > low ? max : low + 1
    return {
      kind: 'linear',
      low,
      high,
      position: (v) => (v - low) / (high - low),
      value: (p) => low + p * (high - low),
    }
  }
  if (min < 0) {
    const bend = Math.max(Math.abs(min), Math.abs(max)) / 1000
    const [a, b] = [Math.asinh(min / bend), Math.asinh(max / bend)]
    return {
      kind,
      low: min,
      high: max,
      position: (v) => (Math.asinh(v / bend) - a) / (b - a),
      value: (p) => bend * Math.sinh(a + p * (b - a)),
    }
  }
  const low = Math.log10(smallestPositive < max ? smallestPositive : max / 10)
  const high = Math.log10(max)
  return {
    kind,
    low: 10 ** low,
    high: max,
    position: (v) => (v <= 0 ? 0 : Math.max(0, (Math.log10(v) - low) / (high - low))),
    value: (p) => 10 ** (low + p * (high - low)),
  }
}

/** Counts per bin. On a logarithmic axis, zeros are counted separately. */
export function binCounts(
  sorted: Float64Array,
  axis: ValueAxis,
  bins: number,
): { counts: Uint32Array; zeros: number } {
  const counts = new Uint32Array(bins)
  const apart = axis.kind === 'log' && axis.low > 0
  const zeros = apart ? below(sorted, Number.MIN_VALUE) : 0
  let start = zeros
  for (let b = 0; b < bins; b++) {
    const end = b === bins - 1 ? sorted.length : Math.max(start, below(sorted, axis.value((b + 1) / bins)))
    counts[b] = end - start
    start = end
  }
  return { counts, zeros }
}

/** Round tick values, about `wanted` of them. */
export function axisTicks(axis: ValueAxis, wanted: number, base: 2 | 10 = 10): number[] {
  if (axis.kind === 'log') return logTicks(axis, wanted, base)
  const step = roundStep((axis.high - axis.low) / Math.max(1, wanted), base)
  const ticks: number[] = []
  for (let i = Math.ceil(axis.low / step - 1e-9); i * step <= axis.high * (1 + 1e-9); i++)
    ticks.push(i === 0 ? 0 : i * step)
  return ticks
}

function logTicks(axis: ValueAxis, wanted: number, base: 2 | 10): number[] {
  if (axis.low <= 0) {
    const largest = Math.max(Math.abs(axis.low), Math.abs(axis.high))
    const outer = roundStep(largest, base)
    return [-outer, -outer / 30, 0, outer / 30, outer].filter((v) => v >= axis.low && v <= axis.high)
  }
  const factor = base === 2 ? 1024 : 10
  const log = (v: number): number => Math.log(v) / Math.log(factor)
  const [first, last] = [Math.ceil(log(axis.low) - 1e-9), Math.floor(log(axis.high) + 1e-9)]
  if (last - first < 1) return [axis.low, axis.high]
  const stride = Math.max(1, Math.ceil((last - first) / wanted))
  const ticks: number[] = []
  for (let e = first; e <= last; e += stride) ticks.push(factor ** e)
  return ticks
}

/** 1, 2 or 5 times a power of ten; for bytes, powers of two (1, 2, 4, ... 512) within each power of 1024. */
function roundStep(raw: number, base: 2 | 10): number {
  if (base === 2 && raw >= 1) return 2 ** Math.ceil(Math.log2(raw) - 1e-9)
  const power = 10 ** Math.floor(Math.log10(raw))
  const lead = raw / power
  return power * (lead <= 1.0001 ? 1 : lead <= 2.0001 ? 2 : lead <= 5.0001 ? 5 : 10)
}
