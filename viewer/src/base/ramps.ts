/**
 * Colour ramps, one per background: low values are close to the background.
 *
 * Sequential ramps change lightness steadily, so they work in grey and with any colour vision; a test checks
 * this. The two ends of a diverging ramp also differ for red-green blindness.
 */
import ramps from '../../../python/odonata/ramps.json'
import { along, type Rgb } from './color'

export type Theme = 'light' | 'dark'

export interface Ramp {
  readonly label: string
  readonly diverging: boolean
  readonly light: readonly string[]
  readonly dark: readonly string[]
}

export const RAMPS: Readonly<Record<string, Ramp>> = ramps

export const SEQUENTIAL_DEFAULT = 'fire'
const DIVERGING_DEFAULT = 'purpleOrange'

/** The named ramp if it suits the data, else the default one. */
export function rampFor(name: string, diverging: boolean): Ramp {
  const ramp = RAMPS[name]
  return ramp && ramp.diverging === diverging
    ? ramp
    : RAMPS[diverging ? DIVERGING_DEFAULT : SEQUENTIAL_DEFAULT]!
}

/** `steps` colours from the low to the high end of the ramp. */
export function shades(ramp: Ramp, theme: Theme, steps: number): Rgb[] {
  const at = along(ramp[theme])
  return Array.from({ length: steps }, (_, i) => at(steps === 1 ? 1 : i / (steps - 1)))
}
