/** A heat map of routers, ports or links over time. */
import { useMemo } from 'preact/hooks'
import { count, quantity, type Unit } from '../../base/format'
import { toggleFocus } from '../../data/focus'
import { heatCells, heatRows } from '../../data/rows'
import type { ColorScale } from '../../data/scale'
import { intervalAt, strongest, type Lines } from '../../data/series'
import type { Run } from '../../data/run'
import type { TimeSpan } from '../../data/timespan'
import { drawHeat, heatScale } from '../../draw/timechart'
import { heatPicture, placeInRow, rowAt } from '../../layout/timechart'
import { Marks } from '../canvas/marks'
import { MiniRamp } from '../canvas/miniramp'
import { useSession, useStore } from '../session/session'
import { TableButton } from '../tables/tables'
import { Cursor } from './chart'

/** With more rows, they are thinner than a pixel on most screens. */
const ROWS_MAX = 400

interface HeatMapProps {
  readonly run: Run
  readonly all: Lines
  readonly span: TimeSpan
  readonly label: string
  readonly noun: string
  /** How a row merges its links, such as `, max of their links`. */
  readonly merge: string
  readonly ofLinks: boolean
  readonly unit: Unit
  name(subject: number): string
  /** Focus text of a row; empty for none. */
  focusOf(subject: number): string
  routerOf(subject: number): number
}

export function HeatMap(props: HeatMapProps) {
  const { all, label, noun, merge, unit, name } = props
  const kind = useStore(useSession().state).scale
  const shown = useMemo(() => strongest(all, ROWS_MAX), [all])
  const scale = useMemo(() => heatScale(shown, kind), [shown, kind])
  const rows = shown.lines.length
  const title = `${label} of ${noun} over time${merge}`
  return (
    <section class="chart-card heat" aria-label={`${label} by ${noun}`}>
      <header>
        <h2>{title}</h2>
        <MiniRamp scale={scale} unit={unit} />
      </header>
      <Cells {...props} title={title} shown={shown} scale={scale} />
      <div class="reading foot">
        <p data-test="heat-rows">
          {count(rows)} of {count(all.lines.length)} {noun}
          {rows < all.lines.length ? ' with the largest sums' : ''}, {count(shown.times.length)} intervals.
          Click to focus a row and select its time.
        </p>
        <TableButton of={title} rows={() => heatRows(all, title, noun, unit, name)} />
      </div>
    </section>
  )
}

interface CellsProps extends HeatMapProps {
  readonly title: string
  readonly shown: Lines
  readonly scale: ColorScale
}

/** A cell: its row, and its interval by start and index (-1 without values). */
interface HeatCell {
  readonly row: number
  readonly begin: number
  readonly i: number
}

function Cells({
  run,
  title,
  shown,
  scale,
  span,
  label,
  unit,
  ofLinks,
  name,
  focusOf,
  routerOf,
}: CellsProps) {
  const session = useSession()
  const { time, focus } = useStore(session.state)
  const subjectAt = (row: number): number => shown.lines[row]!.subject
  const focused = useMemo(
    () => (focus === '' ? -1 : shown.lines.findIndex(({ subject }) => focusOf(subject) === focus)),
    [shown, focus],
  )
  return (
    <Marks
      label={`${title}; the keys . and , select the next and previous cell`}
      test="series-heat"
      run={run}
      frame="chart"
      of={[shown, scale, span]}
      picture={(size) => heatPicture(shown, name, span, size)}
      draw={(pen, picture, looks) => drawHeat(pen, picture, scale, looks)}
      markAt={(picture, x, y): HeatCell | null => {
        const found = rowAt(picture, x, y)
        return found && { row: found.row, ...intervalAt(shown.times, found.time) }
      }}
      text={({ step }, { row, begin, i }) => {
        const router = routerOf(subjectAt(row))
        return {
          title: name(subjectAt(row)),
          rows: [
            ['Interval', `${quantity(begin, 'ps')} to ${quantity(begin + step, 'ps')}`],
            [label, quantity(shown.lines[row]!.values[i] || 0, unit)],
          ],
          links: ofLinks ? [subjectAt(row)] : [],
          routers: router >= 0 ? [router] : [],
        }
      }}
      order={() => heatCells(shown).map(({ row, interval: i }) => ({ row, i, begin: shown.times[i]! }))}
      place={(picture, { row, begin }) => placeInRow(picture, row, begin)}
      open={(_, { row, begin }) => {
        const chosen = focusOf(subjectAt(row))
        const change = chosen === '' ? {} : { focus: toggleFocus(focus, chosen) }
        session.state.patch({ time: begin, ...change })
      }}
      over={(picture) => <Cursor picture={picture} time={time} row={focused} />}
    />
  )
}
