/** Density maps of ranks on routers, and of bytes between ranks, on small grids. */
import type { Block } from './block'
import type { Run } from './run'

/** Counts on a grid in row-major order. */
export interface Density {
  readonly columns: number
  readonly rows: number
  readonly values: Float64Array
  readonly most: number
  /** Axis units per column or row. */
  readonly perColumn: number
  readonly perRow: number
}

/** Minimum cell size in pixels: otherwise a few cells among tens of thousands are invisible. */
export function minCellSize({ values }: Density): number {
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

/** One cell per pair. */
export const placedDensity = (
  columns: number,
  rows: number,
  fill: (add: (column: number, row: number, value: number) => void) => void,
): Density => density(columns, rows, 1, 1, fill)

/** Ranks of a job (columns) by router (rows). */
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

/** Bytes from ranks (rows) to ranks (columns), as in the table `communication`. */
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
export const COMMUNICATION = ['job', 'source', 'destination', 'ranks_per_cell', 'messages', 'bytes'] as const
