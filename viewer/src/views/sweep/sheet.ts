/** Export of a sweep: map, lines or thumbnails. */
import { csvOf } from '../../data/csv'
import { settingKeys } from '../../data/pivot'
import { fillBox, write } from '../../draw/blocks'
import { looksFor, type LookTable } from '../../draw/look'
import type { Pen } from '../../draw/pen'
import { drawHead, MARGIN, TOP, type Exported, type ExportSheet } from '../export/sheets'
import { drawPivot, pivotSize } from '../export/pivot'
import { levelColors } from './interactions'
import type { Session } from '../session/session'
import { sweepTable, type SweepTable } from './sweep'

export function sweepExport({ session, state, theme }: Exported): ExportSheet | null {
  const table = sweepTable(session, state)
  if (!table) return null
  const looks = looksFor(theme, state.ramp, false)
  if (state.sweepShow === 'runs') return thumbnailsExport(session, looks)
  const { pivot, figure, rowKey, columnKey } = table
  const lines = state.sweepShow === 'lines' ? 340 : 0
  const size = pivotSize(pivot, lines)
  const name = `${figure.label} by ${[rowKey, columnKey].filter(Boolean).join(' and ')}`
  return {
    name,
    ...size,
    draw: (pen) => {
      drawHead(pen, size, name, `${session.index.runs.length} runs; mean, with min and max`, looks)
      if (lines > 0) drawInteractions(pen, table, size.width, lines, looks)
      drawPivot(pen, table, TOP + lines, looks)
    },
    csv: () =>
      csvOf(
        [rowKey || 'rows', columnKey || 'columns', 'mean', 'min', 'max', 'runs'],
        pivot.rows.flatMap((row, r) =>
          pivot.columns.flatMap((column, c) => {
            const cell = pivot.cells[r]![c]
            return cell ? [[row, column, cell.mean, cell.least, cell.most, cell.runs.length]] : []
          }),
        ),
      ),
  }
}

function drawInteractions(
  pen: Pen,
  { pivot }: SweepTable,
  width: number,
  height: number,
  looks: LookTable,
): void {
  const colors = levelColors(pivot.columns)
  const most = Math.max(...pivot.cells.flat().map((cell) => cell?.most ?? 0))
  const [left, inner] = [MARGIN + 20, width - 2 * MARGIN - 40]
  const x = (row: number): number => left + ((row + 0.5) * inner) / pivot.rows.length
  const y = (v: number): number => TOP + 20 + (height - 70) * (1 - v / (most || 1))
  fillBox(pen, { x: left, y: y(0), width: inner, height: 1 }, looks.palette.line)
  pivot.rows.forEach((row, r) =>
    write(pen, row, x(r), TOP + height - 30, looks, { size: 11, align: 'center' }),
  )
  pivot.columns.forEach((column, c) => {
    pen.beginPath()
    pivot.rows.forEach((_, r) => {
      const cell = pivot.cells[r]![c]
      if (cell && r > 0 && pivot.cells[r - 1]![c]) pen.lineTo(x(r), y(cell.mean))
      else if (cell) pen.moveTo(x(r), y(cell.mean))
    })
    pen.strokeStyle = colors[c]!
    pen.lineWidth = 2
    pen.stroke()
    write(pen, column, left + c * 120, TOP + 10, looks, { size: 11, color: colors[c]! })
  })
}

/** The thumbnails drawn so far. */
function thumbnailsExport(session: Session, looks: LookTable): ExportSheet {
  const buttons = [...(session.root ?? document).querySelectorAll<HTMLElement>('.thumbnail')]
  const columns = Math.max(1, Math.min(6, buttons.length))
  const [side, step] = [190, 240]
  const size = {
    width: 2 * MARGIN + columns * (side + 14),
    height: TOP + Math.ceil(buttons.length / columns) * step + MARGIN,
  }
  const keys = settingKeys(session.index)
  return {
    name: 'sweep',
    ...size,
    draw: (pen) => {
      drawHead(pen, size, 'Sweep', `${buttons.length} runs on one scale`, looks)
      buttons.forEach((button, i) => {
        const [x, y] = [MARGIN + (i % columns) * (side + 14), TOP + Math.floor(i / columns) * step]
        pen.drawImage(button.querySelector('canvas')!, x, y, side, side)
        write(pen, button.querySelector('b')!.textContent.slice(-32), x, y + side + 14, looks, {
          size: 11,
          strong: true,
        })
      })
    },
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
  }
}
