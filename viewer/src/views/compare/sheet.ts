/** Export of a comparison. */
import { quantity } from '../../base/format'
import { against, classChanges, jobChanges } from '../../data/changes'
import { selectionsCsv } from '../../data/csv'
import type { DerivedRun } from '../../data/model'
import { COMPARED_MAX } from '../../data/state'
import type { Cell } from '../../draw/blocks'
import { machinePart, scalePart, tablePart } from '../export/parts'
import { describeFilter, machineOf, sheetOf, type ExportRequest, type ExportSheet } from '../export/sheets'
import { overviewExport } from '../export/overview'

/** The difference of two runs, or machines side by side on one scale, and the table of changes. */
export function compareExport(of: ExportRequest): ExportSheet {
  const { compared, state, theme } = of
  if (!compared || compared.change) return overviewExport(of, compared?.change)
  const { runs } = compared
  const side = runs.length > 2 ? 460 : 620
  const machines = runs.map((d) => machineOf(d, state, theme, null, runs))
  const { looks } = machines[0]!
  const { rows, widths } = changeTable(runs)
  return sheetOf({
    name: runs.map((d) => d.run.label).join(' and '),
    facts: describeFilter(runs[0]!, state),
    columns: machines.map((machine, i) => [machinePart(machine, side, runs[i]!.run.label)]),
    below: [scalePart(runs[0]!, looks), tablePart(widths, rows, looks, 2)],
    looks,
    csv: () => selectionsCsv(runs),
  })
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
