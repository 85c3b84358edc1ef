/** Communication matrices of all jobs side by side on one scale, such as levels of a multigrid cycle. */
import { useMemo } from 'preact/hooks'
import { count, percent, quantity } from '../../base/format'
import { doublings } from '../../data/difference'
import type { DerivedRun } from '../../data/model'
import { COMMUNICATION, type Communication } from '../../data/placement'
import type { Job, Run } from '../../data/run'
import type { ColorScale } from '../../data/scale'
import type { ViewState } from '../../data/state'
import {
  sumOf,
  communicationPairs,
  hasCommunication,
  COMMUNICATION_TABLE,
  type JobCommunication,
  type CommunicationPair,
} from '../../data/communication'
import { Choice } from '../controls/choice'
import { DensityView, densityScale } from '../canvas/density'
import { useSession, useStore, type Session } from '../session/session'

/** The matrix pairs, or a message. */
export function loadPairs(session: Session, run: Run, state: ViewState): CommunicationPair[] | string {
  const loadOne = (one: Run) => {
    const table = session.block(one.id, COMMUNICATION_TABLE, COMMUNICATION)
    return typeof table === 'object' ? { run: one, table } : (table ?? 'Loading …')
  }
  const here = loadOne(run)
  if (typeof here === 'string') return here
  const other = state.otherRun < 0 || state.otherRun === run.id ? null : session.model(state.otherRun)?.run
  if (other === undefined) return 'Loading …'
  const there =
    other && (hasCommunication(other.info) ? loadOne(other) : `${other.label} has no communication matrix.`)
  if (typeof there === 'string') return there
  return communicationPairs(here, there, (job) => state.jobs[job] === undefined)
}

export function CommunicationMatrices({ derived: { run } }: { derived: DerivedRun }) {
  const session = useSession()
  const state = useStore(session.state)
  const loaded = useStore(session.loaded)
  const pairs = useMemo(() => loadPairs(session, run, state), [run, state.otherRun, state.jobs, loaded])
  const all =
    typeof pairs === 'string' ? [] : pairs.flatMap(({ here, there }) => (there ? [here, there] : [here]))
  const scale = useMemo(
    () =>
      densityScale(
        all.map(({ map }) => map),
        state.scale,
      ),
    [pairs, state.scale],
  )
  const other =
    state.otherRun >= 0 && state.otherRun !== run.id ? session.index.runs[state.otherRun] : undefined
  return (
    <>
      <OtherRunChoice run={run} />
      {typeof pairs === 'string' ? (
        <p class="hint centred">{pairs}</p>
      ) : (
        <div class={`communication-matrices ${other ? 'paired' : ''}`} data-test="matrices">
          {pairs.map(({ here, there }) => (
            <section key={here.job.job} aria-label={`Communication of ${here.job.name}`}>
              <h2>
                <i class="swatch" style={{ background: here.job.color }} /> {here.job.name}
                {there && <Ratios here={here} there={there} />}
              </h2>
              <div class="pair">
                <JobMatrix matrix={here} of={other && run.label} on={scale} test={`matrix-${here.job.job}`} />
                {there && (
                  <JobMatrix
                    matrix={there}
                    of={there.run.label}
                    on={scale}
                    test={`other-run-${here.job.job}`}
                  />
                )}
                {other && !there && (
                  <p class="hint">
                    {other.label} has no job “{here.job.name}”.
                  </p>
                )}
              </div>
            </section>
          ))}
        </div>
      )}
      <p class="reading">All matrices share one colour scale. Rows send, columns receive.</p>
    </>
  )
}

/** Chooses another run to show next to this one. */
function OtherRunChoice({ run }: { run: Run }) {
  const session = useSession()
  const { otherRun } = useStore(session.state)
  const others = session.index.runs
    .map((info, id) => ({ info, id }))
    .filter(({ info, id }) => id !== run.id && hasCommunication(info))
  if (others.length === 0) return null
  return (
    <div class="pickers">
      <Choice
        label="Compare with"
        test="other-run"
        value={otherRun === run.id ? '-1' : String(otherRun)}
        options={[
          { value: '-1', label: 'none' },
          ...others.map(({ info, id }) => ({ value: String(id), label: info.label })),
        ]}
        onChange={(value) => session.state.patch({ otherRun: Number(value) })}
      />
    </div>
  )
}

interface JobMatrixProps {
  readonly matrix: JobCommunication
  readonly of: string | undefined
  readonly on: ColorScale
  readonly test: string
}

function JobMatrix({ matrix: { run, job, map }, of, on, test }: JobMatrixProps) {
  const label = `Communication of ${job.name}${of === undefined ? '' : `, ${of}`}`
  return (
    <div class="one">
      {of !== undefined && <h3>{of}</h3>}
      <CommunicationMap run={run} job={job} map={map} on={on} label={label} test={test} />
      <p class="hint">
        {quantity(sumOf(map.values), 'bytes')} in {count(sumOf(map.messages))} messages
      </p>
    </div>
  )
}

/** Ratios of messages and bytes, other run over this run. */
function Ratios({ here, there }: { here: JobCommunication; there: JobCommunication }) {
  const times = (of: (map: Communication) => Float64Array): string =>
    quantity(doublings(sumOf(of(here.map)), sumOf(of(there.map))), 'doublings')
  return (
    <span class="hint">
      {' '}
      messages {times((map) => map.messages)}, bytes {times((map) => map.values)}
    </span>
  )
}

interface CommunicationMapProps {
  readonly run: Run
  readonly job: Job
  readonly map: Communication
  readonly label: string
  readonly test: string
  readonly on?: ColorScale
}

export function CommunicationMap({ run, job, map, label, test, on }: CommunicationMapProps) {
  const bytes = useMemo(() => sumOf(map.values), [map])
  return (
    <DensityView
      map={map}
      describe={(column, row, value) => ({
        title: `${span('Rank', row, map.perRow, job.ranks)} to ${span('', column, map.perColumn, job.ranks)}`,
        rows: [
          ['Messages', count(map.messages[row * map.columns + column]!)],
          ['Bytes', quantity(value, 'bytes')],
          ['Share of the job', percent(value / bytes)],
        ],
      })}
      run={run}
      unit="bytes"
      across={['to rank 0 →', count(job.ranks - 1)]}
      down="from rank 0 ↓"
      label={label}
      test={test}
      {...(on ? { on } : {})}
    />
  )
}

/** A cell position as text: one item or a range. */
export function span(noun: string, index: number, per: number, total: number): string {
  const last = Math.min(total, (index + 1) * per) - 1
  const text = per === 1 ? count(index) : `${count(index * per)}–${count(last)}`
  return noun === '' ? text : `${noun}${per === 1 ? '' : 's'} ${text}`
}
