/** One job: figures, ranks on the machine, and communication. */
import { useEffect, useMemo } from 'preact/hooks'
import { count, quantity } from '../../base/format'
import { jobTitle } from '../../data/describe'
import type { DerivedRun, RunModel } from '../../data/model'
import { COMMUNICATION, communicationMatrix, PLACEMENT, placementDensity } from '../../data/placement'
import type { Job, Run } from '../../data/run'
import type { ViewState } from '../../data/state'
import { DensityView } from '../canvas/density'
import { PictureView } from '../picture/picture'
import type { ViewContent } from '../session/viewcontent'
import { useSession, useStore, useTable } from '../session/session'
import { hasCommunication } from '../../data/communication'
import { span, CommunicationMap, CommunicationMatrices } from './communication'
import './jobs.css'

const GRID = 256

/** The job of the page: the one in focus, or the first. */
const shownJob = (jobs: Run['jobs'], focus: string): Job | undefined =>
  jobs.find(({ job }) => focus === `job:${job}`) ?? jobs[0]

/** A job counts alone: the modes of all jobs. */
const alone = new WeakMap<Job, ViewState['jobs']>()

/** The run with the traffic of the page's job only. */
export function ofJob(model: RunModel, state: ViewState): DerivedRun {
  const { jobs } = model.run
  const shown = state.matrices === 'all' ? undefined : shownJob(jobs, state.focus)
  if (!shown || jobs.length < 2) return model.derive(state)
  let modes = alone.get(shown)
  if (!modes) {
    modes = Object.fromEntries(jobs.flatMap(({ job }) => (job === shown.job ? [] : [[job, 'subtracted']])))
    alone.set(shown, modes)
  }
  return model.derive({ ...state, jobs: modes })
}

export function JobsView({ derived: d }: ViewContent) {
  const session = useSession()
  const { run } = d
  const all = useStore(session.state).matrices === 'all'
  const focused = run.jobs.find((job) => job.job === d.focus?.job)
  const job = focused ?? run.jobs[0]
  useEffect(() => {
    if (!focused && job) session.state.patch({ focus: `job:${job.job}` })
  }, [focused === undefined, run])
  if (!job)
    return (
      <div class="centre">
        <p class="hint centred">This run has no jobs.</p>
      </div>
    )
  return (
    <>
      <div class="centre">
        <nav class="pickers" aria-label="Job">
          {hasCommunication(run.info) && (run.jobs.length > 1 || session.index.runs.length > 1) && (
            <button
              aria-pressed={all}
              title="Communication matrices of all jobs side by side"
              onClick={() => session.state.patch({ matrices: all ? 'one' : 'all' })}
              data-test="all-matrices"
            >
              all matrices
            </button>
          )}
          {run.jobs.map((other) => (
            <button
              key={other.job}
              aria-pressed={other === job}
              onClick={() => session.state.patch({ focus: `job:${other.job}` })}
              data-test={`pick-job-${other.job}`}
            >
              <i class="swatch" style={{ background: other.color }} /> {other.name}
            </button>
          ))}
        </nav>
        {all && hasCommunication(run.info) ? (
          <CommunicationMatrices derived={d} />
        ) : (
          <>
            <PictureView derived={d} title={jobTitle(d, job)} compact />
            <Figures job={job} />
          </>
        )}
      </div>
      <aside class="right" aria-label="Ranks">
        <Placement derived={d} job={job} />
        {hasCommunication(run.info) && <Communication derived={d} job={job} />}
      </aside>
    </>
  )
}

/** A cycle is priced by its levels: its jobs have no messages of their own, so none are listed as 0. */
function sentFigures({ figures }: Job): Job['figures'] {
  const isSilent = figures.some(({ id, value }) => id === 'messages' && value === 0)
  return isSilent ? figures.filter(({ id }) => !/(^messages|bytes)$/.test(id)) : figures
}

function Figures({ job }: { job: Job }) {
  return (
    <section class="card figures" aria-label="Figures">
      <dl>
        <dt>Pattern</dt>
        <dd>{job.pattern}</dd>
        <dt>Placement</dt>
        <dd>{job.placement}</dd>
        {sentFigures(job).map(({ id, label, unit, meaning, value }) => (
          <>
            <dt title={meaning}>{label}</dt>
            <dd data-test={`figure-${id}`}>{quantity(value, unit)}</dd>
          </>
        ))}
      </dl>
    </section>
  )
}

function Placement({ derived: d, job }: { derived: DerivedRun; job: Job }) {
  const table = useTable(d.run, 'placement', PLACEMENT)
  const map = useMemo(
    () => (typeof table === 'string' ? null : placementDensity(d.run, table, job.job, GRID, GRID)),
    [table, job, d.run],
  )
  return (
    <section class="card density">
      <h2>Ranks on routers</h2>
      {map === null ? (
        <p class="hint">{table}</p>
      ) : (
        <>
          <DensityView
            map={map}
            describe={(column, row, value) => ({
              title: `${span('Rank', column, map.perColumn, job.ranks)} on ${span('router', row, map.perRow, d.run.routers.count)}`,
              rows: [['Ranks', count(value)]],
            })}
            run={d.run}
            unit="count"
            across={['rank 0 →', count(job.ranks - 1)]}
            down={`router 0 to ${count(d.run.routers.count - 1)} ↓`}
            label="Ranks on routers"
            test="placement-map"
          />
          <p class="reading">
            Cell: {map.perColumn > 1 ? `${count(map.perColumn)} ranks` : 'one rank'} by{' '}
            {map.perRow > 1 ? `${count(map.perRow)} routers` : 'one router'}.
          </p>
        </>
      )}
    </section>
  )
}

/** Whether a job has open traffic: it sends for as long as the run lasts. */
const isOpen = (job: Job): boolean =>
  job.figures.some(({ id, value }) => id === 'offered_load' && Number.isFinite(value))

function Communication({ derived: d, job }: { derived: DerivedRun; job: Job }) {
  const table = useTable(d.run, 'communication', COMMUNICATION)
  const map = useMemo(
    () => (typeof table === 'string' ? null : communicationMatrix(table, job.job, job.ranks)),
    [table, job],
  )
  const total = useMemo(() => map?.values.reduce((sum, v) => sum + v, 0) ?? 0, [map])
  return (
    <section class="card density" aria-label="Communication">
      <h2>Communication matrix</h2>
      {map === null ? (
        <p class="hint">{table}</p>
      ) : (
        <>
          <CommunicationMap
            run={d.run}
            job={job}
            map={map}
            label="Communication matrix"
            test="communication-map"
          />
          <p class="reading" data-test="communication-reading">
            {count(map.rows)} × {count(map.columns)} cells
            {map.perColumn > 1
              ? ` of ${count(map.perRow)} × ${count(map.perColumn)} ranks`
              : ', one per pair of ranks'}
            ; {quantity(total, 'bytes')} of payload
            {isOpen(job)
              ? ' in the pattern, from which open traffic draws its receivers during the whole run.'
              : ' requested in total.'}
          </p>
        </>
      )}
    </section>
  )
}
