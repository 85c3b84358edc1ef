/** What binds each job of a run: what `odonata explain` finds in the tables, as the server or the page has it. */
import type { Job, Run } from './run'

/** A link or an interface that passes bytes of a job. */
export interface Bottleneck {
  readonly name: string
  readonly class: string
  /** Null of an interface. */
  readonly link: number | null
  /** How long it is busy while the job runs. */
  readonly busy_s: number
  /** Of the job's time. */
  readonly share: number
}

/** A job whose bytes pass there, too. */
export interface Sharer {
  readonly name: string
  readonly busy_s: number
  readonly share: number
}

/** What the job's time would change by with the links of a class; null where it cannot be said. */
export interface Sensitivity {
  readonly class: string
  readonly slower: number | null
  readonly faster: number | null
  readonly cable_more: number | null
  readonly cable_less: number | null
}

/** Of the model engine: a term of the slowest rank's time. */
export interface Term {
  readonly term: string
  readonly meaning: string
  readonly time_s: number
  readonly share: number
}

export interface JobWhy {
  readonly job: number
  readonly name: string
  /** Null where it has no end. */
  readonly time_s: number | null
  /** Whether the first of the bottlenecks is busy for nearly all of the time. */
  readonly decides: boolean
  readonly bottlenecks: readonly Bottleneck[] | null
  /** Of the first of them. */
  readonly sharers: readonly Sharer[] | null
  readonly sensitivity: readonly Sensitivity[] | null
  readonly terms: readonly Term[] | null
  readonly slowest_rank: number | null
}

export interface Why {
  readonly jobs: readonly JobWhy[]
}

/** What narrows the view to a link or an interface. */
export const focusOf = ({ name, link }: Pick<Bottleneck, 'name' | 'link'>): string =>
  link === null ? `node:${name.replace(/ (in|out)$/, '')}` : `link:${name}`

/**
 * The jobs of a run with what binds them in it and in others, found by name: null where another has no such job. The longest in the last
 * of the runs comes first, those without a time there last.
 */
export function reasons(run: Run, whys: readonly Why[]): { job: Job; whys: (JobWhy | null)[] }[] {
  const found = run.jobs.map((job) => ({
    job,
    whys: whys.map(({ jobs }) => jobs.find(({ name }) => name === job.name) ?? null),
  }))
  const time = ({ whys }: { whys: (JobWhy | null)[] }): number => whys.at(-1)?.time_s ?? -1
  return found.sort((a, b) => time(b) - time(a) || a.job.job - b.job.job)
}

/** The other job with most bytes at the first bottleneck. */
export const mostOfTheRest = ({ name, sharers }: JobWhy): Sharer | undefined =>
  sharers?.find((sharer) => sharer.name !== name)

/** The share of the first bottleneck's time that is the job's own; 0 where it is not among the sharers. */
export const ownShare = ({ name, sharers }: JobWhy): number =>
  sharers?.find((sharer) => sharer.name === name)?.share ?? 0
