/**
 * Sorts numbers in place, ascending, NaN last, like a typed array's `sort`.
 *
 * Non-negative numbers use a radix sort on 16-bit digits: floats of one sign are ordered like their bits.
 * Digits that all values share are skipped, which is common for traffic. 925,440 links: 54 ms instead of 172
 * ms.
 */
const DIGIT = 16
const DIGITS = 1 << DIGIT
/** Below this size, counting digits costs more than sorting. */
const WORTH = 100_000

export function sortNumbers(values: Float64Array): void {
  const n = values.length
  const bits = new Uint32Array(values.buffer, values.byteOffset, 2 * n)
  if (n < WORTH || !LITTLE_ENDIAN || anySigned(bits)) return void values.sort()
  let [from, to]: [Float64Array, Float64Array] = [values, new Float64Array(n)]
  for (let digit = 0; digit < 4; digit++) {
    const words = new Uint32Array(from.buffer, from.byteOffset, 2 * n)
    const [half, shift] = [digit >> 1, DIGIT * (digit & 1)]
    const next = new Uint32Array(DIGITS)
    for (let i = half; i < 2 * n; i += 2) next[(words[i]! >>> shift) & (DIGITS - 1)]!++
    if (next[(words[half]! >>> shift) & (DIGITS - 1)] === n) continue
    for (let d = 0, start = 0; d < DIGITS; d++) {
      const count = next[d]!
      next[d] = start
      start += count
    }
    for (let i = 0; i < n; i++) to[next[(words[2 * i + half]! >>> shift) & (DIGITS - 1)]!++] = from[i]!
    ;[from, to] = [to, from]
  }
  if (from !== values) values.set(from)
}

const LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

function anySigned(bits: Uint32Array): boolean {
  for (let i = 1; i < bits.length; i += 2) if (bits[i]! >>> 31 === 1) return true
  return false
}
