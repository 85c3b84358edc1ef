/** A table of cells coloured by mean; a click opens the runs. */
import { useContext } from 'preact/hooks'
import { quantity, signedPercent, type Unit } from '../../base/format'
import { pivotColors, type ColorRules } from '../../data/noise'
import { cellText, type Pivot, type PivotCell } from '../../data/pivot'
import { looksFor } from '../../draw/look'
import { ThemeContext, useSession, useStore } from '../session/session'
import './pivot.css'

interface PivotTableProps {
  readonly pivot: Pivot
  readonly rowKey: string
  readonly columnKey: string
  readonly unit: Unit
  readonly rules: ColorRules
  onOpen(row: number, column: number): void
}

export function PivotTable({ pivot, rowKey, columnKey, unit, rules, onOpen }: PivotTableProps) {
  const { ramp } = useStore(useSession().state)
  const looks = looksFor(useContext(ThemeContext), ramp, true)
  const { shades, of } = pivotColors(pivot, unit, rules)
  const size = of.scale.high
  const gradient = [-1, -0.5, 0, 0.5, 1].map((share) => looks.colors[of.scale.shade(share * size)]!)
  return (
    <div class="table-frame">
      <p class="hint pivot-legend" data-test="pivot-legend">
        <span class="mini-ramp">
          {signedPercent(-size)}
          <i style={{ background: `linear-gradient(to right, ${gradient.join(', ')})` }} />
          {signedPercent(size)}
        </span>
        from {quantity(of.middle, unit)}; one colour: no difference beyond the spread of seeds
      </p>
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
                      color={looks.colors[shades[r]![c]!]!}
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
