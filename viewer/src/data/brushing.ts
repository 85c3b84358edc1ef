/**
 * Incremental selection: a brush move visits only links whose value lies between an old and a new end of the
 * range.
 *
 * Links are sorted into at most 16,384 bins by the leading bits of their value as a 32-bit float. Bins are
 * therefore narrow for small values, and finding one needs no search. `selectLinks` is the slow twin in the
 * tests.
 */
import { EMPTY, FILTERED } from './scale'
import type { Filter, Selection } from './selection'

const BINS_MAX = 1 << 14

export class Brushing {
  /** Bin b holds `links[starts[b]]` to `links[starts[b + 1] - 1]`. */
  private readonly starts: Uint32Array
  private readonly links: Uint32Array
  /** Sum of the values of class c in bin b: `sums[b * classes + c]`. */
  private readonly sums: Float64Array
  private readonly least: number
  private readonly shift: number
  private readonly bins: number
  private readonly changed: Uint32Array

  constructor(
    private readonly values: Float64Array,
    private readonly classOf: Uint8Array,
    private readonly classes: number,
  ) {
    const keys = keysOf(Float32Array.from(values))
    let [least, most] = [0, 0]
    for (let l = 0; l < keys.length; l++) {
      if (l === 0 || keys[l]! < least) least = keys[l]!
      if (l === 0 || keys[l]! > most) most = keys[l]!
    }
    let shift = 0
    while ((most - least) / 2 ** shift >= BINS_MAX) shift++
    ;[this.least, this.shift] = [least, shift]
    this.bins = Math.floor((most - least) / 2 ** shift) + 1
    this.starts = new Uint32Array(this.bins + 1)
    this.links = new Uint32Array(values.length)
    this.sums = new Float64Array(this.bins * classes)
    this.changed = new Uint32Array(values.length)
    // The difference of two 32-bit numbers may need a 33rd bit, so it is unsigned.
    for (let l = 0; l < keys.length; l++) {
      const bin = (keys[l]! - least) >>> shift
      this.starts[bin + 1]!++
      this.sums[bin * classes + classOf[l]!]! += values[l]!
    }
    for (let b = 1; b < this.starts.length; b++) this.starts[b]! += this.starts[b - 1]!
    const next = this.starts.slice(0, -1)
    for (let l = 0; l < keys.length; l++) this.links[next[(keys[l]! - least) >>> shift]!++] = l
  }

  /** The bin of a value; values below and above all bins get the ends. */
  private binOf(value: number): number {
    const key = keysOf(Float32Array.of(value))[0]!
    return Math.max(0, Math.min(this.bins - 1, Math.floor((key - this.least) / 2 ** this.shift)))
  }

  /**
   * Moves a selection to another filter with the same classes and no focus. Overwrites its flags. Returns
   * null if a full pass is as fast.
   */
  move(from: Selection, old: Filter, next: Filter, shades: Uint8Array): Selection | null {
    if (old.focus || next.focus || old.classOn !== next.classOn || old.range.inverted !== next.range.inverted)
      return null
    const spans = this.between(old, next)
    const { starts, links } = this
    const touched = spans.reduce((sum, [first, last]) => sum + starts[last + 1]! - starts[first]!, 0)
    if (touched > links.length / 2) return null
    const { looks, selected } = from
    const { classOn } = next
    const { lows, highs, inverted } = next.range
    const counts = from.counts.slice()
    let [count, changes] = [from.count, 0]
    for (const [first, last] of spans)
      for (let i = starts[first]!; i < starts[last + 1]!; i++) {
        const l = links[i]!
        const [value, code] = [this.values[l]!, this.classOf[l]!]
        const within = value >= lows[code]! && value <= highs[code]!
        const on = within !== inverted && classOn[code] === 1 ? 1 : 0
        if (on === selected[l]) continue
        selected[l] = on
        looks[l] = on === 1 || shades[l] === EMPTY ? shades[l]! : FILTERED
        counts[code]! += on === 1 ? 1 : -1
        count += on === 1 ? 1 : -1
        this.changed[changes++] = l
      }
    const changed = this.changed.subarray(0, changes)
    return { looks, selected, count, counts, sums: this.sumsOf(next), step: from.step + 1, changed }
  }

  /** The bins between the old and the new ends, of all classes, each once. */
  private between(old: Filter, next: Filter): [number, number][] {
    const spans: [number, number][] = []
    for (let c = 0; c < this.classes; c++)
      for (const end of ['lows', 'highs'] as const) {
        const [a, b] = [old.range[end][c]!, next.range[end][c]!]
        if (a !== b) spans.push([this.binOf(Math.min(a, b)), this.binOf(Math.max(a, b))])
      }
    spans.sort((a, b) => a[0] - b[0])
    const apart: [number, number][] = []
    for (const [first, last] of spans) {
      const before = apart[apart.length - 1]
      if (before && first <= before[1]) before[1] = Math.max(before[1], last)
      else apart.push([first, last])
    }
    return apart
  }

  /** Summed from the bins. Subtracting what left would keep the rounding error of large values. */
  private sumsOf({ range: { lows, highs, inverted }, classOn }: Filter): Float64Array {
    const { classes, starts, links, values, classOf } = this
    const result = new Float64Array(classes)
    for (let c = 0; c < classes; c++) {
      if (classOn[c] === 0) continue
      const [low, high] = [lows[c]!, highs[c]!]
      const [first, last] = low <= high ? [this.binOf(low), this.binOf(high)] : [0, 0]
      let sum = 0
      for (let b = 0; b < this.bins; b++) {
        if (b === first || b === last)
          for (let i = starts[b]!; i < starts[b + 1]!; i++) {
            const [l, value] = [links[i]!, values[links[i]!]!]
            if (classOf[l] === c && (value >= low && value <= high) !== inverted) sum += value
          }
        else if ((b > first && b < last) !== inverted) sum += this.sums[b * classes + c]!
      }
      result[c] = sum
    }
    return result
  }
}

/** Integers in the order of the floats. */
function keysOf(floats: Float32Array): Int32Array {
  const keys = new Int32Array(floats.buffer)
  for (let i = 0; i < keys.length; i++) if (keys[i]! < 0) keys[i]! ^= 0x7fffffff
  return keys
}
