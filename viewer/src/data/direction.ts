/** Directions of torus and mesh links: axis and sign. */
import type { Run } from './run'

interface Move {
  readonly axis: number
  readonly sign: number
  readonly wraps: boolean
}

/** Axis and sign of a link; a wraparound link keeps the sign of its direction. */
export function moveOf({ routers: { axes } }: Run, s: number, t: number): Move {
  const axis = axes.findIndex(({ values }) => values[s] !== values[t])
  if (axis < 0) return { axis: 0, sign: 1, wraps: false }
  const delta = axes[axis]!.values[t]! - axes[axis]!.values[s]!
  const wraps = Math.abs(delta) > 1
  return { axis, sign: wraps ? -Math.sign(delta) : Math.sign(delta), wraps }
}

/** Written `X+`. */
interface Direction {
  readonly name: string
  readonly axis: number
  readonly sign: 1 | -1
}

/** Two per axis with links; none if the machine is not a torus. */
export function directionsOf({ shape, routers: { axes } }: Run): Direction[] {
  if (shape !== 'torus') return []
  return axes.flatMap(({ name, size }, axis) =>
    size > 1
      ? ([1, -1] as const).map((sign) => ({ name: `${name}${sign > 0 ? '+' : '−'}`, axis, sign }))
      : [],
  )
}

/** Accepts the displayed name or ASCII signs. */
export function findDirection(run: Run, name: string): Direction | undefined {
  const wanted = name.replace(/-$/, '−').toLowerCase()
  return directionsOf(run).find((one) => one.name.toLowerCase() === wanted)
}

/** Number of a direction; 0 for a link from a router to itself. */
const numberOf = ({ axis, sign }: Pick<Move, 'axis' | 'sign'>): number => sign * (axis + 1)
/** Cached: directions do not depend on the values. */
const known = new WeakMap<Run, Int8Array>()
function numbersOf(run: Run): Int8Array {
  const found = known.get(run)
  if (found) return found
  const { source, target } = run.links
  const numbers = Int8Array.from({ length: run.links.count }, (_, l) =>
    source[l] === target[l] ? 0 : numberOf(moveOf(run, source[l]!, target[l]!)),
  )
  known.set(run, numbers)
  return numbers
}

export const runsIn = (run: Run, link: number, direction: Direction): boolean =>
  numbersOf(run)[link] === numberOf(direction)

interface DirectionStats extends Direction {
  readonly links: number
  readonly mean: number
  /** By absolute value, so it also works for differences. */
  readonly largest: number
}

/** Statistics of all links, selected or not, as for classes. */
export function directionStats(run: Run, values: Float64Array): DirectionStats[] {
  const directions = directionsOf(run)
  const places = new Map(directions.map((direction, i) => [numberOf(direction), i]))
  if (directions.length === 0) return []
  const of = directions.map(() => ({ links: 0, sum: 0, largest: 0 }))
  const numbers = numbersOf(run)
  for (let l = 0; l < numbers.length; l++) {
    const found = of[places.get(numbers[l]!)!]
    if (!found) continue
    const value = values[l]!
    found.links++
    found.sum += value
    if (Math.abs(value) > Math.abs(found.largest)) found.largest = value
  }
  return directions.map((direction, i) => {
    const { links, sum, largest } = of[i]!
    return { ...direction, links, mean: links === 0 ? 0 : sum / links, largest }
  })
}
