/** A table of cells coloured by mean; a click opens the runs. */
import { useContext, useMemo, useState } from 'preact/hooks'
import { count, quantity, signedPercent, type Unit } from '../../base/format'
import { pivotColors, type ColorRules } from '../../data/noise'
import { cellText, type Pivot, type PivotCell } from '../../data/pivot'
import { looksFor } from '../../draw/look'
import { ThemeContext, useSession, useStore } from '../session/session'
import './pivot.css'

interface PivotTableProps {
  readonly pivot: Pivot
  /** Labels of the nested keys, outermost first. */
  readonly rowKeys: readonly string[]
  readonly columnKeys: readonly string[]
  readonly unit: Unit
  readonly rules: ColorRules
  onOpen(row: number, column: number): void
}

/** Rows that are shown at first; each further thousand takes the browser about a second. */
const ROWS_MAX = 400

/** How many entries from here on have the same values of the first `level + 1` keys; 0 if the one before has. */
function spanAt(paths: readonly (readonly string[])[], at: number, level: number): number {
  const same = (other: number): boolean =>
    paths[other]?.slice(0, level + 1).every((part, i) => part === paths[at]![i]) ?? false
  if (same(at - 1)) return 0
  let end = at + 1
  while (same(end)) end++
  return end - at
}

/** A line of heads for each nested key of the columns. */
function Heads({ pivot, rowKeys, columnKeys }: Pick<PivotTableProps, 'pivot' | 'rowKeys' | 'columnKeys'>) {
  const across = Math.max(1, rowKeys.length)
  return (
    <thead>
      {columnKeys.map((key, level) => (
        <tr key={key}>
          <th colSpan={across} class="key">
            {level === columnKeys.length - 1 && `${rowKeys.join(', ')} ↓ `}
            {key} →
          </th>
          {pivot.columnPaths.map((path, c) => {
            const span = spanAt(pivot.columnPaths, c, level)
            return span === 0 ? null : (
              <th key={c} scope={span > 1 ? 'colgroup' : 'col'} colSpan={span}>
                {path[level]}
              </th>
            )
          })}
        </tr>
      ))}
      {columnKeys.length === 0 && (
        <tr>
          <th colSpan={across} class="key">
            {rowKeys.join(', ')} ↓
          </th>
          <th scope="col">all</th>
        </tr>
      )}
    </thead>
  )
}

export function PivotTable({ pivot, rowKeys, columnKeys, unit, rules, onOpen }: PivotTableProps) {
  const { ramp } = useStore(useSession().state)
  const [shown, setShown] = useState(ROWS_MAX)
  const looks = looksFor(useContext(ThemeContext), ramp, true)
  const { shades, of } = useMemo(() => pivotColors(pivot, unit, rules), [pivot, unit])
  const size = of.scale.high
  const gradient = [-1, -0.5, 0, 0.5, 1].map((share) => looks.colors[of.scale.shade(share * size)]!)
  const rowPaths = pivot.rowPaths.slice(0, shown)
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
        <Heads pivot={pivot} rowKeys={rowKeys} columnKeys={columnKeys} />
        <tbody>
          {rowPaths.map((path, r) => (
            <tr key={pivot.rows[r]}>
              {path.length === 0 && <th scope="row">all</th>}
              {path.map((part, level) => {
                const span = spanAt(rowPaths, r, level)
                return span === 0 ? null : (
                  <th key={level} scope={span > 1 ? 'rowgroup' : 'row'} rowSpan={span}>
                    {part}
                  </th>
                )
              })}
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
      {pivot.rows.length > shown && (
        <p class="hint">
          {count(shown)} of {count(pivot.rows.length)} rows.{' '}
          <button onClick={() => setShown(pivot.rows.length)}>show all</button>
        </p>
      )}
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
