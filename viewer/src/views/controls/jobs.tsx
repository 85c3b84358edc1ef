/** The list of jobs with switches to hide, isolate or subtract each. */
import { useMemo, useState } from 'preact/hooks'
import { counted, digits, quantity } from '../../base/format'
import type { DerivedRun } from '../../data/model'
import { jobTotals } from '../../data/jobbars'
import type { Job, Run } from '../../data/run'
import type { JobMode } from '../../data/state'
import { Communicators } from './communicators'
import { useFocusOn, useSession, useSettings } from '../session/session'
import './jobs.css'

/** Modes in which only this job counts; if already set, all count. */
export function solo(
  run: Run,
  job: number,
  modes: Readonly<Record<number, JobMode>>,
): Record<number, JobMode> {
  if (soloOf(run, modes) === job) return {}
  const others = run.jobs.filter((other) => other.job !== job)
  return Object.fromEntries(others.map((other) => [other.job, 'hidden' as const]))
}

/** The only job that is not hidden, of several; null if there is none. */
export function soloOf({ jobs }: Run, modes: Readonly<Record<number, JobMode>>): number | null {
  const shown = jobs.filter(({ job }) => modes[job] !== 'hidden')
  const [only] = shown
  return jobs.length > 1 && shown.length === 1 && modes[only!.job] === undefined ? only!.job : null
}

export function toggleMode(
  modes: Readonly<Record<number, JobMode>>,
  job: number,
  mode: JobMode,
): Record<number, JobMode> {
  const { [job]: old, ...rest } = modes
  return old === mode ? rest : { ...rest, [job]: mode }
}

/** Listed jobs; the others are found by name. */
const LISTED = 50

export function Jobs({ derived: d }: { derived: DerivedRun }) {
  const session = useSession()
  const state = useSettings()
  const { run, measure } = d
  const traffic = useMemo(() => jobTotals(d), [run, measure])
  const set = (jobs: Record<number, JobMode>): void => session.state.patch({ jobs })
  const [wanted, setWanted] = useState('')
  const matching = run.jobs.filter(({ name }) => name.toLowerCase().includes(wanted.trim().toLowerCase()))
  const listed = matching.slice(0, LISTED)
  const soloed = soloOf(run, state.jobs)
  return (
    <section class="jobs" aria-label="Jobs">
      <header>
        <h2>Jobs</h2>
        <span>
          {Object.keys(state.colors).length > 0 && (
            <button
              onClick={() => session.state.patch({ colors: {} })}
              title="Reset the job colours"
              data-test="own-colors"
            >
              reset colours
            </button>
          )}{' '}
          <button
            disabled={Object.keys(state.jobs).length === 0}
            onClick={() => set({})}
            title="Show all jobs"
          >
            all
          </button>
        </span>
      </header>
      {measure.perJob === null && !d.signed && (
        <p class="hint">{measure.label} is not attributed to jobs: the switches do not change the values.</p>
      )}
      {run.jobs.length > LISTED && (
        <input
          type="search"
          placeholder={`Find one of ${run.jobs.length} jobs`}
          aria-label="Find a job by name"
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
          onKeyDown={(event) => event.stopPropagation()}
        />
      )}
      <ul>
        {listed.map((job) => (
          <JobLine
            key={job.job}
            derived={d}
            job={job}
            traffic={traffic && traffic[job.job]!}
            alone={job.job === soloed}
          />
        ))}
      </ul>
      {matching.length > listed.length && (
        <p class="hint">
          {listed.length} of {matching.length} jobs
        </p>
      )}
      <Communicators derived={d} />
      <Marks />
    </section>
  )
}

interface JobLineProps {
  readonly derived: DerivedRun
  readonly job: Job
  readonly traffic: number | null
  /** Whether all other jobs are hidden. */
  readonly alone: boolean
}

function JobLine({ derived: d, job, traffic, alone }: JobLineProps) {
  const session = useSession()
  const focusOn = useFocusOn()
  const state = useSettings()
  const { run, measure } = d
  const set = (jobs: Record<number, JobMode>): void => session.state.patch({ jobs })
  const mode = state.jobs[job.job]
  return (
    <li class={mode ?? ''} data-test={`job-${job.job}`}>
      <input
        type="color"
        class="swatch"
        value={job.color}
        title="Change the colour"
        aria-label={`Colour of ${job.name}`}
        onChange={(event) =>
          session.state.patch({ colors: { ...state.colors, [job.job]: event.currentTarget.value } })
        }
        data-test={`color-${job.job}`}
      />
      <button class="job-name" title={details(job)} onClick={() => focusOn(`job:${job.job}`)}>
        {job.name}
      </button>
      <span class="job-switches">
        <Switch
          of={job.name}
          label="Show or hide this job and its traffic"
          on={mode !== 'hidden'}
          text="show"
          onClick={() => set(toggleMode(state.jobs, job.job, 'hidden'))}
        />
        <Switch
          of={job.name}
          label="Show only this job"
          on={alone}
          text="only"
          onClick={() => set(solo(run, job.job, state.jobs))}
        />
        <Switch
          of={job.name}
          label="Subtract its traffic; its routers stay visible"
          on={mode === 'subtracted'}
          text="−"
          onClick={() => set(toggleMode(state.jobs, job.job, 'subtracted'))}
        />
      </span>
      <span class="job-facts">
        {counted(job.nodes, 'node')}, {counted(job.routers, 'router')}
        {traffic === null ? '' : `, ${quantity(traffic, measure.unit)} on all links`}
        {slowdown(job)}
      </span>
    </li>
  )
}

interface SwitchProps {
  readonly label: string
  readonly text: string
  readonly of: string
  readonly on: boolean
  onClick(): void
}

function Switch({ label, text, of, on, onClick }: SwitchProps) {
  const name = text === '−' ? 'subtract' : text
  return (
    <button class="switch" aria-pressed={on} title={label} aria-label={`${name} ${of}`} onClick={onClick}>
      {text}
    </button>
  )
}

function Marks() {
  return (
    <div class="looks">
      <span>
        <i class="swatch round" style={{ background: 'var(--idle)' }} /> idle router
      </span>
      <span>
        <i class="swatch round ring" style={{ borderColor: 'var(--ink)' }} /> several jobs
      </span>
    </div>
  )
}

function slowdown({ figures }: Job): string {
  const found = figures.find(({ id }) => id === 'slowdown')
  return found ? `, slowdown ${digits(found.value)}` : ''
}

export function details(job: Job): string {
  const figures = job.figures.map(({ label, unit, value }) => `${label}: ${quantity(value, unit, 4)}`)
  return [job.name, `pattern ${job.pattern}, placement ${job.placement}`, ...figures].join('\n')
}
