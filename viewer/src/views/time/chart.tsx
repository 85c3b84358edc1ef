/** Line charts over time with a shared cursor. */
import { quantity, type Unit } from '../../base/format'
import { lineRows } from '../../data/rows'
import { indexAt, type Lines } from '../../data/series'
import type { Run } from '../../data/run'
import type { TimeSpan } from '../../data/timespan'
import { drawLines } from '../../draw/timechart'
import { linesPicture, type TimePicture } from '../../layout/timechart'
import { Legend } from '../canvas/legend'
import { Marks } from '../canvas/marks'
import { useSession, useStore } from '../session/session'
import { TableButton } from '../tables/tables'

interface LineChartProps {
  readonly run: Run
  readonly lines: Lines
  readonly span: TimeSpan
  readonly label: string
  readonly unit: Unit
  readonly test: string
  name(subject: number): string
  /** Null for the colour of the theme. */
  color(subject: number): string | null
}

export function LineChart({ run, lines, span, label, unit, test, name, color }: LineChartProps) {
  const session = useSession()
  const { time } = useStore(session.state)
  const at = indexAt(lines.times, time)
  return (
    <section class="chart-card" aria-label={label}>
      <header>
        <h2>{label}</h2>
        <Legend
          entries={lines.lines.map(({ subject, values }) => ({
            name: name(subject),
            color: color(subject) ?? 'var(--accent)',
            value: quantity(values[at]!, unit),
            test: `${test}-${subject}`,
          }))}
        />
        <span class="spring" />
        <TableButton
          of={`${label} over time`}
          rows={() => lineRows(lines, `${label} over time`, unit, name)}
        />
      </header>
      <Marks
        label={`${label} over time; the keys . and , select the next and previous interval`}
        test={test}
        run={run}
        frame="chart"
        of={[lines, span, unit, run]}
        picture={(size) => linesPicture(lines, unit, span, size)}
        draw={(pen, picture, looks) => drawLines(pen, picture, color, looks)}
        markAt={({ axis }, x) => indexAt(lines.times, axis.time(x))}
        text={(_, i) => ({
          title: `${label} from ${quantity(lines.times[i]!, 'ps')}`,
          rows: lines.lines.map((line) => [name(line.subject), quantity(line.values[i]!, unit)] as const),
        })}
        order={() => [...lines.times.keys()]}
        place={({ axis, plot }, i) => ({ x: axis.x(lines.times[i]!), y: plot.y })}
        open={(_, i) => session.state.patch({ time: lines.times[i]! })}
        over={(picture) => <Cursor picture={picture} time={lines.times[at] ?? 0} />}
      />
    </section>
  )
}

interface CursorProps {
  readonly picture: TimePicture & { readonly rowHeight?: number }
  readonly time: number
  /** The focused row, or -1. */
  readonly row?: number
}

/** The chosen time and row. */
export function Cursor({ picture, time, row = -1 }: CursorProps) {
  const { axis, plot, width, height, rowHeight = 0 } = picture
  return (
    <svg width={width} height={height} class="over" aria-hidden="true">
      {row >= 0 && (
        <rect
          class="focused-row"
          x={plot.x - 1}
          y={plot.y + row * rowHeight - 1}
          width={plot.width + 2}
          height={rowHeight + 2}
        />
      )}
      {time >= axis.first && time <= axis.last && (
        <line class="cursor" x1={axis.x(time)} x2={axis.x(time)} y1={plot.y} y2={plot.y + plot.height} />
      )}
    </svg>
  )
}
