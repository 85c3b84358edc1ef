/** How long packets took, as a box for each job, and how the links between groups were used: congestion, stalls, bytes. */
import { useContext, useEffect, useMemo, useRef } from 'preact/hooks'
import { count, quantity } from '../base/format'
import {
  GROUP_TRAFFIC,
  groupMatrix,
  groupMeasures,
  hasGroupTraffic,
  LATENCY,
  LATENCY_COLUMNS,
  latencies,
  type Latencies,
} from '../data/latency'
import { jobOf } from '../data/describe'
import { latencyRows } from '../data/rows'
import type { Run } from '../data/run'
import type { ViewState } from '../data/state'
import { drawBoxes } from '../draw/boxes'
import { looksFor } from '../draw/look'
import { boxAt, boxesPicture, boxWords } from '../layout/boxes'
import { Choice } from './controls'
import { DensityView } from './density'
import { ThemeContext, useSession, useStore, useTable } from './session'
import { prepareCanvas, useSize } from './size'
import { useSteps } from './steps'
import { TableButton } from './tables'

/** Those of the jobs that are not hidden. */
export function shownLatencies(all: Latencies, state: ViewState): Latencies {
  return { ...all, boxes: all.boxes.filter(({ job }) => state.jobs[job] === undefined) }
}

export function LatencyView({ run }: { run: Run }) {
  const state = useStore(useSession().state)
  const table = useTable(run, LATENCY, LATENCY_COLUMNS)
  const all = useMemo(() => (table === null || typeof table === 'string' ? null : latencies(table)), [table])
  const shown = useMemo(() => all && shownLatencies(all, state), [all, state.jobs])
  return (
    <div class="centre wide">
      <section class="costs" aria-label="How long packets took">
        <header>
          <h2>How long packets took</h2>
          <span class="spring" />
          {shown && shown.boxes.length > 0 && (
            <TableButton
              of="How long packets took"
              rows={() => latencyRows(shown, 'How long packets took', (job) => jobOf(run, job).name)}
            />
          )}
        </header>
        {shown === null ? (
          <p class="hint">
            {typeof table === 'string'
              ? table
              : 'This run does not tell how long packets took: the packet engine does.'}
          </p>
        ) : shown.boxes.length === 0 ? (
          <p class="hint">No packet of the jobs that are shown arrived.</p>
        ) : (
          <>
            <Boxes run={run} shown={shown} />
            <p class="reading">
              The box holds the middle half of the packets, its line the median; whiskers reach from 5 to 95
              %, the tick with its value stands at 99 %, the ring at the largest. Percentiles are right to 0.8
              %.
            </p>
          </>
        )}
      </section>
      {hasGroupTraffic(run.info) && <Between run={run} />}
    </div>
  )
}

function Boxes({ run, shown }: { run: Run; shown: Latencies }) {
  const session = useSession()
  const { ramp } = useStore(session.state)
  const looks = looksFor(useContext(ThemeContext), ramp, false)
  const frame = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const { width } = useSize(frame)
  const nameOf = (job: number): string => jobOf(run, job).name
  const picture = useMemo(() => boxesPicture(shown, nameOf, width), [shown, width])
  useEffect(() => {
    if (!canvas.current || width === 0) return
    const colors = shown.boxes.map(({ job }) => jobOf(run, job).color)
    drawBoxes(prepareCanvas(canvas.current, picture), { x: 0, y: 0 }, picture, colors, looks)
  }, [picture, looks, width, run])
  const wordsOf = (i: number) => {
    const tip = { ...boxWords(shown, shown.boxes[i]!, nameOf), shares: [], note: '' }
    return { run, links: [], routers: [], groups: [], tip }
  }
  const hover = (event: PointerEvent): void => {
    const i = boxAt(picture, event.clientY - frame.current!.getBoundingClientRect().top)
    session.hover.set(i < 0 ? null : { ...wordsOf(i), x: event.clientX, y: event.clientY })
  }
  const steps = useSteps(
    () =>
      [...shown.boxes.keys()].sort(
        (a, b) => shown.boxes[b]!.at.at(-1)! - shown.boxes[a]!.at.at(-1)! || a - b,
      ),
    (i) => {
      const box = frame.current!.getBoundingClientRect()
      const { at, y, height } = picture.marks[i]!
      return {
        hover: { ...wordsOf(i), x: box.left + at.at(-1)!, y: box.top + y + height },
        enter: () => session.state.patch({ view: 'jobs', focus: `job:${shown.boxes[i]!.job}` }),
      }
    },
    [picture],
  )
  return (
    <div
      class="cost-bars"
      ref={frame}
      style={{ height: `${picture.height}px` }}
      onPointerMove={hover}
      onPointerLeave={() => session.hover.set(null)}
      tabIndex={0}
      role="application"
      aria-label="How long packets took; the keys . and , go from box to box, the slowest first"
      onKeyDown={steps}
      data-test="latency-boxes"
    >
      <canvas ref={canvas} aria-hidden="true" />
    </div>
  )
}

/** Of the pairs of groups, and the way to the stalls of single links. */
function Between({ run }: { run: Run }) {
  const session = useSession()
  const { between } = useStore(session.state)
  const measures = groupMeasures(run.info)
  const measure = measures.find(({ id }) => id === between) ?? measures[0]!
  const table = useTable(run, GROUP_TRAFFIC, ['source_group', 'target_group', measure.id])
  const map = useMemo(
    () => (table === null || typeof table === 'string' ? null : groupMatrix(run, table, measure.id)),
    [table, measure.id, run],
  )
  const stalls = run.measures.some(({ id }) => id === 'stall_ps')
  return (
    <section class="costs between" aria-label="From group to group">
      <header>
        <h2>From group to group</h2>
        <Choice
          label="by"
          value={measure.id}
          options={measures.map(({ id, label }) => ({ value: id, label }))}
          onChange={(id) => session.state.patch({ between: id })}
          test="between"
        />
        {stalls && (
          <button
            onClick={() =>
              session.state.patch({ view: 'overview', measure: 'stall_ps', low: null, high: null })
            }
            data-test="stall-map"
          >
            Stalls on the machine
          </button>
        )}
      </header>
      {map === null ? (
        <p class="hint">{table}</p>
      ) : (
        <>
          <DensityView
            map={map}
            describe={(column, row, value) => ({
              title: row === column ? `Inside group ${row}` : `Group ${row} to group ${column}`,
              rows: [[measure.label, quantity(value, measure.unit)]],
            })}
            run={run}
            unit={measure.unit}
            across={['to group 0 →', count(map.columns - 1)]}
            down="from group 0 ↓"
            label={`${measure.label} from group to group`}
            test="between-map"
          />
          <p class="reading">{measure.meaning} On the diagonal the links inside the group.</p>
        </>
      )}
    </section>
  )
}
