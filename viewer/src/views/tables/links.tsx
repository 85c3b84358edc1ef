/** The hottest selected links with their jobs; a click focuses a link. */
import { useMemo, useRef } from 'preact/hooks'
import { count, percent } from '../../base/format'
import { describeLinks, jobOf, show, valueLabel } from '../../data/describe'
import type { DerivedRun } from '../../data/model'
import { linkName } from '../../data/run'
import { hottest } from '../../data/selection'
import { jobsOnLink } from '../../data/values'
import { useFocusOn, useSession, useSettings, useStore } from '../session/session'
import { numbers, Table } from './table'
import './links.css'

const ROWS = 40

export function HotLinks({ derived: d }: { derived: DerivedRun }) {
  const session = useSession()
  // Not updated during a drag: laying out the rows costs more than the rest of the page.
  const reduced = useStore(session.dragging)
  const last = useRef<number[]>([])
  const rows = useMemo(
    () => (reduced ? last.current : hottest(rankedBy(d), d.selection.selected, ROWS)),
    [d.values, d.selection, reduced],
  )
  last.current = rows
  const { run } = d
  const perJob = d.measure.perJob !== null
  return (
    <section class="card links" aria-label="Hottest links">
      <header>
        <h2>{d.signed ? 'Largest changes' : 'Hottest links'}</h2>
        <span class="hint" data-test="selected-count">
          top {count(rows.length)} of {count(d.selection.count)} selected links ({count(run.links.count)} in
          total)
        </span>
      </header>
      <div class="table-frame" aria-busy={reduced}>
        <Table heads={['Link', ...numbers(valueLabel(d)), ...(perJob ? ['Jobs'] : [])]}>
          {rows.map((l) => (
            <Row key={l} derived={d} link={l} />
          ))}
        </Table>
        {rows.length === 0 && <p class="hint centred">No selected link has traffic.</p>}
      </div>
    </section>
  )
}

/** Ratios are ranked by the change in bytes: a ratio of two small values may be noise. */
function rankedBy({ values, measure, sides }: DerivedRun): Float64Array {
  const [before, after] = sides
  if (measure.unit !== 'doublings' || !before || !after) return values
  return after.values.map((value, l) => (values[l] === 0 ? 0 : value - before.values[l]!))
}

function Row({ derived: d, link: l }: { derived: DerivedRun; link: number }) {
  const session = useSession()
  const state = useSettings()
  const { run } = d
  const name = linkName(run, l)
  const focus = `link:${name}`
  const focusOn = useFocusOn()
  const focusIt = (): void => focusOn(focus)
  const hoverIt = (event: PointerEvent): void =>
    session.hover.set({
      run,
      links: [l],
      routers: [],
      groups: [],
      tip: describeLinks(d, [l], name),
      x: event.clientX,
      y: event.clientY,
    })
  return (
    <tr
      class={state.focus === focus ? 'focused' : ''}
      tabIndex={0}
      onClick={focusIt}
      onKeyDown={(event) => event.key === 'Enter' && focusIt()}
      onPointerEnter={hoverIt}
      onPointerLeave={() => session.hover.set(null)}
    >
      <td>{name}</td>
      <td class="number" data-test="hot-value">
        {show(d, d.values[l]!)}
      </td>
      {d.measure.perJob !== null && (
        <td>
          <Shares derived={d} link={l} />
        </td>
      )}
    </tr>
  )
}

function Shares({ derived: d, link }: { derived: DerivedRun; link: number }) {
  const shares = jobsOnLink(d.measure, d.run.linkJobs, d.counted, link)
  const total = shares.reduce((sum, share) => sum + share.value, 0)
  return (
    <span class="shares">
      {shares.map(({ job, value }) => {
        const { name, color } = jobOf(d.run, job)
        return (
          <i
            key={job}
            style={{ background: color, width: `${(100 * value) / total}%` }}
            title={`${name}: ${show(d, value)} (${percent(value / total)})`}
          />
        )
      })}
    </span>
  )
}
