/** Colour conversion and interpolation in OKLab, where equal steps look equal (Ottosson 2020). */

export type Rgb = readonly [number, number, number]

export function parseHex(hex: string): Rgb {
  const long = /^#([0-9a-f]{6})$/i.exec(hex)
  if (long) {
    const value = parseInt(long[1]!, 16)
    return [value >> 16, (value >> 8) & 255, value & 255]
  }
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(hex)
  if (short) return parseHex(`#${short[1]}${short[1]}${short[2]}${short[2]}${short[3]}${short[3]}`)
  return [128, 128, 128]
}

export function toHex([r, g, b]: Rgb): string {
  return (
    '#' +
    [r, g, b]
      .map((c) =>
        Math.max(0, Math.min(255, Math.round(c)))
          .toString(16)
          .padStart(2, '0'),
      )
      .join('')
  )
}

/** A little-endian ImageData pixel; all browsers run on little-endian machines. */
export function toPixel([r, g, b]: Rgb): number {
  return ((255 << 24) | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r)) >>> 0
}

const linear = (c: number): number => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
const gamma = (c: number): number => (c <= 0.0031308 ? c * 12.92 : 1.055 * c ** (1 / 2.4) - 0.055)

export function toOklab(rgb: Rgb): Rgb {
  const [r, g, b] = rgb.map((c) => linear(c / 255)) as unknown as Rgb
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ]
}

export function fromOklab([L, a, b]: Rgb): Rgb {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3
  const channels: Rgb = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ]
  return channels.map((c) => 255 * Math.max(0, Math.min(1, gamma(Math.max(0, c))))) as unknown as Rgb
}

/**
 * Colour vision deficiencies (Machado, Oliveira, Fernandes 2009, severity 1) as matrix rows on linear light.
 */
const DICHROMATS: Readonly<Record<'protanopia' | 'deuteranopia' | 'tritanopia', readonly Rgb[]>> = {
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}

type Dichromacy = keyof typeof DICHROMATS
export const DICHROMACIES = Object.keys(DICHROMATS) as Dichromacy[]

export function simulateDichromacy(kind: Dichromacy, rgb: Rgb): Rgb {
  const light = rgb.map((c) => linear(c / 255))
  return DICHROMATS[kind].map((row) => {
    const seen = row.reduce((sum, weight, i) => sum + weight * light[i]!, 0)
    return 255 * gamma(Math.max(0, Math.min(1, seen)))
  }) as unknown as Rgb
}

/** Interpolates two OKLab colours. */
function between(a: Rgb, b: Rgb, share: number): Rgb {
  return fromOklab([0, 1, 2].map((i) => a[i]! + (b[i]! - a[i]!) * share) as unknown as Rgb)
}

/** A ramp of evenly spaced colours, as a function of the share 0 to 1. */
export function along(stops: readonly string[]): (share: number) => Rgb {
  const known = stops.map((stop) => toOklab(parseHex(stop)))
  return (share) => {
    const at = Math.max(0, Math.min(1, share)) * (stops.length - 1)
    const i = Math.min(stops.length - 2, Math.floor(at))
    return between(known[i]!, known[i + 1]!, at - i)
  }
}

/** A function that mixes any colour with a fixed one. */
export function mixWith(to: Rgb, share: number): (from: Rgb) => Rgb {
  const known = toOklab(to)
  return (from) => between(toOklab(from), known, share)
}
