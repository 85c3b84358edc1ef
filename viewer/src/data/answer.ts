/**
 * What a comparison comes to: which job takes longer, what binds it, and whose traffic grew there.
 *
 * What binds a job is what `odonata explain` finds, the link or interface that is busy longest while it runs. Of jobs without a time it is
 * what is occupied longest of all that carries bytes of the job: B bytes of all jobs over a capacity C are B/C.
 */
import { translation } from './focus'
import { linkName, type Figure, type Job, type Run } from './run'
import { jobsOnLink } from './values'
import type { Bottleneck, Why } from './why'

/** What says how long a job takes, the first that both runs have: a program's end, its messages' end, one packet's way. */
export const TIME_FIGURES = ['execution_ns', 'time_s', 'latency_mean_ns'] as const

/** The link or interface that is occupied longest of all that a job uses. */
export interface Busiest {
  readonly name: string
  /** What to narrow the view to. */
  readonly focus: string
  /** Number of the link or node. */
  readonly number: number
  readonly bytes: number
  /** NaN where the capacity is not known. */
  readonly occupied_s: number
}

/** A job's bytes on a link, in both runs. */
export interface Growth {
  readonly name: string
  readonly color: string
  readonly before: number
  readonly after: number
}

export type Binding = Bottleneck & { readonly decides: boolean }

/** Null where a job has no byte on any. */
export interface Sides {
  readonly before: Busiest | null
  readonly after: Busiest | null
}

export interface JobAnswer {
  readonly job: Job
  /** Null where the runs have no common figure of time. */
  readonly figure:
    (Pick<Figure, 'label' | 'unit'> & { readonly before: number; readonly after: number }) | null
  /** `figure` after over before; 1 where there is none. */
  readonly ratio: number
  /** What is busy longest while the job runs, in both runs; null where one of them cannot say it. */
  readonly binds: { readonly before: Binding; readonly after: Binding } | null
  readonly link: Sides
  readonly interface: Sides
  /** Bytes of each job on the link of the other run that binds it, or is its busiest, the largest growth first. */
  readonly grown: readonly Growth[]
  /** Whether the base has that link. */
  readonly known: boolean
}

/** Whether the job waits longer for an interface than for any link. */
export const atInterface = ({ link, interface: own }: JobAnswer): boolean =>
  (own.after?.occupied_s ?? 0) > (link.after?.occupied_s ?? 0)

/** One per job of both runs, paired by name; the one that became slowest first. `whys`: of the base and of the other. */
export function answer(base: Run, other: Run, whys?: readonly Why[]): JobAnswer[] {
  const links = [base, other].map(busiestLinks)
  const interfaces = [base, other].map(busiestInterfaces)
  const answers = base.jobs.flatMap((job): JobAnswer[] => {
    const twin = other.jobs.find(({ name }) => name === job.name)
    if (!twin) return []
    const sides = ([before, after]: Map<number, Busiest>[]): Sides => ({
      before: before!.get(job.job) ?? null,
      after: after!.get(twin.job) ?? null,
    })
    const figure = timeOf(job, twin)
    const link = sides(links)
    const binds = bindings(job.name, whys)
    // An interface carries bytes of one job alone.
    const number = binds ? binds.after.link : (link.after?.number ?? null)
    const here = number === null ? -1 : translation(other, base).link(number)
    return [
      {
        job,
        figure,
        ratio: figure && figure.before > 0 ? figure.after / figure.before : 1,
        binds,
        link,
        interface: sides(interfaces),
        grown: number === null ? [] : growthOn(base, here, other, number),
        known: here >= 0,
      },
    ]
  })
  const load = ({ link }: JobAnswer): number => link.after?.occupied_s || 0
  return answers.sort((a, b) => b.ratio - a.ratio || load(b) - load(a) || a.job.job - b.job.job)
}

function bindings(name: string, whys: readonly Why[] | undefined): JobAnswer['binds'] {
  const [before, after] = (whys ?? []).map(({ jobs }): Binding | null => {
    const why = jobs.find((job) => job.name === name)
    const first = why?.bottlenecks?.[0]
    return why && first && first.busy_s > 0 ? { ...first, decides: why.decides } : null
  })
  return before && after ? { before, after } : null
}

function timeOf(job: Job, twin: Job): JobAnswer['figure'] {
  for (const id of TIME_FIGURES) {
    const [before, after] = [job, twin].map(({ figures }) => figures.find((figure) => figure.id === id))
    if (before && after && Number.isFinite(before.value) && Number.isFinite(after.value))
      return { label: before.label, unit: before.unit, before: before.value, after: after.value }
  }
  return null
}

const bytesOf = (run: Run) => run.measures.find(({ id }) => id === 'bytes')

class Most {
  readonly byJob = new Map<number, Busiest>()

  consider(job: number, number: number, bytes: number, capacity: number, name: () => [string, string]): void {
    if (!(bytes > 0)) return
    const occupied = capacity > 0 ? bytes / capacity : NaN
    const most = this.byJob.get(job)
    const longer = most && (capacity > 0 ? occupied > most.occupied_s : bytes > most.bytes)
    if (most && !longer) return
    const [text, focus] = name()
    this.byJob.set(job, { name: text, focus, number, bytes, occupied_s: occupied })
  }
}

/** By job number, of the links that carry any byte of the job; all bytes on a link count, whoever's they are. */
function busiestLinks(run: Run): Map<number, Busiest> {
  const most = new Most()
  const bytes = bytesOf(run)
  if (!bytes?.perJob) return most.byJob
  const { offsets, job } = run.linkJobs
  for (let l = 0; l < run.links.count; l++)
    for (let i = offsets[l]!; i < offsets[l + 1]!; i++)
      if (bytes.perJob[i]! > 0)
        most.consider(job[i]!, l, bytes.total[l]!, run.links.capacity[l]!, () => {
          const name = linkName(run, l)
          return [name, `link:${name}`]
        })
  return most.byJob
}

/** By job number, of the nodes that run no other job. */
function busiestInterfaces({ nodes }: Run): Map<number, Busiest> {
  const most = new Most()
  for (let n = 0; n < nodes.count; n++) {
    if (nodes.job[n]! < 0 || !(nodes.capacity[n]! > 0)) continue
    const [into, out] = [nodes.bytesIn[n]!, nodes.bytesOut[n]!]
    most.consider(nodes.job[n]!, n, Math.max(into, out), nodes.capacity[n]!, () => [
      `${nodes.names.at(n)} (${into > out ? 'in' : 'out'})`,
      `node:${nodes.names.at(n)}`,
    ])
  }
  return most.byJob
}

function growthOn(base: Run, before: number, other: Run, after: number): Growth[] {
  const on = (run: Run, link: number): Map<string, number> => {
    const bytes = bytesOf(run)
    const all = new Uint8Array(run.jobs.reduce((n, { job }) => Math.max(n, job + 1), 0)).fill(1)
    const shares = bytes && link >= 0 ? jobsOnLink(bytes, run.linkJobs, all, link) : []
    return new Map(shares.map(({ job, value }) => [run.jobs.find((j) => j.job === job)?.name ?? '', value]))
  }
  const [was, is] = [on(base, before), on(other, after)]
  return [...other.jobs]
    .map(({ name, color }) => ({ name, color, before: was.get(name) ?? 0, after: is.get(name) ?? 0 }))
    .filter((growth) => growth.before > 0 || growth.after > 0)
    .sort((a, b) => b.after - b.before - (a.after - a.before))
}
