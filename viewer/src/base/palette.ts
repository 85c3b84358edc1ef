/** Colours for things that must be told apart, such as jobs. */
import { fromOklab, parseHex, toHex, toOklab, type Rgb } from './color'

/** Steps of lightness and hue that new colours are taken from; between them they are seen on white and on black. */
const LIGHTNESS = [0.58, 0.72, 0.46, 0.82] as const
const HUES = 24
const CHROMA = 0.13

/**
 * The colours as they are; one that an earlier entry has already becomes the candidate that is farthest in OKLab from
 * all that are in use, so that as many things as there are have as many colours.
 */
export function distinctColors(colors: readonly string[]): string[] {
  const given = colors.map((color) => color.toLowerCase())
  const used = [...new Set(given)].map((color) => toOklab(parseHex(color)))
  const seen = new Set<string>()
  let candidates: Rgb[] | undefined
  return colors.map((color, i) => {
    if (!seen.has(given[i]!)) {
      seen.add(given[i]!)
      return color
    }
    candidates ??= makeCandidates()
    const best = candidates.reduce((a, b) => (distanceTo(used, b) > distanceTo(used, a) ? b : a))
    used.push(best)
    return toHex(fromOklab(best))
  })
}

function makeCandidates(): Rgb[] {
  return LIGHTNESS.flatMap((lightness) =>
    Array.from({ length: HUES }, (_, i): Rgb => {
      const hue = (2 * Math.PI * i) / HUES
      // Through the screen's colours and back: what cannot be shown is not counted as far away.
      return toOklab(fromOklab([lightness, CHROMA * Math.cos(hue), CHROMA * Math.sin(hue)]))
    }),
  )
}

function distanceTo(used: readonly Rgb[], color: Rgb): number {
  let least = Infinity
  for (const other of used)
    least = Math.min(least, Math.hypot(color[0] - other[0], color[1] - other[1], color[2] - other[2]))
  return least
}
