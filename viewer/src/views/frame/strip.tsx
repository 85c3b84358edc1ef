/** Under the header of a packet run: a total over time, such as of stalls; a click opens that interval. */
import { quantity } from '../../base/format'
import type { Run } from '../../data/run'
import { indexAt, stepOf } from '../../data/series'
import { useSession, useStore } from '../session/session'
import { heatColumns, totalsOf } from '../time/moment'
import './strip.css'

/** Larger tables are loaded by the time view only. */
const ROWS_MAX = 1_000_000

export function Strip({ run }: { run: Run }) {
  const session = useSession()
  const state = useStore(session.state)
  useStore(session.loaded)
  const [column] = heatColumns(run.info)
  const isSmall = column && run.info.tables[column.table.name]!.rows <= ROWS_MAX
  const found = totalsOf(session, run, isSmall ? column : undefined)
  if (!isSmall) return null
  // Its place is kept while it loads, so that nothing below moves.
  if (!found || found.times.length < 2) return <div class="strip" />
  const { times, values, worst } = found
  const [first, step] = [times[0]!, stepOf(times)]
  const length = times.at(-1)! + step - first
  const most = Math.max(...values)
  if (!(most > 0)) return <div class="strip hint">{column.value.label}: none</div>
  const x = (time: number): number => (100 * (time - first)) / length
  const worstText = quantity(worst, 'ps')
  const openAt = (event: MouseEvent): void => {
    const box = (event.currentTarget as Element).getBoundingClientRect()
    const at = first + (length * (event.clientX - box.left)) / box.width
    session.state.patch({ view: 'time', time: times[indexAt(times, at)]! })
  }
  return (
    <div class="strip" data-test="strip">
      <button
        onClick={() => session.state.patch({ view: 'time', time: worst })}
        title="Open the worst interval"
        data-test="strip-worst"
      >
        {column.value.label}, worst at {worstText}
      </button>
      <svg
        viewBox="0 0 100 20"
        preserveAspectRatio="none"
        role="img"
        aria-label={`Total ${column.value.label.toLowerCase()} over time, largest at ${worstText}`}
        onClick={openAt}
      >
        {Array.from(times, (time, i) => (
          <rect
            key={time}
            class={time === worst ? 'worst' : ''}
            x={x(time)}
            width={(100 * step) / length}
            y={20 - (20 * values[i]!) / most}
            height={(20 * values[i]!) / most}
          />
        ))}
        {state.view === 'time' && state.time >= 0 && (
          <line x1={x(state.time)} x2={x(state.time)} y1={0} y2={20} />
        )}
      </svg>
    </div>
  )
}
