/** Colours for things that must be told apart, such as jobs. */
import { DICHROMACIES, fromOklab, parseHex, seenWith, toHex, toOklab, type Rgb } from './color'

/** Steps of lightness and hue that new colours are taken from; between them they are seen on white and on black. */
const LIGHTNESS = [0.58, 0.72, 0.46, 0.82] as const
const HUES = 24
const CHROMA = 0.13
/** Dichromats see two dimensions of three: of 24 colours no two can be as far apart for them, and half as far counts the same. */
const DICHROMAT_SHARE = 2

/** A colour in OKLab, as it is and as dichromats see it. */
type Sights = readonly Rgb[]

const sightsOf = (rgb: Rgb): Sights => [
  toOklab(rgb),
  ...DICHROMACIES.map((kind) => toOklab(seenWith(kind, rgb))),
]

/**
 * The colours as they are; one that an earlier entry has already becomes the candidate that is farthest in OKLab from
 * all that are in use, in the eyes of those who tell it apart worst, so that as many things as there are have as many colours.
 */
export function distinctColors(colors: readonly string[]): string[] {
  const given = colors.map((color) => color.toLowerCase())
  const used = [...new Set(given)].map((color) => sightsOf(parseHex(color)))
  const seen = new Set<string>()
  let candidates: Candidate[] | undefined
  return colors.map((color, i) => {
    if (!seen.has(given[i]!)) {
      seen.add(given[i]!)
      return color
    }
    candidates ??= makeCandidates()
    const best = candidates.reduce((a, b) =>
      distanceTo(used, b.sights) > distanceTo(used, a.sights) ? b : a,
    )
    used.push(best.sights)
    return toHex(best.rgb)
  })
}

interface Candidate {
  readonly rgb: Rgb
  readonly sights: Sights
}

function makeCandidates(): Candidate[] {
  return LIGHTNESS.flatMap((lightness) =>
    Array.from({ length: HUES }, (_, i) => {
      const hue = (2 * Math.PI * i) / HUES
      // As the screen's colours: what cannot be shown is not counted as far away.
      const rgb = fromOklab([lightness, CHROMA * Math.cos(hue), CHROMA * Math.sin(hue)])
      return { rgb, sights: sightsOf(rgb) }
    }),
  )
}

/** From the nearest, by the sight in which the two are nearest. */
function distanceTo(used: readonly Sights[], color: Sights): number {
  let least = Infinity
  for (const other of used)
    color.forEach(([l, a, b], sight) => {
      const [l2, a2, b2] = other[sight]!
      const distance = Math.hypot(l - l2, a - a2, b - b2)
      least = Math.min(least, sight === 0 ? distance : DICHROMAT_SHARE * distance)
    })
  return least
}
