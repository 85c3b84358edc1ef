/** Export of a comparison. */
import { quantity } from '../../base/format'
import { against, classChanges, jobChanges } from '../../data/changes'
import { selectionsCsv } from '../../data/csv'
import type { DerivedRun } from '../../data/model'
import { COMPARED_MAX } from '../../data/state'
import { drawTable, ROW, type Cell } from '../../draw/blocks'
import { drawMachine, drawScale, machineHeight } from '../../draw/sheet'
import {
  describeFilter,
  drawHead,
  machineOf,
  MARGIN,
  overviewExport,
  TOP,
  type Exported,
  type ExportSheet,
} from '../export/sheets'

/** The difference of two runs, or machines side by side on one scale, and the table of changes. */
export function compareExport(of: Exported): ExportSheet {
  const { compared, state, theme } = of
  if (!compared || compared.change) return overviewExport(of, compared?.change)
  const { runs } = compared
  const machines = runs.map((d) => machineOf(d, state, theme))
  const side = runs.length > 2 ? 460 : 620
  const [lead] = machines
  const tallest = Math.max(...machines.map(({ picture }) => machineHeight(picture, side)))
  const { rows, widths } = changeTable(runs)
  const width = Math.max(
    2 * MARGIN + runs.length * (side + MARGIN),
    2 * MARGIN + widths.reduce((a, b) => a + b, 0),
  )
  const size = { width, height: TOP + tallest + 60 + rows.length * ROW + MARGIN }
  const { looks } = lead!
  return {
    name: runs.map((d) => d.run.label).join(' and '),
    ...size,
    draw: (pen) => {
      drawHead(pen, size, runs.map((d) => d.run.label).join(' and '), describeFilter(runs[0]!, state), looks)
      machines.forEach((machine, i) =>
        drawMachine(
          pen,
          { x: MARGIN + i * (side + MARGIN), y: TOP, width: side },
          machine,
          runs[i]!.run.label,
        ),
      )
      drawScale(pen, MARGIN, TOP + tallest, runs[0]!, looks)
      drawTable(pen, { x: MARGIN, y: TOP + tallest + 60 }, widths, rows, looks, 2)
    },
    csv: () => selectionsCsv(runs),
  }
}

function changeTable(runs: readonly DerivedRun[]): { rows: Cell[][]; widths: number[] } {
  const { unit, label } = runs[0]!.measure
  const changes = [...classChanges(runs), ...jobChanges(runs)]
  const head: Cell[] = [
    { text: `${label} per link` },
    { text: '' },
    ...runs.map((d) => ({ text: d.run.label })),
  ]
  const body = changes.map((row): Cell[] => [
    { text: row.statistic === 'mean' ? row.name : '', ...(row.color ? { color: row.color } : {}) },
    { text: row.statistic },
    ...row.values.map((value, i) => ({
      text: value === null ? '–' : `${quantity(value, unit)}${i > 0 ? `  ${against(row, i)}` : ''}`,
    })),
  ])
  const longest = Math.max(...changes.map((row) => row.name.length), 12)
  return {
    rows: [head, ...body],
    widths: [longest * 7 + 20, 60, ...runs.slice(0, COMPARED_MAX).map(() => 170)],
  }
}
