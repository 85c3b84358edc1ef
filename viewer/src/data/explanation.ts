/** The busiest links of each job, as `odonata explain` reports them. */
import { jobNamed, type Job, type Run } from './run'

/** A link or NIC that carries bytes of the job. */
export interface Bottleneck {
  readonly name: string
  readonly class: string
  /** Null for a NIC. */
  readonly link: number | null
  /** Busy time while the job runs. */
  readonly busy_s: number
  /** Share of the job's time. */
  readonly share: number
}

/** A job that shares the bottleneck. */
interface Sharer {
  readonly name: string
  readonly busy_s: number
  readonly share: number
}

/** The job's time after one edit of the machine, from a run. */
export interface MachineChange {
  /** As in `machine.edit`. */
  readonly change: string
  /** Null if the machine cannot be changed so, or the job did not end. */
  readonly time_s: number | null
  /** Relative to the time in this run. */
  readonly difference: number | null
  readonly reason: string | null
}

/** A term of the slowest rank's time (model engine). */
interface Term {
  readonly term: string
  readonly meaning: string
  readonly term_time_s: number
  readonly share: number
}

export interface JobExplanation {
  readonly job: number
  readonly name: string
  /** Null if the job did not end, or has open traffic. */
  readonly time_s: number | null
  /** A sentence about open traffic: loads and latency. Links are busy in the measurement. */
  readonly open_traffic: string | null
  readonly bottlenecks: readonly Bottleneck[] | null
  /** Jobs that share the first bottleneck. */
  readonly sharers: readonly Sharer[] | null
  readonly terms: readonly Term[] | null
  readonly slowest_rank: number | null
}

export interface Explanation {
  readonly jobs: readonly JobExplanation[]
}

/** `g0r2n1 out`, the name of a NIC in tables, as text. */
export const nicName = (node: string, direction: string): string =>
  `${direction === 'in' ? 'ejection' : 'injection'} port of node ${node}`

/** Displayed name of a link or NIC. */
export const placeName = ({ name, link }: Pick<Bottleneck, 'name' | 'link'>): string => {
  const [, node, direction] = /^(.+) (in|out)$/.exec(name) ?? []
  return link === null && node !== undefined ? nicName(node, direction!) : name
}

/** Focus text of a link or NIC. */
export const focusOf = ({ name, link }: Pick<Bottleneck, 'name' | 'link'>): string =>
  link === null ? `node:${placeName({ name, link }).replace(/^.* port of node /, '')}` : `link:${name}`

/**
 * Jobs of a run with their explanations in several runs, paired by name; null if a run lacks the job. Sorted
 * by the time in the last run, longest first.
 */
export function explainedJobs(
  run: Run,
  explanations: readonly Explanation[],
): { job: Job; explanations: (JobExplanation | null)[] }[] {
  const found = run.jobs.map((job) => ({
    job,
    explanations: explanations.map((found) => jobNamed(found, job.name)),
  }))
  const time = ({ explanations }: { explanations: (JobExplanation | null)[] }): number =>
    explanations.at(-1)?.time_s ?? -1
  return found.sort((a, b) => time(b) - time(a) || a.job.job - b.job.job)
}

/** The competing job with most bytes on the first bottleneck. */
export const largestCompetitor = ({ name, sharers }: JobExplanation): Sharer | undefined =>
  sharers?.find((sharer) => sharer.name !== name)

/** The job's own share of the bottleneck's busy time; 0 if it is not listed. */
export const ownShare = ({ name, sharers }: JobExplanation): number =>
  sharers?.find((sharer) => sharer.name === name)?.share ?? 0
