/**
 * Views of a torus, encoded in the setting `projection`.
 *
 * Empty: planes of the first two axes side by side. `X,Y`: all planes on top of each other. `cylinders:Z`:
 * view along Z (three axes). `slices:X,Z`: planes of these axes side by side. `slices:X,Y,Z`: cylinders along
 * the third axis, one pane per combination of the other axes.
 */
export interface Projection {
  readonly kind: 'planes' | 'flat' | 'cylinders'
  /** Indices of the horizontal and vertical axes. */
  readonly across: number
  readonly down: number
  /** Axis that cylinders look along; -1 otherwise. */
  readonly along: number
}

const CYLINDERS = 'cylinders:'
const SLICES = 'slices:'

/** Parses the setting for a machine with these axes; null if invalid. */
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

interface ProjectionOption {
  readonly value: string
  readonly label: string
}

/** Pairs of axes as `x0,x1`. */
export const axisPairs = (axes: readonly string[]): string[] =>
  axes.length < 3 ? [] : axes.flatMap((a, i) => axes.slice(i + 1).map((b) => `${a},${b}`))

/** All choices. */
export function projectionOptions(axes: readonly string[]): ProjectionOption[] {
  if (axes.length < 3) return []
  const pairs = axisPairs(axes)
  const times = (names: string): string => names.replaceAll(',', ' × ')
  const cylinders =
    axes.length === 3
      ? axes.map((axis) => ({ value: `${CYLINDERS}${axis}`, label: `cylinders along ${axis}` }))
      : pairs.flatMap((pair) =>
          axes.slice(axes.indexOf(pair.split(',')[1]!) + 1).map((axis) => ({
            value: `${SLICES}${pair},${axis}`,
            label: `slices ${times(`${pair},${axis}`)}, along ${axis}`,
          })),
        )
  return [
    { value: '', label: `slices ${times(pairs[0]!)}` },
    ...pairs.slice(1).map((pair) => ({ value: `${SLICES}${pair}`, label: `slices ${times(pair)}` })),
    ...pairs.map((pair) => ({ value: pair, label: `all planes on ${times(pair)}` })),
    ...cylinders,
  ]
}

/** The setting for another pair of axes in the current style. */
export function projectionFor(now: string, pair: string, axes: readonly string[]): string {
  const kind = parseProjection(now, axes)?.kind ?? 'planes'
  if (kind === 'flat') return pair
  const others = axes.filter((axis) => !pair.split(',').includes(axis))
  if (axes.length === 3) return `${CYLINDERS}${others[0]}`
  return kind === 'cylinders' ? `${SLICES}${pair},${others[0]}` : `${SLICES}${pair}`
}
