/**
 * Colours of a table of means that do not show noise: two cells differ in colour only if their means differ by
 * more than the spread of their values.
 */
import type { Unit } from '../base/format'
import { colorScale, type ColorScale } from './scale'
import { spreadsOf, type Pivot, type PivotCell } from './pivot'

/** Smaller deviations keep a pale colour. */
export const LEAST_DEVIATION = 0.05

export interface CellColors {
  /** Relative deviation of each cell's level. */
  readonly deviations: readonly number[]
  /** Diverges around the middle, over at least ±5 %. */
  readonly scale: ColorScale
  /** The mean that has no deviation. */
  readonly middle: number
}

/**
 * Args:
 * cells: Of the whole table.
 * spreads: Range of the values of each cell over its seeds.
 * unit: Ratios, such as slowdowns, deviate from 1; other values from their median.
 * least: Smallest range of the colours; tables of one page share it.
 */
export function cellColors(
  cells: readonly Pick<PivotCell, 'mean'>[],
  spreads: readonly number[],
  unit: Unit = 'none',
  least = LEAST_DEVIATION,
): CellColors {
  const order = cells.map((_, i) => i).sort((a, b) => cells[a]!.mean - cells[b]!.mean)
  const mean = (at: number): number => cells[order[at]!]!.mean
  // A level ends where no cell below reaches the next one above, and none above reaches down.
  const below = new Float64Array(order.length).fill(Infinity)
  for (let at = order.length - 1, reach = Infinity; at >= 0; at--)
    below[at] = reach = Math.min(reach, mean(at) - spreads[order[at]!]!)
  const levels: number[][] = []
  let reach = -Infinity
  order.forEach((cell, at) => {
    if (at === 0 || (reach < mean(at) && below[at]! > mean(at - 1))) levels.push([])
    levels.at(-1)!.push(cell)
    reach = Math.max(reach, mean(at) + spreads[cell]!)
  })
  const isRatio = unit === 'ratio'
  const means = levels.map((level) => level.reduce((sum, cell) => sum + cells[cell]!.mean, 0) / level.length)
  const median = order[Math.floor((order.length - 1) / 2)]
  const middle = isRatio ? 1 : (means[levels.findIndex((level) => level.includes(median!))] ?? 0)
  const deviations = cells.map(() => 0)
  // A ratio that its seeds do not distinguish from 1 is no deviation.
  const isOne = (cell: number): boolean => isRatio && Math.abs(cells[cell]!.mean - 1) <= spreads[cell]!
  levels.forEach((level, at) => {
    const all = middle === 0 ? Math.sign(means[at]!) : means[at]! / middle - 1
    const deviation = level.some(isOne) ? 0 : all
    for (const cell of level) deviations[cell] = deviation
  })
  const size = Math.max(least, ...deviations.map(Math.abs))
  return {
    deviations,
    middle,
    scale: colorScale('linear', Float64Array.of(-size, size), true, [-size, size]),
  }
}

/** Which keys of rows and of columns are seeds, and the smallest range of the colours. */
export interface ColorRules {
  readonly rows: readonly boolean[]
  readonly columns: readonly boolean[]
  readonly least?: number
}

/** Shade of each cell, by row and column. */
export function pivotColors(
  pivot: Pivot,
  unit: Unit,
  { least, ...seeds }: ColorRules,
): { shades: number[][]; of: CellColors } {
  const spreads = spreadsOf(pivot, seeds)
  const known = pivot.cells.flatMap((line, r) =>
    line.flatMap((cell, c) => (cell ? [{ r, c, cell, spread: spreads[r]![c]! }] : [])),
  )
  const of = cellColors(
    known.map(({ cell }) => cell),
    known.map(({ spread }) => spread),
    unit,
    least,
  )
  const shades = pivot.rows.map(() => pivot.columns.map(() => 0))
  known.forEach(({ r, c }, i) => (shades[r]![c] = of.scale.shade(of.deviations[i]!)))
  return { shades, of }
}
