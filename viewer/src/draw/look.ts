/** Theme colours, and the look of each link or cell state. */
import { mixWith, toHex, toPixel, parseHex, type Rgb } from '../base/color'
import { RAMPS, rampFor, shades, type Theme } from '../base/ramps'
import { EMPTY, FILTERED, FIRST_SHADE, SHADES } from '../data/scale'

const PALETTES = {
  light: {
    background: '#ffffff',
    panel: '#f6f7f9',
    ink: '#1c2530',
    muted: '#5c6875',
    line: '#d5dae0',
    /** A link with value zero. */
    empty: '#eceff2',
    /** A link outside of the selection. */
    filtered: '#c3c9d0',
    idle: '#c5cbd2',
    accent: '#0a66c2',
  },
  dark: {
    background: '#14181d',
    panel: '#1b2027',
    ink: '#e8ecf1',
    muted: '#9aa6b3',
    line: '#333c47',
    empty: '#232a32',
    filtered: '#4a5560',
    idle: '#47515c',
    accent: '#6bb3ff',
  },
}

type Palette = Readonly<(typeof PALETTES)[Theme]>

/** The theme colours as variables of the style sheet. */
export const themeVariables = (theme: Theme): Record<string, string> =>
  Object.fromEntries(Object.entries(PALETTES[theme]).map(([name, color]) => [`--${name}`, color]))

/** A cell without a link. */
export const NO_LINK = 255
/**
 * Added to the look of a filtered cell: its colour is faded, so the surroundings of a selection stay visible.
 */
export const DIMMED = 256
const DIMMED_SHARE = 0.72

/**
 * Share of a diverging ramp that counts as negative. The middle is excluded, since its marks are barely
 * visible.
 */
const HOLLOW_SHARE = 0.48
/** Hollow share of a mark's width. */
export const HOLE = 0.45

export interface LookTable {
  readonly palette: Palette
  readonly theme: Theme
  readonly colors: readonly string[]
  /** Ramp of router ranks; links never use it. */
  readonly ranks: readonly string[]
  /** The colours as pixels; `NO_LINK` is transparent. */
  readonly pixels: Uint32Array
  /**
   * 1 for looks of the negative half of a diverging ramp: drawn hollow, so a decrease is visible without
   * colour.
   */
  readonly hollow: Uint8Array
  /** Background pixel inside a hollow mark. */
  readonly hole: number
}

const made = new Map<string, LookTable>()

export function looksFor(theme: Theme, rampName: string, diverging: boolean): LookTable {
  const ramp = rampFor(rampName, diverging)
  const key = `${theme} ${ramp.label}`
  let looks = made.get(key)
  if (!looks) {
    const palette = PALETTES[theme]
    const rgb: Rgb[] = []
    rgb[EMPTY] = parseHex(palette.empty)
    rgb[FILTERED] = parseHex(palette.filtered)
    shades(ramp, theme, SHADES).forEach((color, i) => (rgb[FIRST_SHADE + i] = color))
    const dim = mixWith(rgb[FILTERED], DIMMED_SHARE)
    rgb.slice().forEach((color, i) => (rgb[DIMMED + i] = dim(color)))
    const pixels = new Uint32Array(2 * DIMMED)
    rgb.forEach((color, i) => (pixels[i] = toPixel(color)))
    const hollow = new Uint8Array(2 * DIMMED)
    const less = ramp.diverging ? Math.floor(HOLLOW_SHARE * SHADES) : 0
    for (const first of [FIRST_SHADE, DIMMED + FIRST_SHADE]) hollow.fill(1, first, first + less)
    const other = RAMPS[ramp === RAMPS['viridis'] ? 'blues' : 'viridis']!
    const ranks = [palette.idle, palette.idle, ...shades(other, theme, SHADES).map(toHex)]
    const hole = toPixel(parseHex(palette.background))
    looks = { palette, theme, colors: rgb.map(toHex), ranks, pixels, hollow, hole }
    made.set(key, looks)
  }
  return looks
}

export function colorAt(looks: LookTable, share: number): string {
  return looks.colors[FIRST_SHADE + Math.round(Math.max(0, Math.min(1, share)) * (SHADES - 1))]!
}
