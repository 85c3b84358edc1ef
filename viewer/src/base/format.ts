/**
 * Number formatting: bytes with binary prefixes (1 MiB = 1,048,576 B), rates with decimal ones (1 GB/s = 10^9
 * B/s). `python/odonata/quantity.py` writes the same; the tests of both read `tests/quantities.json`.
 */

/** Unit of a column, as declared in the run directory. `doublings` is log2 of the ratio of two runs. */
export type Unit =
  'none' | 'count' | 'bytes' | 'bytes-per-s' | 'ps' | 'ns' | 's' | 'share' | 'ratio' | 'hops' | 'doublings'

// Created once: toLocaleString builds a formatter per call, which took 3 ms of each brush move.
const GROUPED = new Intl.NumberFormat('en-US')

interface Steps {
  readonly base: number
  readonly names: readonly string[]
}

const BYTES: Steps = { base: 1024, names: ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'] }
const RATES: Steps = { base: 1000, names: ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s', 'PB/s', 'EB/s'] }
/** From picoseconds upwards. */
const TIMES: Steps = { base: 1000, names: ['ps', 'ns', 'µs', 'ms', 's'] }
const COUNTS: Steps = { base: 1000, names: ['', 'k', 'M', 'G', 'T', 'P', 'E'] }
const PICOSECONDS: Readonly<Partial<Record<Unit, number>>> = { ps: 1, ns: 1e3, s: 1e12 }

/** Three significant digits; an exponent only below 1e-4 and from 1e6 on. */
export function digits(value: number, significant = 3): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? '–' : value > 0 ? '∞' : '−∞'
  if (value === 0) return '0'
  const size = Math.abs(value)
  const sign = value < 0 ? '−' : ''
  if (size >= 1e6 || size < 1e-4) {
    const [lead, power] = size.toExponential(significant - 1).split('e')
    return `${sign}${Number(lead)}e${String(Number(power)).replace('-', '−')}`
  }
  if (size >= 10 ** (significant - 1)) return sign + GROUPED.format(Math.round(size))
  // toPrecision keeps trailing zeros; 1.00 is shown as 1.
  const text = size.toPrecision(significant)
  return sign + (text.includes('.') ? text.replace(/\.?0+$/, '') : text)
}

export function count(value: number): string {
  return GROUPED.format(Math.round(value))
}

/** `1 router` or `96 routers`. */
export const counted = (value: number, noun: string): string =>
  `${count(value)} ${noun}${value === 1 ? '' : 's'}`

/** The value with its unit: `12.3 MiB`. */
export function quantity(value: number, unit: Unit, significant = 3): string {
  if (!Number.isFinite(value)) return digits(value)
  switch (unit) {
    case 'bytes':
      return withPrefix(value, BYTES, significant)
    case 'bytes-per-s':
      return withPrefix(value, RATES, significant)
    case 'ps':
    case 'ns':
    case 's':
      return value === 0 ? '0 s' : withPrefix(value * PICOSECONDS[unit]!, TIMES, significant)
    case 'share':
      return percent(value)
    case 'doublings':
      return factorText(value, significant)
    case 'none':
    case 'ratio':
    case 'hops':
      return digits(value, significant)
    case 'count': {
      const size = Math.abs(value)
      if (Number.isInteger(value) && size < 1e7) return count(value).replace('-', '−')
      return size < 1e6 || size >= 1e18 ? digits(value, significant) : withPrefix(value, COUNTS, significant)
    }
  }
}

/** Ratios beyond 2^10 are all shown as this one. It also stands for a ratio to zero, which has no number. */
export const DOUBLINGS_MAX = 10

/** ×2 for a doubling, ÷2 for a halving. */
function factorText(doublings: number, significant: number): string {
  const more = Math.abs(doublings) >= DOUBLINGS_MAX ? '≥ ' : ''
  return `${more}${doublings < 0 ? '÷' : '×'}${digits(2 ** Math.abs(doublings), significant)}`
}

/** Less of the smallest unit is rounding, such as 3.3e−7 B of two runs. */
const LEAST = 0.001

/** Uses the largest prefix that gives at least 1. */
function withPrefix(value: number, { base, names }: Steps, significant: number): string {
  const size = Math.abs(value)
  let step = 0
  // Without this test, 1023.7 KiB would be rounded to 1,024 KiB.
  while (step < names.length - 1 && Math.round(size / base ** step) >= base) step++
  if (step === 0 && size > 0 && size < LEAST) return `${value > 0 ? '<' : '>−'}${LEAST} ${names[0]}`
  return `${digits(value / base ** step, significant)} ${names[step]}`
}

/** `quantity` with an explicit sign, for differences. Ratios have no sign. */
export function signed(value: number, unit: Unit): string {
  return value > 0 && unit !== 'doublings' ? `+${quantity(value, unit)}` : quantity(value, unit)
}

export function percent(share: number): string {
  if (!Number.isFinite(share)) return '–'
  const value = share * 100
  return `${Math.abs(value) < 0.05 && value !== 0 ? (value > 0 ? '<0.1' : '>−0.1') : Math.abs(value) >= 99.95 ? digits(Math.round(value)) : value.toFixed(1).replace('-', '−')} %`
}

/** `percent` with a plus sign before a share above zero, for differences. */
export const signedPercent = (share: number): string => `${share > 0 ? '+' : ''}${percent(share)}`

/** Shortens a text to at most `most` letters; the last one is then an ellipsis. */
export const shorten = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text

/** An example input for a value of this unit. */
export function exampleOf(unit: Unit): string {
  switch (unit) {
    case 'bytes':
      return '1.5 MiB'
    case 'bytes-per-s':
      return '12.5 GB/s'
    case 'ps':
    case 'ns':
    case 's':
      return '20 ns'
    case 'share':
      return '20 %'
    case 'doublings':
      return '×2'
    case 'none':
    case 'count':
    case 'ratio':
    case 'hops':
      return '100'
  }
}

/** Parses what `quantity` writes: a number with an optional unit, or null. */
export function parseQuantity(text: string, unit: Unit): number | null {
  if (unit === 'doublings') {
    const [, sign, rest] = /^[\s≥]*([×x÷/]?)(.*)$/i.exec(text)!
    const factor = parseQuantity(rest!, 'ratio')
    if (factor === null || factor <= 0) return null
    return sign === '÷' || sign === '/' ? -Math.log2(factor) : Math.log2(factor)
  }
  const match = /^\s*([+−-]?)\s*([\d,]*\.?\d+(?:e[+−-]?\d+)?)\s*([a-zµ/%]*)\s*$/i.exec(text)
  if (!match) return null
  const number =
    Number(match[2]!.replaceAll(',', '').replace('−', '-')) * (match[1] === '' || match[1] === '+' ? 1 : -1)
  if (!Number.isFinite(number)) return null
  if (match[3] === '') return number
  const factor = factorOf(match[3]!, unit)
  return factor === null ? null : number * factor
}

/** How many of `unit` the symbol stands for; null if it is not a symbol of this unit. */
function factorOf(symbol: string, unit: Unit): number | null {
  const power = ({ base, names }: Steps, name: string): number | null => {
    const step = names.findIndex((known) => known.toLowerCase() === name.toLowerCase())
    return step < 0 ? null : base ** step
  }
  switch (unit) {
    case 'bytes':
      return power(BYTES, symbol) ?? power(RATES, `${symbol}/s`)
    case 'bytes-per-s':
      return power(RATES, symbol) ?? power(BYTES, symbol.replace(/\/s$/, ''))
    case 'ps':
    case 'ns':
    case 's': {
      const picoseconds = power(TIMES, symbol.toLowerCase() === 'us' ? 'µs' : symbol)
      return picoseconds === null ? null : picoseconds / PICOSECONDS[unit]!
    }
    case 'share':
      return symbol === '%' ? 0.01 : null
    case 'count':
      return power(COUNTS, symbol)
    case 'none':
    case 'ratio':
    case 'hops':
    case 'doublings':
      return null
  }
}
