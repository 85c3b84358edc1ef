/** The result of a comparison as text, above the pictures. */
import { Fragment } from 'preact'
import { useMemo } from 'preact/hooks'
import { percent, quantity, signed, signedPercent } from '../../base/format'
import {
  answer,
  isLimitedByNic,
  type BusiestResource,
  type JobAnswer,
  type BeforeAfter,
} from '../../data/answer'
import type { Run } from '../../data/run'
import { focusOf, placeName, type Bottleneck } from '../../data/explanation'
import { useExplanations } from '../panels/bottlenecks/bottlenecks'
import { differInSeedsOnly } from '../../data/pivot'
import { useSession } from '../session/session'
import { PlaceButton } from '../panels/bottlenecks/place'
import { Table } from '../tables/table'

/** Smaller relative changes count as no change. */
const SAME = 1e-3

/** The base against each other run. */
export function Answers({ runs }: { runs: readonly Run[] }) {
  const [base, ...others] = runs
  return (
    <section class="card answers" aria-label="Result" data-test="answers">
      {others.map((other) => (
        <Answer key={other.id} base={base!} other={other} named={others.length > 1} />
      ))}
    </section>
  )
}

function Answer({ base, other, named }: { base: Run; other: Run; named: boolean }) {
  const { index } = useSession()
  const explanations = useExplanations([base.id, other.id])
  const jobs = useMemo(
    () =>
      explanations === undefined
        ? []
        : answer(base, other, typeof explanations === 'string' ? undefined : explanations),
    [base, other, explanations],
  )
  const [worst] = jobs
  const isNoise = differInSeedsOnly(index, base.id, other.id)
  if (explanations === undefined)
    return (
      <div class="answer">
        <p class="hint">Loading bottlenecks …</p>
      </div>
    )
  return (
    <div class="answer">
      <p data-test={`answer-${other.id}`}>
        {named && <b>{other.label}: </b>}
        {worst ? (
          <>
            {isNoise && (
              <b data-test={`noise-${other.id}`}>Within noise: the runs differ in their seed only. </b>
            )}
            <Verdict worst={worst} isNoise={isNoise} /> <BottleneckSentence job={worst} base={base} />{' '}
            <TrafficChanges job={worst} base={base} />
          </>
        ) : (
          'The runs have no common job.'
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

interface VerdictProps {
  readonly worst: JobAnswer
  /** Whether the difference is not judged. */
  readonly isNoise: boolean
}

function Verdict({ worst: { job, figure, ratio }, isNoise }: VerdictProps) {
  const name = (
    <>
      <i class="swatch" style={{ background: job.color }} /> <b>{job.name}</b>
    </>
  )
  if (!figure) return <>The runs have no common time for {name}.</>
  const { label, unit, before, after } = figure
  const times = `${label}: ${quantity(before, unit)} in the base, ${quantity(after, unit)} now`
  if (Math.abs(ratio - 1) < SAME)
    return (
      <>
        No job is slower; {name} is unchanged ({times}).
      </>
    )
  return ratio > 1 ? (
    <>
      {name} is <b class={isNoise ? '' : 'more'}>{percent(ratio - 1)} slower</b> ({times}).
    </>
  ) : (
    <>
      All jobs are faster; the smallest gain is {name},{' '}
      <b class={isNoise ? '' : 'less'}>{percent(1 - ratio)} faster</b> ({times}).
    </>
  )
}

/** The job's bottleneck, or the busiest link and NIC that it uses. */
function BottleneckSentence({ job, base }: { job: JobAnswer; base: Run }) {
  if (job.bottleneck) return <BottleneckChange of={job.bottleneck} base={base} />
  const own = isLimitedByNic(job)
  const { before, after } = job.link
  if (!after) return <>No link carries bytes of this job.</>
  const same = before?.name === after.name
  return (
    <>
      {own && (
        <>
          Busiest NIC: <Place place={job.nic.after!} base={base} />,{' '}
          <LoadChange sides={job.nic} of={job.nic.after!} />.{' '}
        </>
      )}
      Busiest link: <Place place={after} base={base} />
      {same ? ' (same as in the base), ' : ', '}
      {same || !before ? (
        <LoadChange sides={job.link} of={after} />
      ) : (
        <>
          {loadText(after)}; in the base: <Place place={before} base={base} />, {loadText(before)}
        </>
      )}
      .
    </>
  )
}

interface BottleneckChangeProps {
  readonly of: NonNullable<JobAnswer['bottleneck']>
  readonly base: Run
}

function BottleneckChange({ of: { before, after }, base }: BottleneckChangeProps) {
  return (
    <>
      Busiest: <Place place={placeOf(after)} base={base} />, {percent(after.share)} busy; in the base:{' '}
      {before.name === after.name ? 'the same' : <Place place={placeOf(before)} base={base} />},{' '}
      {percent(before.share)} busy.
    </>
  )
}

const placeOf = (of: Bottleneck): Pick<BusiestResource, 'name' | 'focus'> => ({
  name: placeName(of),
  focus: focusOf(of),
})

const Place = ({ place, base }: { place: Pick<BusiestResource, 'name' | 'focus'>; base: Run }) => (
  <PlaceButton
    name={place.name}
    focus={place.focus}
    title={`Focus this link or NIC (compared with ${base.label})`}
    test="answer-place"
  />
)

const loadText = ({ bytes, occupied_s }: BusiestResource): string =>
  `${quantity(bytes, 'bytes')}${Number.isFinite(occupied_s) ? ` (${quantity(occupied_s, 's')} at full bandwidth)` : ''}`

function LoadChange({ sides: { before }, of }: { sides: BeforeAfter; of: BusiestResource }) {
  if (!before) return <>{loadText(of)}</>
  const change = of.bytes / before.bytes - 1
  return (
    <>
      {quantity(before.bytes, 'bytes')} in the base, {loadText(of)} now
      {Math.abs(change) >= SAME && <b class={change > 0 ? 'more' : 'less'}> {signedPercent(change)}</b>}
    </>
  )
}

interface TrafficChangesProps {
  readonly job: JobAnswer
  readonly base: Run
}

/** Jobs whose traffic changed on that link. */
function TrafficChanges({ job: { trafficChanges, isInBase, link, bottleneck }, base }: TrafficChangesProps) {
  if (bottleneck ? bottleneck.after.link === null : !link.after) return null
  if (!isInBase)
    return (
      <>
        {base.label} has no such link. Traffic now:{' '}
        {trafficChanges.map(({ name, after }) => `${name} ${quantity(after, 'bytes')}`).join(', ')}.
      </>
    )
  const changed = trafficChanges.filter(
    ({ before, after }) => Math.abs(after - before) >= SAME * Math.max(before, after),
  )
  if (changed.length === 0) return <>Traffic there is unchanged.</>
  return (
    <>
      Traffic change there:{' '}
      {changed.slice(0, 3).map(({ name, color, before, after }, i) => (
        <Fragment key={name}>
          {i > 0 && ', '}
          <i class="swatch" style={{ background: color }} /> {name}{' '}
          <b class={after > before ? 'more' : 'less'}>{signed(after - before, 'bytes')}</b> (
          {quantity(before, 'bytes')} to {quantity(after, 'bytes')})
        </Fragment>
      ))}
      {changed.length > 3 && ` and ${changed.length - 3} more jobs`}.
    </>
  )
}

function AnswerTable({ jobs, base, other }: { jobs: readonly JobAnswer[]; base: Run; other: Run }) {
  const side = ({ bottleneck, link }: JobAnswer, when: 'before' | 'after'): string => {
    if (bottleneck) return `${placeName(bottleneck[when])}, ${percent(bottleneck[when].share)} busy`
    const busiest = link[when]
    return busiest ? `${busiest.name}, ${loadText(busiest)}` : '–'
  }
  return (
    <div class="table-frame">
      <Table
        heads={[
          'Job',
          'Time',
          base.label,
          other.label,
          'Change',
          `Bottleneck in ${base.label}`,
          `Bottleneck in ${other.label}`,
        ]}
      >
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
              <td class="number">{figure ? signedPercent(ratio - 1) : '–'}</td>
              <td>{side(one, 'before')}</td>
              <td>{side(one, 'after')}</td>
            </tr>
          )
        })}
      </Table>
    </div>
  )
}
