/** Export of a study: front or tables, and all entries as CSV. */
import { csvOf } from '../../data/csv'
import { findingsPanels, type Findings } from '../../data/findings'
import { drawFront } from '../../draw/front'
import { looksFor } from '../../draw/look'
import { frontPicture } from '../../layout/front'
import { titled } from '../export/parts'
import { sheetOf, type ExportRequest, type ExportSheet } from '../export/sheets'
import { axesOf, chosenOf, outcome, rulesOf } from './study'
import { pivotPart } from '../export/pivot'

const SIZE = { width: 1000, height: 520 }

export function studyExport({ session: { index }, state, theme }: ExportRequest): ExportSheet | null {
  const { findings } = index
  if (!findings) return null
  const looks = looksFor(theme, state.ramp, false)
  const csv = (): string => findingsCsv(findings)
  if (findings.kind === 'front') {
    const axes = axesOf(findings)
    if (!axes) return null
    const picture = frontPicture(findings, axes.across, axes.up, SIZE.width, SIZE.height)
    return sheetOf({
      name: `${findings.objectives.join(' and ')}, all trials`,
      facts: 'squares: Pareto front; dots: dominated; ring: the file’s own values',
      columns: [[{ ...SIZE, draw: (pen) => drawFront(pen, picture, looks) }]],
      looks,
      csv,
    })
  }
  const panels = findingsPanels(findings, chosenOf(state))
  if (!panels || panels.tables.length === 0) return null
  const { figure, panelKey, rowKey, columnKey, tables } = panels
  const cells = looksFor(theme, state.ramp, true)
  const rules = rulesOf(findings, panels)
  return sheetOf({
    name: `${figure.label} by ${[panelKey, rowKey, columnKey].filter(Boolean).join(', ')}`,
    facts: 'mean over all other settings, with min and max',
    columns: [
      tables.map(({ panel, pivot }) => titled(panel, pivotPart(pivot, figure.unit, cells, rules), looks)),
    ],
    looks,
    csv,
  })
}

const findingsCsv = ({ keys, figures, entries }: Findings): string =>
  csvOf(
    [...keys.map(({ name }) => name), ...figures.map(({ name }) => name), 'outcome'],
    entries.map((entry) => [
      ...keys.map(({ name }) => entry.keys[name] ?? ''),
      ...figures.map(({ name }) => entry.values[name] ?? NaN),
      entry.allowed === undefined ? '' : outcome(entry),
    ]),
  )
