/** Export of a sweep: map, lines or thumbnails. */
import type { SheetPart } from '../../draw/sheet'
import { csvOf } from '../../data/csv'
import { settingKeys } from '../../data/pivot'
import { write } from '../../draw/blocks'
import { drawInteractions } from '../../draw/interactions'
import { looksFor, type LookTable } from '../../draw/look'
import type { Pen } from '../../draw/pen'
import { interactionsPicture } from '../../layout/interactions'
import { titled } from '../export/parts'
import { pivotPart } from '../export/pivot'
import { inColumns, sheetOf, type ExportRequest, type ExportSheet } from '../export/sheets'
import type { Session } from '../session/session'
import { levelColors } from './interactions'
import { seedsOf, sweepTable, type SweepTable } from './sweep'

const LINES = 340

export function sweepExport({ session, state, theme }: ExportRequest): ExportSheet | null {
  const table = sweepTable(session, state)
  if (!table) return null
  const looks = looksFor(theme, state.ramp, state.sweepShow !== 'runs')
  if (state.sweepShow === 'runs') return thumbnailsExport(session, looks)
  const { pivot, figure, rowKeys, columnKeys } = table
  const cells = pivotPart(pivot, figure.unit, looks, seedsOf(session, table))
  const lines = state.sweepShow === 'lines' ? [linesPart(table, cells.width, looks)] : []
  return sheetOf({
    name: `${figure.label} by ${[...rowKeys, ...columnKeys].join(' and ')}`,
    facts: `${session.index.runs.length} runs; mean, with min and max`,
    columns: [[...lines, cells]],
    looks,
    csv: () =>
      csvOf(
        [...rowKeys, ...columnKeys, 'mean', 'min', 'max', 'runs'],
        pivot.rowPaths.flatMap((row, r) =>
          pivot.columnPaths.flatMap((column, c) => {
            const cell = pivot.cells[r]![c]
            return cell ? [[...row, ...column, cell.mean, cell.least, cell.most, cell.runs.length]] : []
          }),
        ),
      ),
  })
}

function linesPart({ pivot, figure, columnKeys }: SweepTable, width: number, looks: LookTable): SheetPart {
  const picture = interactionsPicture(pivot, figure.unit, { width, height: LINES })
  const colors = levelColors(pivot.columns)
  const names = pivot.columns.map((column) => `${columnKeys.join(', ')} ${column}`)
  const draw: SheetPart['draw'] = (pen) => drawInteractions(pen, picture, colors, looks)
  return titled('', { ...picture, draw }, looks, 13, { names, colors })
}

const SIDE = 190

/** The thumbnails drawn so far. */
function thumbnailsExport(session: Session, looks: LookTable): ExportSheet {
  const buttons = [...(session.root ?? document).querySelectorAll<HTMLElement>('.thumbnail')]
  const keys = settingKeys(session.index)
  const parts = buttons.map((button) => ({
    width: SIDE,
    height: SIDE + 18,
    draw: (pen: Pen) => {
      pen.drawImage(button.querySelector('canvas')!, 0, 0, SIDE, SIDE)
      const label = button.querySelector('b')!.textContent.slice(-32)
      write(pen, label, 0, SIDE + 14, looks, { size: 11, strong: true })
    },
  }))
  return sheetOf({
    name: 'sweep',
    facts: `${buttons.length} runs on one scale`,
    columns: inColumns(parts, Math.max(1, Math.min(6, parts.length))),
    looks,
    csv: () =>
      csvOf(
        ['run', ...keys, 'links', 'bytes_mean', 'bytes_max'],
        session.index.runs.map(({ label, keys: values, summary }) => [
          label,
          ...keys.map((key) => values[key] ?? ''),
          summary.machine.links,
          summary.classes[0]?.bytes_mean ?? NaN,
          summary.classes[0]?.bytes_max ?? NaN,
        ]),
      ),
  })
}
