/**
 * Statistics per class of the selected values. The page computes them, since the tables of a run cover only
 * the whole run. The definitions equal `crates/experiment/src/class_statistics.rs`: all links count,
 * including links with value zero. `machines.browser.ts` compares both implementations.
 */
import { sortNumbers } from './sorting'

export const PERCENTILES = [50, 90, 99] as const

export interface ClassStats {
  readonly links: number
  readonly nonzero: number
  readonly sum: number
  readonly mean: number
  readonly max: number
  readonly min: number
  /** Values at rank ceil(p/100 n) for `PERCENTILES`. */
  readonly percentiles: readonly number[]
}

/**
 * Values per class, sorted on access. The first picture needs only the extremes and one rank, which takes a
 * quarter of the time.
 */
export class ClassValues {
  /** Minimum and maximum per class, ignoring NaN; infinite if empty. */
  readonly min: Float64Array
  readonly max: Float64Array
  private inOrder = false
  private allNumbers = true

  /** Sorts `parts` in place. */
  constructor(private parts: readonly Float64Array[]) {
    this.min = new Float64Array(parts.length).fill(Infinity)
    this.max = new Float64Array(parts.length).fill(-Infinity)
    parts.forEach((values, code) => {
      let [min, max] = [Infinity, -Infinity]
      for (let i = 0; i < values.length; i++) {
        const value = values[i]!
        if (value < min) min = value
        if (value > max) max = value
        if (value !== value) this.allNumbers = false
      }
      this.min[code] = min
      this.max[code] = max
    })
  }

  static of(values: Float64Array, classOf: Uint8Array, classes: number): ClassValues {
    const counts = new Uint32Array(classes)
    for (let l = 0; l < values.length; l++) counts[classOf[l]!]!++
    const parts = Array.from(counts, (n) => new Float64Array(n))
    counts.fill(0)
    for (let l = 0; l < values.length; l++) {
      const code = classOf[l]!
      parts[code]![counts[code]!++] = values[l]!
    }
    return new ClassValues(parts)
  }

  /** Ascending, without NaN. */
  get sorted(): readonly Float64Array[] {
    if (!this.inOrder) {
      this.parts.forEach(sortNumbers)
      this.parts = this.parts.map(numbersOnly)
    }
    this.inOrder = true
    return this.parts
  }

  /**
   * Threshold of the hottest share: the smallest of the ceil(share/100 n) largest of n positive values;
   * infinite if there is none.
   */
  hottest(code: number, share: number): number {
    const values = this.inOrder || !this.allNumbers ? this.sorted[code]! : this.parts[code]!
    let n = 0
    for (let i = 0; i < values.length; i++) if (values[i]! > 0) n++
    if (n === 0) return Infinity
    const rank = values.length - Math.max(1, Math.ceil((share * n) / 100))
    return this.inOrder ? values[rank]! : nth(values, rank)
  }
}

/** Drops the NaN values at the end of a sorted array. */
export function numbersOnly(sorted: Float64Array): Float64Array {
  let end = sorted.length
  while (end > 0 && Number.isNaN(sorted[end - 1])) end--
  return end === sorted.length ? sorted : sorted.subarray(0, end)
}

/** Sorted values per class. */
export const sortedByClass = (
  values: Float64Array,
  classOf: Uint8Array,
  classes: number,
): readonly Float64Array[] => ClassValues.of(values, classOf, classes).sorted

/** Merges sorted parts pairwise, three times as fast as sorting. */
export function concatSorted(parts: readonly Float64Array[]): Float64Array {
  if (parts.length === 0) return new Float64Array(0)
  if (parts.length === 1) return parts[0]!
  const middle = parts.length >> 1
  return mergeSorted(concatSorted(parts.slice(0, middle)), concatSorted(parts.slice(middle)))
}

function mergeSorted(a: Float64Array, b: Float64Array): Float64Array {
  const all = new Float64Array(a.length + b.length)
  let [i, j] = [0, 0]
  for (let at = 0; at < all.length; at++) {
    // NaN stays at the end, as in the parts.
    const first = i < a.length && (j === b.length || a[i]! <= b[j]! || Number.isNaN(b[j]!))
    all[at] = first ? a[i++]! : b[j++]!
  }
  return all
}

export function classStats(sorted: Float64Array): ClassStats {
  const n = sorted.length
  let sum = 0
  let nonzero = 0
  for (let i = 0; i < n; i++) {
    sum += sorted[i]!
    if (sorted[i] !== 0) nonzero++
  }
  return {
    links: n,
    nonzero,
    sum,
    mean: n === 0 ? 0 : sum / n,
    max: n === 0 ? 0 : sorted[n - 1]!,
    min: n === 0 ? 0 : sorted[0]!,
    percentiles: PERCENTILES.map((p) => percentile(sorted, p)),
  }
}

/** Value at rank ceil(p/100 n); integer arithmetic, since 0.9 * 10 is not exactly 9. */
export function percentile(sorted: Float64Array, p: number): number {
  const n = sorted.length
  return n === 0 ? 0 : sorted[Math.max(1, Math.floor((p * n + 99) / 100)) - 1]!
}

/** Number of sorted values < `value`. */
export function below(sorted: ArrayLike<number>, value: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}

/** Quickselect: the value at `rank` in sorted order. Reorders the array; linear time. */
export function nth(values: Float64Array, rank: number): number {
  let [low, high] = [0, values.length - 1]
  while (low < high) {
    const pivot = values[(low + high) >>> 1]!
    let [i, j] = [low, high]
    while (i <= j) {
      while (values[i]! < pivot) i++
      while (values[j]! > pivot) j--
      if (i > j) break
      ;[values[i], values[j]] = [values[j]!, values[i]!]
      i++
      j--
    }
    // Elements up to j are <= pivot, from i on >= pivot; elements between equal it.
    if (rank <= j) high = j
    else if (rank >= i) low = i
    else return pivot
  }
  return values[rank]!
}
