/** What a comparison comes to, in words, before any picture of it. */
import { Fragment } from 'preact'
import { useMemo } from 'preact/hooks'
import { percent, quantity, signed } from '../base/format'
import { answer, atInterface, type Binding, type Busiest, type JobAnswer, type Sides } from '../data/answer'
import type { Run } from '../data/run'
import { focusOf } from '../data/why'
import { useSession, useStore } from './session'
import { useWhy } from './why'

/** Changes below a thousandth are none that one would speak of. */
const SAME = 1e-3

/** The base against each of the others. */
export function Answers({ runs }: { runs: readonly Run[] }) {
  const [base, ...others] = runs
  return (
    <section class="card answers" aria-label="Answer" data-test="answers">
      {others.map((other) => (
        <Answer key={other.id} base={base!} other={other} named={others.length > 1} />
      ))}
    </section>
  )
}

function Answer({ base, other, named }: { base: Run; other: Run; named: boolean }) {
  const whys = useWhy([base.id, other.id])
  const jobs = useMemo(
    () => (whys === undefined ? [] : answer(base, other, typeof whys === 'string' ? undefined : whys)),
    [base, other, whys],
  )
  const [worst] = jobs
  if (whys === undefined)
    return (
      <div class="answer">
        <p class="hint">Looking for what binds each job …</p>
      </div>
    )
  return (
    <div class="answer">
      <p data-test={`answer-${other.id}`}>
        {named && <b>{other.label}: </b>}
        {worst ? (
          <>
            <Verdict worst={worst} /> <Where job={worst} base={base} /> <Whose job={worst} base={base} />
          </>
        ) : (
          'The runs have no job in common.'
        )}
      </p>
      {jobs.length > 1 && (
        <details>
          <summary data-test={`answer-jobs-${other.id}`}>all {jobs.length} jobs</summary>
          <AnswerTable jobs={jobs} base={base} other={other} />
        </details>
      )}
    </div>
  )
}

function Verdict({ worst: { job, figure, ratio } }: { worst: JobAnswer }) {
  const name = (
    <>
      <i class="swatch" style={{ background: job.color }} /> <b>{job.name}</b>
    </>
  )
  if (!figure) return <>Neither run says how long {name} takes.</>
  const { label, unit, before, after } = figure
  const times = `${label}: ${quantity(before, unit)} before, ${quantity(after, unit)} now`
  if (Math.abs(ratio - 1) < SAME)
    return (
      <>
        No job is slower, {name} neither ({times}).
      </>
    )
  return ratio > 1 ? (
    <>
      {name} is <b class="more">{percent(ratio - 1)} slower</b> ({times}).
    </>
  ) : (
    <>
      No job is slower; the least faster is {name}, by <b class="less">{percent(1 - ratio)}</b> ({times}).
    </>
  )
}

/** What binds the job, or else which link or interface is the busiest that it uses. */
function Where({ job, base }: { job: JobAnswer; base: Run }) {
  if (job.binds) return <Binds of={job.binds} base={base} />
  const own = atInterface(job)
  const { before, after } = job.link
  if (!after) return <>No link carries any of its bytes.</>
  const same = before?.name === after.name
  return (
    <>
      {own && (
        <>
          The busiest that it uses is its interface <At place={job.interface.after!} base={base} />:{' '}
          <Figures sides={job.interface} of={job.interface.after!} />.{' '}
        </>
      )}
      {own ? 'Of the links, the busiest it uses is' : 'The busiest link that it uses is'}{' '}
      <At place={after} base={base} />
      {same ? ', as before: ' : ': '}
      {same || !before ? (
        <Figures sides={job.link} of={after} />
      ) : (
        <>
          {load(after)}; before, <At place={before} base={base} /> was its busiest with {load(before)}
        </>
      )}
      .
    </>
  )
}

function Binds({ of: { before, after }, base }: { of: NonNullable<JobAnswer['binds']>; base: Run }) {
  return (
    <>
      {after.decides ? 'Bound by' : 'Busiest while it runs is'} <At place={placed(after)} base={base} /> (
      {percent(after.share)} of its time); before,{' '}
      {before.name === after.name ? 'too' : <At place={placed(before)} base={base} />} (
      {percent(before.share)}).
    </>
  )
}

const placed = (of: Binding): Pick<Busiest, 'name' | 'focus'> => ({ name: of.name, focus: focusOf(of) })

/** A link or an interface; a click narrows the view to it. */
function At({ place, base }: { place: Pick<Busiest, 'name' | 'focus'>; base: Run }) {
  const session = useSession()
  const { focus } = useStore(session.state)
  return (
    <button
      class="place"
      aria-pressed={focus === place.focus}
      title={`Mark it; its run is compared with ${base.label}`}
      onClick={() => session.state.patch({ focus: focus === place.focus ? '' : place.focus })}
      data-test="answer-place"
    >
      {place.name}
    </button>
  )
}

const load = ({ bytes, occupied_s }: Busiest): string =>
  `${quantity(bytes, 'bytes')}${Number.isFinite(occupied_s) ? ` (${quantity(occupied_s, 's')} at full rate)` : ''}`

function Figures({ sides: { before }, of }: { sides: Sides; of: Busiest }) {
  if (!before) return <>{load(of)}</>
  const change = of.bytes / before.bytes - 1
  return (
    <>
      {quantity(before.bytes, 'bytes')} before, {load(of)} now
      {Math.abs(change) >= SAME && <b class={change > 0 ? 'more' : 'less'}> {plus(change)}</b>}
    </>
  )
}

const plus = (share: number): string => `${share > 0 ? '+' : ''}${percent(share)}`

/** The jobs whose traffic changed on that link. */
function Whose({ job: { grown, known, link, binds }, base }: { job: JobAnswer; base: Run }) {
  if (binds ? binds.after.link === null : !link.after) return null
  if (!known)
    return (
      <>
        {base.label} has no such link; there now:{' '}
        {grown.map(({ name, after }) => `${name} ${quantity(after, 'bytes')}`).join(', ')}.
      </>
    )
  const changed = grown.filter(
    ({ before, after }) => Math.abs(after - before) >= SAME * Math.max(before, after),
  )
  if (changed.length === 0) return <>Nobody’s traffic changed there.</>
  return (
    <>
      There,{' '}
      {changed.slice(0, 3).map(({ name, color, before, after }, i) => (
        <Fragment key={name}>
          {i > 0 && ', '}
          <i class="swatch" style={{ background: color }} /> {name}{' '}
          <b class={after > before ? 'more' : 'less'}>{signed(after - before, 'bytes')}</b> (
          {quantity(before, 'bytes')} to {quantity(after, 'bytes')})
        </Fragment>
      ))}
      {changed.length > 3 && ` and ${changed.length - 3} more`}.
    </>
  )
}

function AnswerTable({ jobs, base, other }: { jobs: readonly JobAnswer[]; base: Run; other: Run }) {
  const side = ({ binds, link }: JobAnswer, when: 'before' | 'after'): string => {
    if (binds) return `${binds[when].name}, ${percent(binds[when].share)} of its time`
    const busiest = link[when]
    return busiest ? `${busiest.name}, ${load(busiest)}` : '–'
  }
  return (
    <div class="table-frame">
      <table class="small">
        <thead>
          <tr>
            {['Job', 'Figure', base.label, other.label, 'Change', `Busiest, ${base.label}`].map((head) => (
              <th key={head}>{head}</th>
            ))}
            <th>Busiest, {other.label}</th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((one) => {
            const { job, figure, ratio } = one
            return (
              <tr key={job.name}>
                <td>
                  <i class="swatch" style={{ background: job.color }} />
                  {job.name}
                </td>
                <td>{figure?.label ?? '–'}</td>
                <td class="number">{figure ? quantity(figure.before, figure.unit) : '–'}</td>
                <td class="number">{figure ? quantity(figure.after, figure.unit) : '–'}</td>
                <td class="number">{figure ? plus(ratio - 1) : '–'}</td>
                <td>{side(one, 'before')}</td>
                <td>{side(one, 'after')}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
