/** Where a job's ranks are, and which of its ranks talk: counted on small grids, whatever the job's size. */
import type { Block } from './block'
import type { Run } from './run'

/** Counts on a grid, row by row. */
export interface Density {
  readonly columns: number
  readonly rows: number
  readonly values: Float64Array
  readonly most: number
  /** How many units of the axis a column or row stands for. */
  readonly perColumn: number
  readonly perRow: number
}

/** The least that a cell of a map measures in pixels: a few cells among tens of thousands are else not seen. */
export function leastCell({ values }: Density): number {
  const filled = values.reduce((n, value) => n + Number(value !== 0), 0)
  return filled < values.length / 100 ? 3 : 1
}

function density(
  columns: number,
  rows: number,
  perColumn: number,
  perRow: number,
  fill: (add: (column: number, row: number, value: number) => void) => void,
): Density {
  const values = new Float64Array(columns * rows)
  fill((column, row, value) => void (values[row * columns + column]! += value))
  return { columns, rows, values, most: values.reduce((max, v) => (v > max ? v : max), 0), perColumn, perRow }
}

/** A cell for each pair of places. */
export const placedDensity = (
  columns: number,
  rows: number,
  fill: (add: (column: number, row: number, value: number) => void) => void,
): Density => density(columns, rows, 1, 1, fill)

/** Ranks of a job (across) by router (down). */
export function placementDensity(
  run: Run,
  placement: Block,
  job: number,
  columns: number,
  rows: number,
): Density {
  const [jobs, ranks, nodes] = ['job', 'rank', 'node'].map((name) => placement.numbers.get(name)!)
  let count = 0
  for (let i = 0; i < placement.rows; i++) if (jobs![i] === job) count = Math.max(count, ranks![i]! + 1)
  const [perColumn, perRow] = [
    Math.max(1, Math.ceil(count / columns)),
    Math.max(1, Math.ceil(run.routers.count / rows)),
  ]
  return density(
    Math.max(1, Math.ceil(count / perColumn)),
    Math.ceil(run.routers.count / perRow),
    perColumn,
    perRow,
    (add) => {
      for (let i = 0; i < placement.rows; i++)
        if (jobs![i] === job)
          add(Math.floor(ranks![i]! / perColumn), Math.floor(run.nodes.router[nodes![i]!]! / perRow), 1)
    },
  )
}

/** What a job's ranks (down) send to its ranks (across): the cells of the table `communication` as they are. */
export interface Communication extends Density {
  readonly messages: Float64Array
}

export function communicationMatrix(table: Block, job: number, ranks: number): Communication {
  const [jobs, sources, targets, per, messages, bytes] = COMMUNICATION.map((name) => table.numbers.get(name)!)
  let perCell = 1
  for (let i = 0; i < table.rows; i++)
    if (jobs![i] === job) {
      perCell = per![i]!
      break
    }
  const cells = Math.max(1, Math.ceil(ranks / perCell))
  const counts = new Float64Array(cells * cells)
  const map = density(cells, cells, perCell, perCell, (add) => {
    for (let i = 0; i < table.rows; i++) {
      if (jobs![i] !== job) continue
      const [row, column] = [sources![i]! / perCell, targets![i]! / perCell]
      add(column, row, bytes![i]!)
      counts[row * cells + column]! += messages![i]!
    }
  })
  return { ...map, messages: counts }
}

export const PLACEMENT = ['job', 'rank', 'node'] as const
export const COMMUNICATION = ['job', 'source', 'target', 'ranks_per_cell', 'messages', 'bytes'] as const
