/** Packet latency per job as boxes, and traffic between groups as a matrix. */
import { useMemo } from 'preact/hooks'
import { count, quantity } from '../../base/format'
import {
  GROUP_TRAFFIC,
  groupColumns,
  groupMatrix,
  groupMeasure as chosenMeasure,
  groupMeasures,
  hasGroupTraffic,
  LATENCY,
  LATENCY_COLUMNS,
  latencies,
  type Latencies,
} from '../../data/latency'
import { jobOf } from '../../data/describe'
import { latencyRows } from '../../data/rows'
import type { Run } from '../../data/run'
import type { ViewState } from '../../data/state'
import { drawBoxes } from '../../draw/boxes'
import { boxAt, boxesPicture, boxTip } from '../../layout/boxes'
import { Choice } from '../controls/choice'
import { DensityView } from '../canvas/density'
import { Marks } from '../canvas/marks'
import type { ViewContent } from '../session/viewcontent'
import { useSession, useStore, useTable } from '../session/session'
import { TableButton } from '../tables/tables'
import './latency.css'

/** Boxes of visible jobs. */
export function shownLatencies(all: Latencies, state: ViewState): Latencies {
  return { ...all, boxes: all.boxes.filter(({ job }) => state.jobs[job] === undefined) }
}

const NO_LATENCY = 'This run has no packet latencies; only the packet engine records them.'

export function LatencyView({ derived: { run } }: ViewContent) {
  const state = useStore(useSession().state)
  const table = useTable(run, LATENCY, LATENCY_COLUMNS, NO_LATENCY)
  const all = useMemo(() => (typeof table === 'string' ? null : latencies(table)), [table])
  const shown = useMemo(() => all && shownLatencies(all, state), [all, state.jobs])
  return (
    <div class="centre wide">
      <section class="costs" aria-label="Packet latency">
        <header>
          <h2>Packet latency</h2>
          <span class="spring" />
          {shown && shown.boxes.length > 0 && (
            <TableButton
              of="packet latency"
              rows={() => latencyRows(shown, 'Packet latency', (job) => jobOf(run, job).name)}
            />
          )}
        </header>
        {shown === null ? (
          <p class="hint">{table}</p>
        ) : shown.boxes.length === 0 ? (
          <p class="hint">No packet of the visible jobs was delivered.</p>
        ) : (
          <>
            <Boxes run={run} shown={shown} />
            <p class="reading">
              Box: middle half of the packets, with the median. Whiskers: 5 to 95 %. Tick: 99 %, with its
              value. Ring: maximum. Percentiles are accurate to 0.8 %.
            </p>
          </>
        )}
      </section>
      {hasGroupTraffic(run.info) && <GroupTraffic run={run} />}
    </div>
  )
}

function Boxes({ run, shown }: { run: Run; shown: Latencies }) {
  const { state } = useSession()
  const nameOf = (job: number): string => jobOf(run, job).name
  const slowest = (i: number): number => shown.boxes[i]!.at.at(-1)!
  return (
    <Marks
      label="Packet latency; the keys . and , select the next and previous box, slowest first"
      test="latency-boxes"
      run={run}
      of={[run, shown]}
      picture={({ width }) => boxesPicture(shown, nameOf, width)}
      draw={(pen, picture, looks) => {
        const colors = shown.boxes.map(({ job }) => jobOf(run, job).color)
        drawBoxes(pen, picture, colors, looks)
      }}
      markAt={(picture, _, y) => boxAt(picture, y)}
      text={(_, i) => boxTip(shown, shown.boxes[i]!, nameOf)}
      order={() => [...shown.boxes.keys()].sort((a, b) => slowest(b) - slowest(a) || a - b)}
      place={({ marks }, i) => ({ x: marks[i]!.at.at(-1)!, y: marks[i]!.y + marks[i]!.height })}
      open={(_, i) => state.patch({ view: 'jobs', focus: `job:${shown.boxes[i]!.job}` })}
    />
  )
}

/** The group matrix, with a button for stalls per link. */
function GroupTraffic({ run }: { run: Run }) {
  const session = useSession()
  const { groupMeasure } = useStore(session.state)
  const measures = groupMeasures(run.info)
  const measure = chosenMeasure(run.info, groupMeasure)!
  const table = useTable(run, GROUP_TRAFFIC, groupColumns(measure.id))
  const map = useMemo(
    () => (typeof table === 'string' ? null : groupMatrix(run, table, measure.id)),
    [table, measure.id, run],
  )
  const stalls = run.measures.some(({ id }) => id === 'stall_ps')
  return (
    <section class="costs between" aria-label="Traffic between groups">
      <header>
        <h2>Traffic between groups</h2>
        <Choice
          label="Measure"
          value={measure.id}
          options={measures.map(({ id, label }) => ({ value: id, label }))}
          onChange={(id) => session.state.patch({ groupMeasure: id })}
          test="group-measure"
        />
        {stalls && (
          <button
            onClick={() =>
              session.state.patch({ view: 'overview', measure: 'stall_ps', low: null, high: null })
            }
            data-test="stall-map"
          >
            Show stalls per link
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
            label={`${measure.label} between groups`}
            test="group-map"
          />
          <p class="reading">{measure.meaning} The diagonal holds links inside a group.</p>
        </>
      )}
    </section>
  )
}
