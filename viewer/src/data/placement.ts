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

/** Bytes from rank (down) to rank (across) of a job. */
export function communicationDensity(table: Block, job: number, size: number): Density {
  const [jobs, sources, targets, bytes] = ['job', 'source', 'target', 'bytes'].map((name) =>
    table.numbers.get(name)!,
  )
  let count = 0
  for (let i = 0; i < table.rows; i++)
    if (jobs![i] === job) count = Math.max(count, sources![i]! + 1, targets![i]! + 1)
  const per = Math.max(1, Math.ceil(count / size))
  const cells = Math.max(1, Math.ceil(count / per))
  return density(cells, cells, per, per, (add) => {
    for (let i = 0; i < table.rows; i++)
      if (jobs![i] === job) add(Math.floor(targets![i]! / per), Math.floor(sources![i]! / per), bytes![i]!)
  })
}
