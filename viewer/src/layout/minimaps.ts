/** Torus minimaps: for each pair of axes, the mean of the links by source. Pure. */
import { axisPairs } from '../data/projection'
import type { Run } from '../data/run'

export interface Minimap {
  /** Axis pair `x0,x1`: horizontal, vertical. */
  readonly pair: string
  readonly across: string
  readonly down: string
  readonly columns: number
  readonly rows: number
  /** Row-major: number of selected outgoing links per cell, and their mean (0 without links). */
  readonly links: Uint32Array
  readonly means: Float64Array
}

export function minimaps(run: Run, values: Float64Array, selected: Uint8Array): Minimap[] {
  const { axes } = run.routers
  const { source, count } = run.links
  return axisPairs(axes.map(({ name }) => name)).map((pair) => {
    const [across, down] = pair.split(',').map((name) => axes.find((axis) => axis.name === name)!)
    const cells = across!.size * down!.size
    const [links, means] = [new Uint32Array(cells), new Float64Array(cells)]
    for (let l = 0; l < count; l++) {
      if (selected[l] === 0) continue
      const cell = down!.values[source[l]!]! * across!.size + across!.values[source[l]!]!
      links[cell]!++
      means[cell]! += values[l]!
    }
    links.forEach((n, cell) => n > 0 && (means[cell]! /= n))
    return {
      pair,
      across: across!.name,
      down: down!.name,
      columns: across!.size,
      rows: down!.size,
      links,
      means,
    }
  })
}
