/** Numbers as people read them. Binary prefixes count bytes (1 MiB = 1,048,576 B), as everywhere in Odonata. */

export type Unit = 'bytes' | 'ps' | 'ns' | 's' | 'count' | 'ratio' | 'share' | 'bytes_per_s'

// Made once: toLocaleString builds a formatter on every call, which took 3 ms of each brush move.
const GROUPED = new Intl.NumberFormat('en-US')

const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB']
/** Prefixes of counts, a thousand to the power of the place. */
const DECIMAL = ['', 'k', 'M', 'G', 'T', 'P', 'E']
const TIME: [number, string][] = [
  [1e12, 's'],
  [1e9, 'ms'],
  [1e6, 'µs'],
  [1e3, 'ns'],
  [1, 'ps'],
]

/** Three significant digits, without an exponent where one can do without. */
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
  // toPrecision keeps trailing zeros, which say how precise the figure is; 1.00 is shown as 1.
  const text = size.toPrecision(significant)
  return sign + (text.includes('.') ? text.replace(/\.?0+$/, '') : text)
}

export function count(value: number): string {
  return GROUPED.format(Math.round(value))
}

/** The value with its unit, as in `12.3 MiB`. */
export function quantity(value: number, unit: Unit, significant = 3): string {
  const size = Math.abs(value)
  if (!Number.isFinite(value)) return digits(value)
  switch (unit) {
    case 'bytes':
    case 'bytes_per_s': {
      let step = size < 1 ? 0 : Math.min(BINARY.length - 1, Math.floor(Math.log2(size) / 10))
      // 1023.7 KiB would be rounded to 1,024 KiB.
      if (Math.round(size / 1024 ** step) >= 1024 && step < BINARY.length - 1) step++
      return `${digits(value / 1024 ** step, significant)} ${BINARY[step]}${unit === 'bytes' ? '' : '/s'}`
    }
    case 'ps': {
      if (value === 0) return '0 s'
      const [factor, name] = TIME.find(([f]) => size >= f) ?? TIME[TIME.length - 1]!
      return `${digits(value / factor, significant)} ${name}`
    }
    case 'ns':
      return quantity(value * 1e3, 'ps', significant)
    case 's':
      return quantity(value * 1e12, 'ps', significant)
    case 'share':
      return percent(value)
    case 'ratio':
      return digits(value, significant)
    case 'count':
      if (Number.isInteger(value) && size < 1e7) return count(value).replace('-', '−')
      return size < 1e6 || size >= 1e18 ? digits(value, significant) : decimal(value, size, significant)
  }
}

/** Millions and more with a prefix: 365 M, 1.36 G. */
function decimal(value: number, size: number, significant: number): string {
  let step = Math.floor(Math.log10(size) / 3)
  if (Math.round(size / 1000 ** step) >= 1000) step++
  return `${digits(value / 1000 ** step, significant)} ${DECIMAL[step]}`
}

/** The same with an explicit sign, for differences. */
export function signed(value: number, unit: Unit): string {
  return value > 0 ? `+${quantity(value, unit)}` : quantity(value, unit)
}

export function percent(share: number): string {
  if (!Number.isFinite(share)) return '–'
  const value = share * 100
  return `${Math.abs(value) < 0.05 && value !== 0 ? (value > 0 ? '<0.1' : '>−0.1') : Math.abs(value) >= 99.95 ? digits(Math.round(value)) : value.toFixed(1).replace('-', '−')} %`
}

/** Reads what `quantity` writes: a number with an optional unit; null if it is neither. */
export function parseQuantity(text: string, unit: Unit): number | null {
  const match = /^\s*([+−-]?)\s*([\d,]*\.?\d+(?:e[+−-]?\d+)?)\s*([a-zµ/]*)\s*$/i.exec(text)
  if (!match) return null
  const number =
    Number(match[2]!.replaceAll(',', '').replace('−', '-')) * (match[1] === '' || match[1] === '+' ? 1 : -1)
  const suffix = match[3]!.replace(/\/s$/, '')
  if (!Number.isFinite(number)) return null
  if (suffix === '') return number
  if (unit === 'ps') {
    const found = TIME.find(([, name]) => name === suffix || (name === 'µs' && suffix === 'us'))
    return found ? number * found[0] : null
  }
  if (unit === 'bytes' || unit === 'bytes_per_s') {
    const binary = BINARY.indexOf(suffix)
    if (binary >= 0) return number * 1024 ** binary
    const decimal = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'].indexOf(suffix)
    return decimal >= 0 ? number * 1000 ** decimal : null
  }
  if (unit === 'count') {
    const power = DECIMAL.indexOf(suffix)
    return power > 0 ? number * 1000 ** power : null
  }
  return null
}
