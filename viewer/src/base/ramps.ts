/**
 * Colour ramps, one per background: low values are close to the background.
 *
 * Sequential ramps change lightness steadily, so they work in grey and with any colour vision; a test checks
 * this. The two ends of a diverging ramp also differ for red-green blindness.
 */
import { along, type Rgb } from './color'

export type Theme = 'light' | 'dark'

export interface Ramp {
  readonly label: string
  readonly diverging: boolean
  readonly light: readonly string[]
  readonly dark: readonly string[]
}

export const RAMPS: Readonly<Record<string, Ramp>> = {
  fire: {
    label: 'Yellow–red',
    diverging: false,
    light: ['#ffe98f', '#fdc24a', '#f88b2d', '#e2512b', '#b11a31', '#6d0b2e'],
    dark: ['#4a2430', '#82263a', '#bf3a33', '#e8692f', '#f9a648', '#fff0a3'],
  },
  viridis: {
    label: 'Viridis',
    diverging: false,
    light: ['#d6e021', '#73c94f', '#22a285', '#2c738e', '#414487', '#3c0f50'],
    dark: ['#47206f', '#3e4c8a', '#2b758e', '#20a386', '#75d054', '#fde725'],
  },
  blues: {
    label: 'Blues',
    diverging: false,
    light: ['#cfe1f2', '#9dc6e0', '#5da5d1', '#2b7bba', '#0f549f', '#08306b'],
    dark: ['#1d3557', '#1f528a', '#2f76b8', '#569bd3', '#8fc1e6', '#d8ebf9'],
  },
  purpleOrange: {
    label: 'Purple–orange',
    diverging: true,
    light: ['#4a1d86', '#7c60ad', '#b9b0d6', '#efefef', '#f8b968', '#d9771a', '#8c3d04'],
    dark: ['#b79bf0', '#8266c4', '#54437f', '#33333b', '#7d4a17', '#c97521', '#ffc06a'],
  },
  blueRed: {
    label: 'Blue–red',
    diverging: true,
    light: ['#123f82', '#3d7ebd', '#a3c9e3', '#f0f0f0', '#f5b596', '#d15645', '#840f27'],
    dark: ['#8ec5f5', '#4f8fd0', '#2c527e', '#33333b', '#7f3a31', '#d25e4b', '#ffb199'],
  },
}

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
