/** A torus small: for every pair of its axes a map of the mean of its links, each link once, at its source. Pure. */
import { axisPairs } from '../data/projection'
import type { Run } from '../data/run'

export interface Minimap {
  /** As `x0,x1`: the first runs across, the second down. */
  readonly pair: string
  readonly across: string
  readonly down: string
  readonly columns: number
  readonly rows: number
  /** Row by row: how many selected links leave the routers of a cell, and their mean; 0 where there is none. */
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
