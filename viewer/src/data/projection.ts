/**
 * From where a torus is seen: the words of the setting, and what they mean.
 *
 * Empty: planes of the first two axes side by side. `X,Y`: all planes on one. `cylinders:Z`: looking down Z (of three axes).
 * `slices:X,Z`: planes of these two axes side by side; `slices:X,Y,Z`: cylinders that look down the last of the three, a pane for
 * each combination of the other axes.
 */
export interface Projection {
  readonly kind: 'planes' | 'flat' | 'cylinders'
  /** Indices of the axes that run across and down. */
  readonly across: number
  readonly down: number
  /** The axis that cylinders look down; -1 otherwise. */
  readonly along: number
}

const CYLINDERS = 'cylinders:'
const SLICES = 'slices:'

/** What the words mean on a machine with these axes; null if nothing. */
export function parseProjection(text: string, axes: readonly string[]): Projection | null {
  if (text === '') return { kind: 'planes', across: 0, down: Math.min(1, axes.length - 1), along: -1 }
  const word = [CYLINDERS, SLICES].find((start) => text.startsWith(start)) ?? ''
  const chosen = text
    .slice(word.length)
    .split(',')
    .map((name) => axes.indexOf(name))
  if (chosen.includes(-1) || new Set(chosen).size !== chosen.length) return null
  const [a, b, c] = chosen
  if (word === CYLINDERS) {
    if (chosen.length !== 1 || axes.length !== 3) return null
    const [across, down] = [0, 1, 2].filter((axis) => axis !== a)
    return { kind: 'cylinders', across: across!, down: down!, along: a! }
  }
  if (chosen.length === 2)
    return { kind: word === SLICES ? 'planes' : 'flat', across: a!, down: b!, along: -1 }
  return word === SLICES && chosen.length === 3 && axes.length > 3
    ? { kind: 'cylinders', across: a!, down: b!, along: c! }
    : null
}

export interface ProjectionOption {
  readonly value: string
  readonly label: string
}

/** Pairs of axes that a machine can be projected on, as `x0,x1`. */
export const axisPairs = (axes: readonly string[]): string[] =>
  axes.length < 3 ? [] : axes.flatMap((a, i) => axes.slice(i + 1).map((b) => `${a},${b}`))

/** All that can be chosen. */
export function projectionOptions(axes: readonly string[]): ProjectionOption[] {
  if (axes.length < 3) return []
  const pairs = axisPairs(axes)
  const times = (names: string): string => names.replaceAll(',', ' × ')
  const cylinders =
    axes.length === 3
      ? axes.map((axis) => ({ value: `${CYLINDERS}${axis}`, label: `cylinders down ${axis}` }))
      : pairs.flatMap((pair) =>
          axes.slice(axes.indexOf(pair.split(',')[1]!) + 1).map((axis) => ({
            value: `${SLICES}${pair},${axis}`,
            label: `slices ${times(`${pair},${axis}`)}, down ${axis}`,
          })),
        )
  return [
    { value: '', label: `slices ${times(pairs[0]!)}` },
    ...pairs.slice(1).map((pair) => ({ value: `${SLICES}${pair}`, label: `slices ${times(pair)}` })),
    ...pairs.map((pair) => ({ value: pair, label: `onto ${times(pair)}` })),
    ...cylinders,
  ]
}

/** The setting that shows two axes in the way in which the machine is seen now; cylinders where it is not flat. */
export function lookAt(now: string, pair: string, axes: readonly string[]): string {
  const kind = parseProjection(now, axes)?.kind ?? 'planes'
  if (kind === 'flat') return pair
  const others = axes.filter((axis) => !pair.split(',').includes(axis))
  if (axes.length === 3) return `${CYLINDERS}${others[0]}`
  return kind === 'cylinders' ? `${SLICES}${pair},${others[0]}` : `${SLICES}${pair}`
}
