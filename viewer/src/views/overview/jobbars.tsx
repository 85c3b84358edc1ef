/** A bar per job, longest first, with its bottleneck; a click shows the job alone and why it takes this long. */
import { useMemo, useState } from 'preact/hooks'
import { count, digits, quantity } from '../../base/format'
import { placeName, type JobExplanation } from '../../data/explanation'
import { jobBars, type JobBar, type JobBars as Bars } from '../../data/jobbars'
import type { DerivedRun } from '../../data/model'
import { jobNamed } from '../../data/run'
import { details, solo, soloOf } from '../controls/jobs'
import { useExplanations } from '../panels/bottlenecks/bottlenecks'
import { useSession, useSettings } from '../session/session'
import './overview.css'

/** Bars that are shown at first. */
const SHOWN = 8
/** Bars of the open list; each further hundred takes the browser about 10 ms. */
const LISTED_MAX = 400
/** Of more jobs, bottlenecks are computed only for the panel that shows them. */
const EXPLAINED_MAX = 100
const NONE: readonly number[] = []

export function JobBars({ derived: d }: { derived: DerivedRun }) {
  const [isOpen, setOpen] = useState(false)
  const [wanted, setWanted] = useState('')
  const { jobs: modes } = useSettings()
  const found = useMemo(() => jobBars(d), [d.run, d.measure])
  const explanations = useExplanations(d.run.jobs.length <= EXPLAINED_MAX ? [d.run.id] : NONE)
  if (!found) return null
  const { bars, label } = found
  const matching = bars.filter(({ job }) => job.name.toLowerCase().includes(wanted.trim().toLowerCase()))
  const shown = isOpen ? matching.slice(0, LISTED_MAX) : bars.slice(0, SHOWN)
  const soloed = soloOf(d.run, modes)
  const explained = (Array.isArray(explanations) && explanations[0]) || null
  return (
    <section class="job-bars" aria-label={`${label} of each job`}>
      <ul class={isOpen ? 'open' : ''}>
        {shown.map((bar) => (
          <li key={bar.job.job} data-test={`bar-${bar.job.job}`}>
            <Bar
              derived={d}
              of={found}
              bar={bar}
              why={explained && jobNamed(explained, bar.job.name)}
              isSolo={bar.job.job === soloed}
            />
          </li>
        ))}
      </ul>
      {bars.length > SHOWN && (
        <p class="more-jobs">
          {isOpen && (
            <input
              type="search"
              placeholder="Find a job"
              aria-label="Find a job"
              value={wanted}
              onInput={(event) => setWanted(event.currentTarget.value)}
              onKeyDown={(event) => event.stopPropagation()}
            />
          )}
          <button onClick={() => setOpen(!isOpen)} aria-expanded={isOpen} data-test="more-jobs">
            {isOpen ? 'fewer jobs' : `all ${count(bars.length)} jobs`}
          </button>
          {isOpen && matching.length > shown.length && (
            <span class="hint">
              {count(shown.length)} of {count(matching.length)}; find others by name.
            </span>
          )}
        </p>
      )}
    </section>
  )
}

interface BarProps {
  readonly derived: DerivedRun
  readonly of: Bars
  readonly bar: JobBar
  readonly why: JobExplanation | null
  readonly isSolo: boolean
}

function Bar({ derived: { run }, of, bar, why, isSolo }: BarProps) {
  const session = useSession()
  const { jobs } = useSettings()
  const { job, value, alone } = bar
  const first = why?.bottlenecks?.[0]
  const place = first && first.busy_s > 0 ? placeName(first) : (why?.terms?.[0]?.term ?? '')
  const share = (size: number): string => `${(100 * size) / (of.most || 1)}%`
  const open = (): void =>
    session.state.patch(
      isSolo
        ? { jobs: {}, panel: 'matrices', focus: '' }
        : { jobs: solo(run, job.job, {}), panel: 'bottlenecks', focus: `job:${job.job}` },
    )
  return (
    <button class={jobs[job.job] ?? ''} aria-pressed={isSolo} title={details(job)} onClick={open}>
      <i class="swatch" style={{ background: job.color }} />
      <b>{job.name}</b>
      <span class="number">
        {quantity(value, of.unit)}
        {alone !== undefined && alone > 0 && value > 1.005 * alone && <em> ×{digits(value / alone)}</em>}
      </span>
      <span class="track">
        <i style={{ width: share(value || 0), background: job.color }} />
        {alone !== undefined && (
          <i class="alone" style={{ left: share(alone) }} title={`alone: ${quantity(alone, of.unit)}`} />
        )}
      </span>
      {of.isTimed && run.jobs.length <= EXPLAINED_MAX && (
        <span class="why" title={place}>
          {place}
        </span>
      )}
    </button>
  )
}
