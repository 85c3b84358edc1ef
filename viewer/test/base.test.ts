import { describe, expect, test } from 'vitest'
import { toOklab } from '../src/base/color'
import { digits, parseQuantity, percent, quantity, signed } from '../src/base/format'
import { RAMPS, shades } from '../src/base/ramps'

describe('quantities', () => {
  test.each([
    [0, '0 B'],
    [1023, '1,023 B'],
    [1024, '1 KiB'],
    // 1023.7 KiB has three digits only as 1 MiB.
    [1023.7 * 1024, '1 MiB'],
    [198_963_814.4, '190 MiB'],
    [1.5 * 1024 ** 3, '1.5 GiB'],
    [-2048, '−2 KiB'],
  ])('%d bytes are %s', (value, text) => expect(quantity(value, 'bytes')).toBe(text))

  test('times choose their unit', () => {
    expect(quantity(1_300_000, 'ps')).toBe('1.3 µs')
    expect(quantity(30_000, 'ps')).toBe('30 ns')
    expect(quantity(2.5e12, 'ps')).toBe('2.5 s')
  })

  test('differences have signs', () => {
    expect(signed(1024, 'bytes')).toBe('+1 KiB')
    expect(signed(-1024, 'bytes')).toBe('−1 KiB')
    expect(signed(0, 'bytes')).toBe('0 B')
  })

  test('large counts have a prefix', () => {
    expect(quantity(365_000_000, 'count')).toBe('365 M')
    expect(quantity(999_999_999, 'count')).toBe('1 G')
    expect(quantity(1_356_000_000.5, 'count')).toBe('1.36 G')
    expect(quantity(1_234_567, 'count')).toBe('1,234,567')
  })

  test('small shares are not shown as none', () => {
    expect(percent(0.0001)).toBe('<0.1 %')
    expect(percent(0)).toBe('0.0 %')
    expect(percent(-0.207)).toBe('−20.7 %')
  })

  test('what is written can be read: within the three digits that are shown', () => {
    for (let e = -3; e < 17; e += 0.37) {
      const value = 10 ** e
      for (const unit of ['bytes', 'ps', 'ratio', 'count'] as const) {
        const text = quantity(value, unit, 4)
        const read = parseQuantity(text.replace('e−', 'e-'), unit)
        expect(read, text).not.toBeNull()
        expect(Math.abs(read! / value - 1), text).toBeLessThan(6e-3)
      }
    }
  })

  test('MB and MiB are different, nonsense is refused', () => {
    expect(parseQuantity('1 MB', 'bytes')).toBe(1e6)
    expect(parseQuantity('1MiB', 'bytes')).toBe(1048576)
    expect(parseQuantity('3 parsec', 'bytes')).toBeNull()
    expect(parseQuantity('', 'bytes')).toBeNull()
    expect(parseQuantity('20 ns', 'bytes')).toBeNull()
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

  test.each(sequential)('%s goes steadily away from the background', (name) => {
    // So it is readable in grey and with any colour vision: darker on light, lighter on dark.
    const [light, dark] = [lightness(name, 'light'), lightness(name, 'dark')]
    for (let i = 1; i < 64; i++) {
      expect(light[i]!).toBeLessThan(light[i - 1]! + 1e-6)
      expect(dark[i]!).toBeGreaterThan(dark[i - 1]! - 1e-6)
    }
    expect(Math.abs(light[0]! - light[63]!)).toBeGreaterThan(0.35)
  })

  test.each(diverging)('%s leaves its middle steadily on both sides', (name) => {
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
