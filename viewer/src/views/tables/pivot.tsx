/** A table of cells coloured by mean; a click opens the runs. */
import { useContext } from 'preact/hooks'
import type { Unit } from '../../base/format'
import { cellText, type Pivot, type PivotCell } from '../../data/pivot'
import { colorScale, type ColorScale } from '../../data/scale'
import { looksFor } from '../../draw/look'
import { ThemeContext, useSession, useStore } from '../session/session'
import './pivot.css'

/** From the smallest to the largest mean. Not from zero: differences matter. */
export function pivotScale({ low, high }: Pivot): ColorScale {
  return colorScale('linear', Float64Array.of(low, high), false, [low, high > low ? high : low + 1])
}

interface PivotTableProps {
  readonly pivot: Pivot
  readonly rowKey: string
  readonly columnKey: string
  readonly unit: Unit
  onOpen(row: number, column: number): void
}

export function PivotTable({ pivot, rowKey, columnKey, unit, onOpen }: PivotTableProps) {
  const { ramp } = useStore(useSession().state)
  const looks = looksFor(useContext(ThemeContext), ramp, false)
  const scale = pivotScale(pivot)
  return (
    <div class="table-frame">
      <table class="pivot" data-test="pivot">
        <thead>
          <tr>
            <th>
              {rowKey} ↓ {columnKey !== '' && columnKey !== rowKey && `${columnKey} →`}
            </th>
            {pivot.columns.map((column) => (
              <th key={column} scope="col">
                {column || 'all'}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {pivot.rows.map((row, r) => (
            <tr key={row}>
              <th scope="row">{row || 'all'}</th>
              {pivot.cells[r]!.map((cell, c) => (
                <td key={c}>
                  {cell && (
                    <Cell
                      cell={cell}
                      unit={unit}
                      color={looks.colors[scale.shade(cell.mean)]!}
                      onOpen={() => onOpen(r, c)}
                    />
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Cell({ cell, unit, color, onOpen }: { cell: PivotCell; unit: Unit; color: string; onOpen(): void }) {
  const [mean, spread] = cellText(cell, unit)
  return (
    <button class="pivot-cell" onClick={onOpen} title="Compare with the base, or open it">
      <i style={{ background: color }} />
      <b>{mean}</b>
      {spread !== '' && <span>{spread}</span>}
    </button>
  )
}
