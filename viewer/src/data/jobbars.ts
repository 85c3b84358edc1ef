/** Jobs as bars, longest first: by time, or by what else the run knows of them. */
import type { Unit } from '../base/format'
import type { DerivedRun } from './model'
import { jobNumbers, type Figure, type Job } from './run'

export interface JobBar {
  readonly job: Job
  readonly value: number
  /** The same without other jobs. */
  readonly alone?: number
}

export interface JobBars {
  readonly label: string
  readonly unit: Unit
  /** Whether the values are times of jobs, which a bottleneck explains. */
  readonly isTimed: boolean
  /** The largest value, also of the jobs alone. */
  readonly most: number
  readonly bars: readonly JobBar[]
}

const TIME_ALONE = 'completion_time_alone_s'
const LATENCY = 'latency_mean_ns'

const figureOf = ({ figures }: Job, is: (figure: Figure) => boolean): Figure | undefined => figures.find(is)

/** Null without jobs. */
export function jobBars(d: Pick<DerivedRun, 'run' | 'measure'>): JobBars | null {
  const { jobs } = d.run
  for (const is of [({ role }: Figure) => role === 'job-time', ({ id }: Figure) => id === LATENCY]) {
    const named = jobs.map((job) => figureOf(job, is)).find((figure) => figure !== undefined)
    if (!named) continue
    const bars = jobs.map((job): JobBar => {
      const alone = figureOf(job, ({ id }) => id === TIME_ALONE)?.value
      // A job that did not end has no time.
      const value = figureOf(job, is)?.value ?? NaN
      return { job, value, ...(alone !== undefined && named.role === 'job-time' && { alone }) }
    })
    return ordered(named.label, named.unit, named.role === 'job-time', bars)
  }
  const totals = jobTotals(d)
  if (jobs.length === 0 || !totals) return null
  const bars = jobs.map((job) => ({ job, value: totals[job.job]! }))
  return ordered(`${d.measure.label} on all links`, d.measure.unit, false, bars)
}

function ordered(label: string, unit: Unit, isTimed: boolean, bars: JobBar[]): JobBars {
  const size = ({ value }: JobBar): number => (Number.isNaN(value) ? -1 : value)
  bars.sort((a, b) => size(b) - size(a) || a.job.job - b.job.job)
  const most = bars.reduce((all, { value, alone = 0 }) => Math.max(all, value || 0, alone), 0)
  return { label, unit, isTimed, most, bars }
}

/** Total over all links by job; null if the measure is not attributed to jobs. */
export function jobTotals({ run, measure }: Pick<DerivedRun, 'run' | 'measure'>): Float64Array | null {
  if (measure.perJob === null) return null
  const totals = new Float64Array(jobNumbers(run))
  const { job } = run.linkJobs
  for (let i = 0; i < job.length; i++) totals[job[i]!]! += measure.perJob[i]!
  return totals
}
