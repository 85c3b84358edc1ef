/** Distinct colours for jobs and other categories. */
import { okabe_ito, unknown_job } from '../../../python/odonata/colors.json'
import { DICHROMACIES, fromOklab, parseHex, simulateDichromacy, toHex, toOklab, type Rgb } from './color'

export const [BLUE, ORANGE] = okabe_ito as [string, string]
export const VERMILLION = okabe_ito[5]!
/** Colour of a job without one. */
export const UNKNOWN_JOB = unknown_job

/** Candidate lightness and hue steps; all of them are visible on white and on black. */
const LIGHTNESS = [0.58, 0.72, 0.46, 0.82] as const
const HUES = 24
const CHROMA = 0.13
/**
 * Dichromats see two of three dimensions, so no 24 colours are as far apart for them. Half the distance
 * counts the same.
 */
const DICHROMAT_WEIGHT = 2

/** An OKLab colour as seen with normal vision, then with each dichromacy. */
type ColorViews = readonly Rgb[]

const colorViewsOf = (rgb: Rgb): ColorViews => [
  toOklab(rgb),
  ...DICHROMACIES.map((kind) => toOklab(simulateDichromacy(kind, rgb))),
]

/**
 * Keeps the given colours, but replaces duplicates. A duplicate becomes the candidate that is farthest in
 * OKLab from all used colours, judged by the vision that separates them worst.
 */
export function distinctColors(colors: readonly string[]): string[] {
  const given = colors.map((color) => color.toLowerCase())
  const used = [...new Set(given)].map((color) => colorViewsOf(parseHex(color)))
  const seen = new Set<string>()
  let candidates: Candidate[] | undefined
  return colors.map((color, i) => {
    if (!seen.has(given[i]!)) {
      seen.add(given[i]!)
      return color
    }
    candidates ??= makeCandidates()
    const best = candidates.reduce((a, b) => (distanceTo(used, b.views) > distanceTo(used, a.views) ? b : a))
    used.push(best.views)
    return toHex(best.rgb)
  })
}

/** More colours than this look alike. */
const COLORS_MAX = 24
/** Of more jobs, those with a colour. */
const COLORED = 8

/**
 * The colours of jobs: distinct ones or, of very many jobs, only of those that matter most; the rest is grey.
 *
 * Args:
 * weights: How much each job matters.
 */
export function jobColors(colors: readonly string[], weights: readonly number[]): string[] {
  if (colors.length <= COLORS_MAX) return distinctColors(colors)
  const order = weights.map((_, job) => job).sort((a, b) => weights[b]! - weights[a]! || a - b)
  const chosen = categoryColors(order.slice(0, COLORED).map(String))
  const found = colors.map(() => UNKNOWN_JOB)
  chosen.forEach((color, i) => (found[order[i]!] = color))
  return found
}

/** A colour per category, blue first. */
export const categoryColors = (categories: readonly string[]): string[] =>
  distinctColors(categories.map(() => okabe_ito[0]!))

interface Candidate {
  readonly rgb: Rgb
  readonly views: ColorViews
}

function makeCandidates(): Candidate[] {
  return LIGHTNESS.flatMap((lightness) =>
    Array.from({ length: HUES }, (_, i) => {
      const hue = (2 * Math.PI * i) / HUES
      // Clamped to screen colours: a colour that cannot be shown must not count as far away.
      const rgb = fromOklab([lightness, CHROMA * Math.cos(hue), CHROMA * Math.sin(hue)])
      return { rgb, views: colorViewsOf(rgb) }
    }),
  )
}

/** Distance to the nearest used colour, in the vision in which the two are nearest. */
function distanceTo(used: readonly ColorViews[], color: ColorViews): number {
  let least = Infinity
  for (const other of used)
    color.forEach(([l, a, b], sight) => {
      const [l2, a2, b2] = other[sight]!
      const distance = Math.hypot(l - l2, a - a2, b - b2)
      least = Math.min(least, sight === 0 ? distance : DICHROMAT_WEIGHT * distance)
    })
  return least
}
