/** Statistics of the links of each class, defined as in the run's summary: all links count, zeros too. */
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
 * The values of each class, in their order once it is asked for: the first picture needs only their ends and one rank of each, which
 * takes a quarter of the time.
 */
export class ClassValues {
  /** The least and the most of each class, of what is a number; infinite where there is none. */
  readonly least: Float64Array
  readonly most: Float64Array
  private inOrder = false
  private allNumbers = true

  /** `parts` are put in order. */
  constructor(private parts: readonly Float64Array[]) {
    this.least = new Float64Array(parts.length).fill(Infinity)
    this.most = new Float64Array(parts.length).fill(-Infinity)
    parts.forEach((values, code) => {
      let [least, most] = [Infinity, -Infinity]
      for (let i = 0; i < values.length; i++) {
        const value = values[i]!
        if (value < least) least = value
        if (value > most) most = value
        if (value !== value) this.allNumbers = false
      }
      this.least[code] = least
      this.most[code] = most
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

  /** Ascending, without what is no number. */
  get sorted(): readonly Float64Array[] {
    if (!this.inOrder) {
      this.parts.forEach(sortNumbers)
      this.parts = this.parts.map(numbersOnly)
    }
    this.inOrder = true
    return this.parts
  }

  /** Of the n values of a class above zero the least of the ceil(share/100 n) largest; infinite where there is none. */
  hottest(code: number, share: number): number {
    const values = this.inOrder || !this.allNumbers ? this.sorted[code]! : this.parts[code]!
    let n = 0
    for (let i = 0; i < values.length; i++) if (values[i]! > 0) n++
    if (n === 0) return Infinity
    const rank = values.length - Math.max(1, Math.ceil((share * n) / 100))
    return this.inOrder ? values[rank]! : nth(values, rank)
  }
}

/** Sorted values without those at the end that are no numbers. */
export function numbersOnly(sorted: Float64Array): Float64Array {
  let end = sorted.length
  while (end > 0 && Number.isNaN(sorted[end - 1])) end--
  return end === sorted.length ? sorted : sorted.subarray(0, end)
}

/** The values of each class, sorted. */
export const sortedByClass = (
  values: Float64Array,
  classOf: Uint8Array,
  classes: number,
): readonly Float64Array[] => ClassValues.of(values, classOf, classes).sorted

/** All values of sorted parts, sorted: merged two by two, a third of what sorting them again takes. */
export function concatSorted(parts: readonly Float64Array[]): Float64Array {
  if (parts.length === 0) return new Float64Array(0)
  if (parts.length === 1) return parts[0]!
  const middle = parts.length >> 1
  return merged(concatSorted(parts.slice(0, middle)), concatSorted(parts.slice(middle)))
}

function merged(a: Float64Array, b: Float64Array): Float64Array {
  const all = new Float64Array(a.length + b.length)
  let [i, j] = [0, 0]
  for (let at = 0; at < all.length; at++) {
    // What is no number stands at the end, as in the parts.
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

/** The value at rank ceil(p/100 n); the rank is found in integers, since 0.9 * 10 is not exactly 9. */
export function percentile(sorted: Float64Array, p: number): number {
  const n = sorted.length
  return n === 0 ? 0 : sorted[Math.max(1, Math.floor((p * n + 99) / 100)) - 1]!
}

/** How many of the sorted values are below `value`. */
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

/** The value that would stand at `rank` if the values were sorted; they are put in another order, in time that grows as their number. */
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
    // All up to j are at most the pivot, all from i on at least; what lies between equals it.
    if (rank <= j) high = j
    else if (rank >= i) low = i
    else return pivot
  }
  return values[rank]!
}
