/** Export of a study: front or tables, and all entries as CSV. */
import { csvOf } from '../../data/csv'
import { findingsPanels, type Findings } from '../../data/findings'
import { drawFront } from '../../draw/front'
import { write } from '../../draw/blocks'
import { looksFor } from '../../draw/look'
import { frontPicture } from '../../layout/front'
import { drawHead, MARGIN, TOP, type Exported, type ExportSheet } from '../export/sheets'
import { axesOf, chosenOf, outcome } from './study'
import { drawPivot, pivotSize } from '../export/pivot'

const WIDTH = 1000
const HEIGHT = 520
/** Space above each table. */
const HEAD = 24

export function studyExport({ session: { index }, state, theme }: Exported): ExportSheet | null {
  const { findings } = index
  if (!findings) return null
  const looks = looksFor(theme, state.ramp, false)
  const csv = (): string => findingsCsv(findings)
  if (findings.kind === 'front') {
    const axes = axesOf(findings)
    if (!axes) return null
    const picture = frontPicture(findings, axes.across, axes.up, WIDTH, HEIGHT)
    const size = { width: WIDTH + 2 * MARGIN, height: TOP + HEIGHT + MARGIN }
    const name = `${findings.objectives.join(' and ')}, all trials`
    return {
      name,
      ...size,
      draw: (pen) => {
        drawHead(
          pen,
          size,
          name,
          'squares: Pareto front; dots: dominated; ring: the file’s own values',
          looks,
        )
        drawFront(pen, { x: MARGIN, y: TOP }, picture, looks)
      },
      csv,
    }
  }
  const panels = findingsPanels(findings, chosenOf(state))
  if (!panels || panels.tables.length === 0) return null
  const { figure, panelKey, rowKey, columnKey, tables } = panels
  const name = `${figure.label} by ${[panelKey, rowKey, columnKey].filter(Boolean).join(', ')}`
  const heights = tables.map(({ pivot }) => pivotSize(pivot).height - TOP)
  const size = {
    width: Math.max(...tables.map(({ pivot }) => pivotSize(pivot).width)),
    height: TOP + heights.reduce((sum, height) => sum + height + HEAD, 0),
  }
  return {
    name,
    ...size,
    draw: (pen) => {
      drawHead(pen, size, name, 'mean over all other settings, with min and max', looks)
      let top = TOP
      tables.forEach(({ panel, pivot }, i) => {
        write(pen, panel, MARGIN, top + 16, looks, { size: 14, strong: true })
        drawPivot(pen, { pivot, figure }, top + HEAD, looks)
        top += heights[i]! + HEAD
      })
    },
    csv,
  }
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
