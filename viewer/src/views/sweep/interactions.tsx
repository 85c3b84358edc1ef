/** A figure over one setting, one line per value of a second: parallel lines mean no interaction. */
import { categoryColors } from '../../base/palette'
import { cellText } from '../../data/pivot'
import { drawInteractions } from '../../draw/interactions'
import { interactionsPicture } from '../../layout/interactions'
import { nearestMark } from '../../layout/pick'
import { Legend } from '../canvas/legend'
import { Marks } from '../canvas/marks'
import { useSession, useStore } from '../session/session'
import { type SweepTable } from './sweep'

/** A colour per value, independent of drawing order. */
export function levelColors(levels: readonly string[]): string[] {
  const sorted = [...levels].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  const colors = categoryColors(sorted)
  return levels.map((level) => colors[sorted.indexOf(level)]!)
}

export function Interactions({ table: { pivot, figure, rowKeys, columnKeys } }: { table: SweepTable }) {
  const columnKey = columnKeys.join(', ')
  const session = useSession()
  const { run } = useStore(session.state)
  const colors = levelColors(pivot.columns)
  return (
    <div class="interactions">
      <Legend
        entries={pivot.columns.map((column, c) => ({ name: `${columnKey} ${column}`, color: colors[c]! }))}
      />
      <Marks
        label={`${figure.label}; see the map for numbers; the keys . and , select the next and previous mark`}
        test="interactions"
        run={session.model(run)?.run}
        frame="chart"
        of={[pivot, figure]}
        picture={(size) => interactionsPicture(pivot, figure.unit, size)}
        draw={(pen, picture, looks) => drawInteractions(pen, picture, colors, looks)}
        markAt={({ marks }, x, y) => nearestMark(marks, x, y)}
        text={({ marks }, i) => {
          const { row, column } = marks[i]!
          const [mean, spread] = cellText(pivot.cells[row]![column]!, figure.unit)
          return {
            title: `${columnKey} ${pivot.columns[column]!}`,
            rows: [
              [rowKeys.join(', '), pivot.rows[row]!],
              [figure.label, mean],
            ],
            note: spread,
          }
        }}
        order={({ marks }) => [...marks.keys()]}
        place={({ marks }, i) => marks[i]!}
      />
    </div>
  )
}
