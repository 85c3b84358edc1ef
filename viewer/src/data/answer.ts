/**
 * The result of a comparison: which job slows down, its bottleneck, and which jobs send more over it.
 *
 * The bottleneck is the one that `odonata explain` reports: the link or NIC that is busy longest while the
 * job runs. For a job without a time, it is the longest occupied of all that carry its bytes: B bytes of all
 * jobs over capacity C occupy B/C.
 */
import { translation } from './focus'
import { jobName, jobNamed, jobNumbers, linkName, type Figure, type Job, type Run } from './run'
import { jobsOnLink } from './values'
import { nicName, type Bottleneck, type Explanation } from './explanation'

/** Role of the columns that hold the time of a job. */
const JOB_TIME = 'job-time'
/** Used if a run has no job time. */
const LATENCY = 'latency_mean_ns'

/** The link or NIC that is occupied longest, of all that a job uses. */
export interface BusiestResource {
  readonly name: string
  /** Focus text of this link or node. */
  readonly focus: string
  /** Link or node number. */
  readonly number: number
  readonly bytes: number
  /** NaN if the capacity is unknown. */
  readonly occupied_s: number
}

/** A job's bytes on one link in both runs. */
interface TrafficChange {
  readonly name: string
  readonly color: string
  readonly before: number
  readonly after: number
}

/** Null if the job sends no bytes over any. */
export interface BeforeAfter {
  readonly before: BusiestResource | null
  readonly after: BusiestResource | null
}

export interface JobAnswer {
  readonly job: Job
  /** Null if the runs share no time column. */
  readonly figure:
    (Pick<Figure, 'label' | 'unit'> & { readonly before: number; readonly after: number }) | null
  /** `figure` after / before; 1 without a figure. */
  readonly ratio: number
  /** The bottleneck in both runs; null if one of them does not report it. */
  readonly bottleneck: { readonly before: Bottleneck; readonly after: Bottleneck } | null
  readonly link: BeforeAfter
  readonly nic: BeforeAfter
  /** Bytes of each job on the bottleneck (or busiest link) of the other run, largest growth first. */
  readonly trafficChanges: readonly TrafficChange[]
  /** Whether the base has that link. */
  readonly isInBase: boolean
}

/** Whether the NIC is occupied longer than any link. */
export const isLimitedByNic = ({ link, nic: own }: JobAnswer): boolean =>
  (own.after?.occupied_s ?? 0) > (link.after?.occupied_s ?? 0)

/**
 * One entry per job of both runs, paired by name, largest slowdown first. `explanations`: of the base, then
 * of the other run.
 */
export function answer(base: Run, other: Run, explanations?: readonly Explanation[]): JobAnswer[] {
  const links = [base, other].map(busiestLinks)
  const nics = [base, other].map(busiestNics)
  const answers = base.jobs.flatMap((job): JobAnswer[] => {
    const twin = jobNamed(other, job.name)
    if (!twin) return []
    const sides = ([before, after]: Map<number, BusiestResource>[]): BeforeAfter => ({
      before: before!.get(job.job) ?? null,
      after: after!.get(twin.job) ?? null,
    })
    const figure = timeOf(job, twin)
    const link = sides(links)
    const bottleneck = bottlenecksOf(job.name, explanations)
    // A NIC carries bytes of one job only.
    const number = bottleneck ? bottleneck.after.link : (link.after?.number ?? null)
    const here = number === null ? -1 : translation(other, base).link(number)
    return [
      {
        job,
        figure,
        ratio: figure && figure.before > 0 ? figure.after / figure.before : 1,
        bottleneck,
        link,
        nic: sides(nics),
        trafficChanges: number === null ? [] : trafficChangesOn(base, here, other, number),
        isInBase: here >= 0,
      },
    ]
  })
  const load = ({ link }: JobAnswer): number => link.after?.occupied_s || 0
  return answers.sort((a, b) => b.ratio - a.ratio || load(b) - load(a) || a.job.job - b.job.job)
}

function bottlenecksOf(
  name: string,
  explanations: readonly Explanation[] | undefined,
): JobAnswer['bottleneck'] {
  const [before, after] = (explanations ?? []).map((found): Bottleneck | null => {
    const first = jobNamed(found, name)?.bottlenecks?.[0]
    return first && first.busy_s > 0 ? first : null
  })
  return before && after ? { before, after } : null
}

function timeOf(job: Job, twin: Job): JobAnswer['figure'] {
  const times = ({ figures }: Job): Figure[] => figures.filter(({ role }) => role === JOB_TIME)
  const named = (id: string) => [job, twin].map(({ figures }) => figures.find((figure) => figure.id === id))
  // Preference: the last common job time, then the first time of each run, then the latency.
  const pairs = [
    ...times(job)
      .reverse()
      .map(({ id }) => named(id)),
    [times(job)[0], times(twin)[0]],
    named(LATENCY),
  ]
  for (const [before, after] of pairs) {
    if (before && after)
      return { label: before.label, unit: before.unit, before: before.value, after: after.value }
  }
  return null
}

const bytesOf = (run: Run) => run.measures.find(({ id }) => id === 'bytes')

class BusiestFinder {
  readonly byJob = new Map<number, BusiestResource>()

  consider(job: number, number: number, bytes: number, capacity: number, name: () => [string, string]): void {
    if (!(bytes > 0)) return
    const occupied = capacity > 0 ? bytes / capacity : NaN
    const largest = this.byJob.get(job)
    const longer = largest && (capacity > 0 ? occupied > largest.occupied_s : bytes > largest.bytes)
    if (largest && !longer) return
    const [text, focus] = name()
    this.byJob.set(job, { name: text, focus, number, bytes, occupied_s: occupied })
  }
}

/** The longest occupied link of each job. The bytes of all jobs on a link count. */
function busiestLinks(run: Run): Map<number, BusiestResource> {
  const largest = new BusiestFinder()
  const bytes = bytesOf(run)
  if (!bytes?.perJob) return largest.byJob
  const { offsets, job } = run.linkJobs
  for (let l = 0; l < run.links.count; l++)
    for (let i = offsets[l]!; i < offsets[l + 1]!; i++)
      if (bytes.perJob[i]! > 0)
        largest.consider(job[i]!, l, bytes.total[l]!, run.links.capacity[l]!, () => {
          const name = linkName(run, l)
          return [name, `link:${name}`]
        })
  return largest.byJob
}

/** The longest occupied NIC of each job; nodes shared by several jobs are skipped. */
function busiestNics({ nodes }: Run): Map<number, BusiestResource> {
  const largest = new BusiestFinder()
  for (let n = 0; n < nodes.count; n++) {
    if (nodes.job[n]! < 0 || !(nodes.capacity[n]! > 0)) continue
    const [into, out] = [nodes.ejectedBytes[n]!, nodes.injectedBytes[n]!]
    largest.consider(nodes.job[n]!, n, Math.max(into, out), nodes.capacity[n]!, () => [
      nicName(nodes.names.at(n), into > out ? 'in' : 'out'),
      `node:${nodes.names.at(n)}`,
    ])
  }
  return largest.byJob
}

function trafficChangesOn(base: Run, before: number, other: Run, after: number): TrafficChange[] {
  const on = (run: Run, link: number): Map<string, number> => {
    const bytes = bytesOf(run)
    const all = new Uint8Array(jobNumbers(run)).fill(1)
    const shares = bytes && link >= 0 ? jobsOnLink(bytes, run.linkJobs, all, link) : []
    return new Map(shares.map(({ job, value }) => [jobName(run, job), value]))
  }
  const [baseBytes, is] = [on(base, before), on(other, after)]
  return [...other.jobs]
    .map(({ name, color }) => ({ name, color, before: baseBytes.get(name) ?? 0, after: is.get(name) ?? 0 }))
    .filter((growth) => growth.before > 0 || growth.after > 0)
    .sort((a, b) => b.after - b.before - (a.after - a.before))
}
