import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { DICHROMACIES, parseHex, simulateDichromacy, toOklab, type Rgb } from '../src/base/color'
import { digits, parseQuantity, percent, quantity, signed, type Unit } from '../src/base/format'
import { distinctColors } from '../src/base/palette'
import { RAMPS, shades } from '../src/base/ramps'

/** Also read by the Python tests: value, unit, text. */
const EXAMPLES = JSON.parse(
  readFileSync(new URL('../../tests/quantities.json', import.meta.url), 'utf8'),
) as [number | null, Unit, string][]

describe('quantities', () => {
  test.each(EXAMPLES)('%d %s are formatted as in the terminal: %s', (value, unit, text) =>
    // The page uses proper signs.
    expect(
      quantity(value ?? NaN, unit)
        .replaceAll('−', '-')
        .replace('µ', 'u')
        .replace('–', '-'),
    ).toBe(text),
  )

  test('differences have a sign', () => {
    expect(signed(1024, 'bytes')).toBe('+1 KiB')
    expect(signed(-1024, 'bytes')).toBe('−1 KiB')
    expect(signed(0, 'bytes')).toBe('0 B')
  })

  test('small shares are not shown as zero', () => {
    expect(percent(0.0001)).toBe('<0.1 %')
    expect(percent(0)).toBe('0.0 %')
    expect(percent(-0.207)).toBe('−20.7 %')
  })

  test('formatted values can be parsed, within three digits', () => {
    for (let e = -3; e < 17; e += 0.37) {
      const value = 10 ** e
      for (const unit of ['bytes', 'bytes-per-s', 'ps', 'ns', 's', 'ratio', 'count'] as const) {
        const text = quantity(value, unit, 4)
        const read = parseQuantity(text.replace('e−', 'e-'), unit)
        expect(read, text).not.toBeNull()
        expect(Math.abs(read! / value - 1), text).toBeLessThan(6e-3)
      }
    }
  })

  test('MB and MiB differ; invalid text is refused', () => {
    expect(parseQuantity('1 MB', 'bytes')).toBe(1e6)
    expect(parseQuantity('1MiB', 'bytes')).toBe(1048576)
    expect(parseQuantity('2 gib', 'bytes')).toBe(2 ** 31)
    expect(parseQuantity('5 US', 'ps')).toBe(5e6)
    expect(parseQuantity('3 parsec', 'bytes')).toBeNull()
    expect(parseQuantity('', 'bytes')).toBeNull()
    expect(parseQuantity('20 ns', 'bytes')).toBeNull()
    expect(parseQuantity('25 GB/s', 'bytes-per-s')).toBe(25e9)
    expect(parseQuantity('1 GiB/s', 'bytes-per-s')).toBe(2 ** 30)
    expect(parseQuantity('×2', 'doublings')).toBe(1)
    expect(parseQuantity(' x0.25', 'doublings')).toBe(-2)
    expect(parseQuantity('÷8', 'doublings')).toBe(-3)
    expect(parseQuantity('0', 'doublings')).toBeNull()
    for (const value of [-10, -2.5, 0, 1, 10])
      expect(parseQuantity(quantity(value, 'doublings', 6), 'doublings')).toBeCloseTo(value, 4)
    expect([quantity(10, 'doublings'), quantity(-10, 'doublings')]).toEqual(['≥ ×1,024', '≥ ÷1,024'])
    expect([quantity(3, 'doublings'), signed(-1, 'doublings'), signed(0, 'doublings')]).toEqual([
      '×8',
      '÷2',
      '×1',
    ])
    expect(parseQuantity('1.5 us', 'ns')).toBe(1500)
    expect(parseQuantity('20 %', 'share')).toBe(0.2)
  })

  test('digits', () => {
    expect(digits(1.003)).toBe('1')
    expect(digits(1234567)).toBe('1.23e6')
    expect(digits(NaN)).toBe('–')
  })
})

describe('colour ramps', () => {
  const lightness = (name: string, theme: 'light' | 'dark'): number[] =>
    shades(RAMPS[name]!, theme, 64).map((rgb) => toOklab(rgb)[0])
  const sequential = Object.keys(RAMPS).filter((name) => !RAMPS[name]!.diverging)
  const diverging = Object.keys(RAMPS).filter((name) => RAMPS[name]!.diverging)

  test.each(sequential)('%s contrasts increasingly with the background', (name) => {
    // Readable in grey and with any colour vision: darker on light, lighter on dark.
    const [light, dark] = [lightness(name, 'light'), lightness(name, 'dark')]
    for (let i = 1; i < 64; i++) {
      expect(light[i]!).toBeLessThan(light[i - 1]! + 1e-6)
      expect(dark[i]!).toBeGreaterThan(dark[i - 1]! - 1e-6)
    }
    expect(Math.abs(light[0]! - light[63]!)).toBeGreaterThan(0.35)
  })

  test.each(diverging)('%s changes steadily on both sides of its middle', (name) => {
    for (const [theme, sign] of [
      ['light', -1],
      ['dark', 1],
    ] as const) {
      const values = lightness(name, theme)
      for (let i = 33; i < 64; i++) expect(sign * (values[i]! - values[i - 1]!)).toBeGreaterThan(-1e-6)
      for (let i = 30; i >= 0; i--) expect(sign * (values[i]! - values[i + 1]!)).toBeGreaterThan(-1e-6)
    }
  })
})

test('all jobs have distinct colours; given colours are kept', () => {
  const eight = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#f0e442', '#000000']
  const colors = distinctColors([...eight, ...eight, ...eight])
  expect(colors.slice(0, 8)).toEqual(eight)
  expect(new Set(colors).size).toBe(24)
  const labs = colors.map((color) => toOklab(parseHex(color)))
  // Green and blue of the palette are 0.17 apart; colours closer than 0.02 look equal.
  for (const [i, a] of labs.entries())
    for (const b of labs.slice(i + 1)) expect(Math.hypot(...a.map((v, k) => v - b[k]!))).toBeGreaterThan(0.06)
  expect(distinctColors(['#abc', '#def'])).toEqual(['#abc', '#def'])
})

test('colours are distinct for dichromats', () => {
  const least = (colors: readonly string[], sight: (rgb: Rgb) => Rgb): number => {
    const labs = colors.map((color) => toOklab(sight(parseHex(color))))
    const pairs = labs.flatMap((a, i) => labs.slice(i + 1).map((b) => a.map((v, k) => v - b[k]!)))
    return Math.min(...pairs.map((difference) => Math.hypot(...difference)))
  }
  const parts = distinctColors(Array.from({ length: 6 }, () => '#0072b2'))
  const eight = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#f0e442', '#000000']
  const jobs = distinctColors([...eight, ...eight, ...eight])
  for (const kind of DICHROMACIES) {
    expect(least(parts, (rgb) => simulateDichromacy(kind, rgb))).toBeGreaterThan(0.09)
    expect(least(jobs, (rgb) => simulateDichromacy(kind, rgb))).toBeGreaterThan(0.03)
  }
  // Greys look the same to all; red and green of one lightness look equal to many.
  for (const kind of DICHROMACIES)
    simulateDichromacy(kind, [120, 120, 120]).forEach((c) => expect(Math.abs(c - 120)).toBeLessThan(1))
  const pair = ['#b06f5b', '#7f8458']
  expect(least(pair, (rgb) => rgb)).toBeGreaterThan(
    3 * least(pair, (rgb) => simulateDichromacy('deuteranopia', rgb)),
  )
})
