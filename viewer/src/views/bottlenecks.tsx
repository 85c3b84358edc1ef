/** Bottleneck of each job, its sharers, and the effect of faster or slower links. */
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { percent, quantity } from '../base/format'
import type { DerivedRun } from '../data/model'
import type { Job } from '../data/run'
import { comparedIds } from '../data/state'
import {
  focusOf,
  largestCompetitor,
  ownShare,
  explainedJobs,
  type Bottleneck,
  type JobExplanation,
  type Explanation,
} from '../data/explanation'
import { useSession, useSettings, useStore } from './session'

export function BottleneckView({ derived: { run } }: { derived: DerivedRun }) {
  const session = useSession()
  const state = useSettings()
  const ids = state.view === 'compare' ? comparedIds(state, session.index.runs.length) : [run.id]
  const found = useExplanations(ids)
  const jobs = useMemo(() => (Array.isArray(found) ? explainedJobs(run, found) : []), [run, found])
  if (found === undefined) return <p class="loading">Looking for what binds each job …</p>
  if (typeof found === 'string') return <p class="hint">{found}</p>
  return (
    <section class="bottlenecks" aria-label="What binds each job" data-test="bottlenecks">
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
              </div>
            ) : (
              <p key={ids[i]} class="hint">
                {of} has no job of this name.
              </p>
            )
          })}
        </section>
      ))}
      <p class="reading">
        A link is busy with a job’s bytes and with what other jobs send over it meanwhile. What each other job
        costs takes further runs: <code>odonata explain RUN --job NAME</code>
        {ids.length > 1 && (
          <>
            , and what each change of a run costs, <code>--against BASE</code>
          </>
        )}
        .
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

/** The same sentence as `odonata explain`. */
function Sentence({
  job,
  explanation,
  of,
}: {
  job: Job
  explanation: JobExplanation
  of: string | undefined
}) {
  const { time_s: time, bottlenecks, decides, terms } = explanation
  const where = of === undefined ? null : <>{of}: </>
  if (time === null) return <p>{where}It has no end, so no time to explain.</p>
  const [first] = bottlenecks ?? []
  const [term] = terms ?? []
  const rest = largestCompetitor(explanation)
  return (
    <p>
      {where}
      <b>{quantity(time, 's')}</b>.{' '}
      {term && (
        <>
          {percent(term.share)} of its slowest rank’s is {term.term}.{' '}
        </>
      )}
      {first && first.busy_s > 0 ? (
        <>
          {decides ? 'Bound by' : 'No link is always busy; most is'} <PlaceButton of={first} /> (
          {percent(first.share)} of its time; {percent(ownShare(explanation))} of that with bytes of{' '}
          {job.name}
          {rest && `, ${percent(rest.share)} of ${rest.name}`}).
        </>
      ) : (
        !term && 'No link carries its bytes.'
      )}
    </p>
  )
}

/** A link or NIC; a click focuses it. */
function PlaceButton({ of }: { of: Bottleneck }) {
  const session = useSession()
  const { focus } = useStore(session.state)
  const own = focusOf(of)
  return (
    <button
      class="place"
      aria-pressed={focus === own}
      title="Mark it in all pictures"
      onClick={() => session.state.patch({ focus: focus === own ? '' : own })}
      data-test="bottleneck-place"
    >
      {of.name}
    </button>
  )
}

function Details({
  explanation: { bottlenecks, sharers, sensitivity, terms, slowest_rank: slowest },
}: {
  explanation: JobExplanation
}) {
  if (!bottlenecks?.length && !terms) return null
  return (
    <details>
      <summary>more</summary>
      {bottlenecks && bottlenecks.length > 0 && (
        <Sheet title="Busy while it runs" heads={['link or interface', 'class', 'busy', 'of its time']}>
          {bottlenecks.map((one) => (
            <tr key={one.name}>
              <td>
                <PlaceButton of={one} />
              </td>
              <td>{one.class}</td>
              <td class="number">{quantity(one.busy_s, 's')}</td>
              <td class="number">{percent(one.share)}</td>
            </tr>
          ))}
        </Sheet>
      )}
      {sharers && (
        <Sheet title="Whose bytes the first of these passes" heads={['job', 'busy with it', 'share']}>
          {sharers.map(({ name, busy_s: busy, share }) => (
            <tr key={name}>
              <td>{name}</td>
              <td class="number">{quantity(busy, 's')}</td>
              <td class="number">{percent(share)}</td>
            </tr>
          ))}
        </Sheet>
      )}
      {sensitivity && (
        <Sheet
          title="How its time would change with bandwidth 10 % less or more, with one cable more or less"
          heads={['class', '10 % less', '10 % more', 'cable more', 'cable less']}
        >
          {sensitivity.map(({ class: name, slower, faster, cable_more: more, cable_less: less }) => (
            <tr key={name}>
              <td>{name}</td>
              {[slower, faster, more, less].map((change, i) => (
                <td key={i} class="number">
                  {changeText(change)}
                </td>
              ))}
            </tr>
          ))}
        </Sheet>
      )}
      {terms && (
        <Sheet
          title={`The time of its slowest rank, ${slowest}`}
          heads={['term', 'takes', 'share', 'what it is']}
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

/** As in the command: `no change`, or a dash if unknown. */
const changeText = (share: number | null): string =>
  share === null ? '–' : Math.abs(share) < 5e-4 ? '=' : `${share > 0 ? '+' : ''}${percent(share)}`

function Sheet({
  title,
  heads,
  children,
}: {
  title: string
  heads: readonly string[]
  children: ComponentChildren
}) {
  return (
    <div class="table-frame">
      <table class="small">
        <caption>{title}</caption>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}
