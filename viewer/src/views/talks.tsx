/** Who sends to whom in every job of a run, side by side on one scale: levels of a multigrid cycle, patterns, sizes. */
import { useMemo } from 'preact/hooks'
import { count, percent, quantity } from '../base/format'
import { doublings } from '../data/difference'
import type { Derived } from '../data/model'
import { COMMUNICATION, type Communication } from '../data/placement'
import type { Job, Run } from '../data/run'
import type { ColorScale } from '../data/scale'
import type { ViewState } from '../data/state'
import { sumOf, talkPairs, talks, TALKS, type Talk, type TalkPair } from '../data/talks'
import { Choice } from './controls'
import { DensityView, densityScale } from './density'
import { useSession, useStore, type Session } from './session'

/** The pairs of matrices, a message where they cannot be had. */
export function pairsIn(session: Session, run: Run, state: ViewState): TalkPair[] | string {
  const told = (one: Run) => {
    const table = session.block(one.id, TALKS, COMMUNICATION)
    return typeof table === 'object' ? { run: one, table } : (table ?? 'Loading …')
  }
  const here = told(run)
  if (typeof here === 'string') return here
  const other = state.beside < 0 || state.beside === run.id ? null : session.model(state.beside)?.run
  if (other === undefined) return 'Loading …'
  const there = other && (talks(other.info) ? told(other) : `${other.label} does not say who sends to whom.`)
  if (typeof there === 'string') return there
  return talkPairs(here, there, (job) => state.jobs[job] === undefined)
}

export function Talks({ derived: { run } }: { derived: Derived }) {
  const session = useSession()
  const state = useStore(session.state)
  const loaded = useStore(session.loaded)
  const pairs = useMemo(() => pairsIn(session, run, state), [run, state.beside, state.jobs, loaded])
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
  const other = state.beside >= 0 && state.beside !== run.id ? session.index.runs[state.beside] : undefined
  return (
    <>
      <Beside run={run} />
      {typeof pairs === 'string' ? (
        <p class="hint centred">{pairs}</p>
      ) : (
        <div class={`talks ${other ? 'beside' : ''}`} data-test="talks">
          {pairs.map(({ here, there }) => (
            <section key={here.job.job} aria-label={`Who sends to whom in ${here.job.name}`}>
              <h2>
                <i class="swatch" style={{ background: here.job.color }} /> {here.job.name}
                {there && <Change here={here} there={there} />}
              </h2>
              <div class="pair">
                <One talk={here} of={other && run.label} on={scale} test={`talk-${here.job.job}`} />
                {there && (
                  <One talk={there} of={there.run.label} on={scale} test={`beside-${here.job.job}`} />
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
      <p class="reading">All matrices have one scale of colours; ranks send down, receive across.</p>
    </>
  )
}

/** Another run whose jobs of the same names stand beside. */
function Beside({ run }: { run: Run }) {
  const session = useSession()
  const { beside } = useStore(session.state)
  const others = session.index.runs
    .map((info, id) => ({ info, id }))
    .filter(({ info, id }) => id !== run.id && talks(info))
  if (others.length === 0) return null
  return (
    <div class="pickers">
      <Choice
        label="Beside it"
        test="beside"
        value={beside === run.id ? '-1' : String(beside)}
        options={[
          { value: '-1', label: 'no other run' },
          ...others.map(({ info, id }) => ({ value: String(id), label: info.label })),
        ]}
        onChange={(value) => session.state.patch({ beside: Number(value) })}
      />
    </div>
  )
}

function One({
  talk: { run, job, map },
  of,
  on,
  test,
}: {
  talk: Talk
  of: string | undefined
  on: ColorScale
  test: string
}) {
  const label = `Who sends to whom in ${job.name}${of === undefined ? '' : `, ${of}`}`
  return (
    <div class="one">
      {of !== undefined && <h3>{of}</h3>}
      <TalkMap run={run} job={job} map={map} on={on} label={label} test={test} />
      <p class="hint">
        {quantity(sumOf(map.values), 'bytes')} in {count(sumOf(map.messages))} messages
      </p>
    </div>
  )
}

/** How many times the messages and bytes of the run on the left the other's are. */
function Change({ here, there }: { here: Talk; there: Talk }) {
  const times = (of: (map: Communication) => Float64Array): string =>
    quantity(doublings(sumOf(of(here.map)), sumOf(of(there.map))), 'doublings')
  return (
    <span class="hint">
      {' '}
      messages {times((map) => map.messages)}, bytes {times((map) => map.values)}
    </span>
  )
}

interface TalkMapProps {
  readonly run: Run
  readonly job: Job
  readonly map: Communication
  readonly label: string
  readonly test: string
  readonly on?: ColorScale
}

export function TalkMap({ run, job, map, label, test, on }: TalkMapProps) {
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
      across={['to rank 0 →', `${count(job.ranks - 1)}`]}
      down="from rank 0 ↓"
      label={label}
      test={test}
      {...(on ? { on } : {})}
    />
  )
}

/** A cell of an axis in words: one thing, or from which to which. */
export function span(noun: string, index: number, per: number, total: number): string {
  const last = Math.min(total, (index + 1) * per) - 1
  const text = per === 1 ? count(index) : `${count(index * per)}–${count(last)}`
  return noun === '' ? text : `${noun}${per === 1 ? '' : 's'} ${text}`
}
