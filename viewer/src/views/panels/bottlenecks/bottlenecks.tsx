/** Busiest links of each job, their sharers, and runs with other bandwidths or cables. */
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { percent, quantity, signedPercent } from '../../../base/format'
import type { DerivedRun } from '../../../data/model'
import type { Job } from '../../../data/run'
import {
  focusOf,
  placeName,
  largestCompetitor,
  ownShare,
  explainedJobs,
  type Bottleneck,
  type JobExplanation,
  type Explanation,
  type MachineChange,
} from '../../../data/explanation'
import { useSession, useSettings, useShownRuns } from '../../session/session'
import { Table } from '../../tables/table'
import { PlaceButton } from './place'
import './bottlenecks.css'

export function BottleneckView({ derived: { run } }: { derived: DerivedRun }) {
  const session = useSession()
  const ids = useShownRuns()
  const found = useExplanations(ids)
  const { jobs: modes } = useSettings()
  const jobs = useMemo(
    () =>
      Array.isArray(found)
        ? explainedJobs(run, found).filter(
            ({ job, explanations }) =>
              modes[job.job] !== 'hidden' && explanations.some((one) => one !== null),
          )
        : [],
    [run, found, modes],
  )
  const isTimed = jobs.some(({ explanations }) => explanations.some((one) => one && one.time_s !== null))
  const isBusy = jobs.some(({ explanations }) =>
    explanations.some((one) => one && one.time_s !== null && one.bottlenecks?.length),
  )
  const shown = run.jobs.filter(({ job }) => modes[job] !== 'hidden').length
  if (found === undefined) return <p class="loading">Loading bottlenecks …</p>
  if (typeof found === 'string') return <p class="hint">{found}</p>
  return (
    <section class="bottlenecks" aria-label="Bottlenecks" data-test="bottlenecks">
      {jobs.map(({ job, explanations }) => (
        <section key={job.job} data-test={`bottlenecks-${job.job}`}>
          <h3>
            <i class="swatch" style={{ background: job.color }} /> {job.name}
          </h3>
          {explanations.map((explanation, i) => {
            const of = ids.length > 1 ? session.index.runs[ids[i]!]!.label : undefined
            return explanation ? (
              <div key={ids[i]}>
                <Sentence job={job} explanation={explanation} of={of} />
                <Details explanation={explanation} />
                {explanation.time_s !== null && explanation.bottlenecks?.length ? (
                  <WhatIf run={ids[i]!} job={job.name} />
                ) : null}
              </div>
            ) : (
              <p key={ids[i]} class="hint">
                {of} has no job with this name.
              </p>
            )
          })}
        </section>
      ))}
      {jobs.length < shown && (
        <p class="reading" data-test="not-explained">
          Only the slowest jobs are explained. For another: <code>odonata explain RUN --job NAME</code>.
        </p>
      )}
      {session.source.whatIf && !session.index.allows_runs && isBusy && (
        <p class="reading" data-test="allow-runs">
          To run the jobs on other machines, here and in the picture: <code>odonata view --allow-runs</code>.
        </p>
      )}
      <p class="reading">
        A link is busy with bytes of all jobs.
        {isTimed && (
          <>
            {' '}
            To measure the cost of each competing job, run <code>odonata explain RUN --job NAME</code>
            {ids.length > 1 && (
              <>
                ; for the cost of each changed setting, add <code>--against BASE</code>
              </>
            )}
            .
          </>
        )}
      </p>
    </section>
  )
}

/** Explanations of these runs, an error message, or undefined while loading. */
export function useExplanations(ids: readonly number[]): readonly Explanation[] | string | undefined {
  const { source } = useSession()
  const key = ids.join()
  const [found, setFound] = useState<{ key: string; explanations: readonly Explanation[] | string }>()
  useEffect(() => {
    let gone = false
    const take = (explanations: readonly Explanation[] | string): void => {
      if (!gone) setFound({ key, explanations })
    }
    Promise.all(ids.map((id) => source.explain(id))).then(take, (error: unknown) =>
      take(error instanceof Error ? error.message : String(error)),
    )
    return () => void (gone = true)
  }, [source, key])
  // Ignore answers for previous runs.
  return found?.key === key ? found.explanations : undefined
}

interface SentenceProps {
  readonly job: Job
  readonly explanation: JobExplanation
  readonly of: string | undefined
}

/** The same sentence as `odonata explain`. */
function Sentence({ job, explanation, of }: SentenceProps) {
  const { time_s: time, open_traffic: flowing, bottlenecks, terms } = explanation
  const where = of === undefined ? null : <>{of}: </>
  if (time === null && flowing === null) return <p>{where}The job did not end, so it has no time.</p>
  const [first] = bottlenecks ?? []
  const [term] = terms ?? []
  const rest = largestCompetitor(explanation)
  return (
    <p>
      {where}
      {time === null ? flowing : <>{<b>{quantity(time, 's')}</b>}.</>}{' '}
      {term && (
        <>
          Largest term of the slowest rank: {term.term}, {percent(term.share)}.{' '}
        </>
      )}
      {first && first.busy_s > 0 ? (
        <>
          Busiest: <Place of={first} />, {percent(first.share)} busy ({percent(ownShare(explanation))} by{' '}
          {job.name}
          {rest && `, ${percent(rest.share)} by ${rest.name}`}).
        </>
      ) : (
        !term && 'No link carries bytes of this job.'
      )}
    </p>
  )
}

const Place = ({ of }: { of: Bottleneck }) => (
  <PlaceButton
    name={placeName(of)}
    focus={focusOf(of)}
    title="Focus it in all pictures"
    test="bottleneck-place"
  />
)

interface DetailsProps {
  readonly explanation: JobExplanation
}

function Details({ explanation }: DetailsProps) {
  const { open_traffic: flowing, bottlenecks, sharers, terms, slowest_rank: slowest } = explanation
  if (!bottlenecks?.length && !terms) return null
  return (
    <details>
      <summary>details</summary>
      {bottlenecks && bottlenecks.length > 0 && (
        <Sheet
          title={`Busiest links and NICs ${flowing === null ? 'while the job runs' : 'in the measurement'}`}
          heads={['link or NIC', 'class', 'busy', 'share of time']}
        >
          {bottlenecks.map((one) => (
            <tr key={one.name}>
              <td>
                <Place of={one} />
              </td>
              <td>{one.class}</td>
              <td class="number">{quantity(one.busy_s, 's')}</td>
              <td class="number">{percent(one.share)}</td>
            </tr>
          ))}
        </Sheet>
      )}
      {sharers && (
        <Sheet title="Jobs on the first of these" heads={['job', 'busy', 'share']}>
          {sharers.map(({ name, busy_s: busy, share }) => (
            <tr key={name}>
              <td>{name}</td>
              <td class="number">{quantity(busy, 's')}</td>
              <td class="number">{percent(share)}</td>
            </tr>
          ))}
        </Sheet>
      )}
      {terms && (
        <Sheet
          title={`Time of the slowest rank (rank ${slowest})`}
          heads={['term', 'time', 'share', 'meaning']}
        >
          {terms.map(({ term, term_time_s: time, share, meaning }) => (
            <tr key={term}>
              <td>{term}</td>
              <td class="number">{quantity(time, 's')}</td>
              <td class="number">{percent(share)}</td>
              <td>{meaning}</td>
            </tr>
          ))}
        </Sheet>
      )}
    </details>
  )
}

interface WhatIfProps {
  readonly run: number
  readonly job: string
}

/** Times on changed machines: runs on request, on served pages. */
function WhatIf({ run, job }: WhatIfProps) {
  const { source, index } = useSession()
  const [found, setFound] = useState<readonly MachineChange[] | string>()
  const [isRunning, setRunning] = useState(false)
  if (!source.whatIf) return null
  if (!index.allows_runs) return null
  const measure = (): void => {
    setRunning(true)
    const take = (answer: readonly MachineChange[] | string): void => {
      setFound(answer)
      setRunning(false)
    }
    source.whatIf!(run, job).then(take, (error: unknown) =>
      take(error instanceof Error ? error.message : String(error)),
    )
  }
  if (typeof found === 'string') return <p class="hint">{found}</p>
  if (found === undefined)
    return (
      <p>
        <button type="button" onClick={measure} disabled={isRunning} data-test={`what-if-${job}`}>
          {isRunning ? 'Running …' : 'Run with other bandwidths and cables'}
        </button>
      </p>
    )
  return (
    <>
      <Sheet title="Time on another machine, each by a run" heads={['change', 'time', 'difference']}>
        {found.map(({ change, time_s: time, difference, reason }) => (
          <tr key={change}>
            <td>{change}</td>
            <td class="number" title={reason ?? undefined}>
              {time === null ? '–' : quantity(time, 's')}
            </td>
            <td class="number">{changeText(difference)}</td>
          </tr>
        ))}
      </Sheet>
      <p class="hint">
        All runs have one seed. With other nodes, partners and paths, the change differs: the command's
        --seeds shows how much.
      </p>
    </>
  )
}

/** As in the command: `no change`, or a dash if unknown. */
const changeText = (share: number | null): string =>
  share === null ? '–' : Math.abs(share) < 5e-4 ? 'no change' : signedPercent(share)

interface SheetProps {
  readonly title: string
  readonly heads: readonly string[]
  readonly children: ComponentChildren
}

function Sheet({ title, heads, children }: SheetProps) {
  return (
    <div class="table-frame">
      <Table caption={title} heads={heads}>
        {children}
      </Table>
    </div>
  )
}
