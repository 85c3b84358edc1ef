/** Link values for the current measure and jobs. */
import type { JobMode } from './state'
import type { Links, LinkJobs, Measure } from './run'

/** Whether a job's traffic counts, by job number. */
export function countedJobs(jobs: number, modes: Readonly<Record<number, JobMode>>): Uint8Array {
  return Uint8Array.from({ length: jobs }, (_, job) => (modes[job] === undefined ? 1 : 0))
}

/**
 * Value of each link from the counted jobs.
 *
 * With all jobs counted it is the engine's total, which includes traffic not attributed to any job.
 */
export function linkValues(
  measure: Measure,
  links: Pick<Links, 'count'>,
  linkJobs: LinkJobs,
  counted: Uint8Array,
): Float64Array {
  const { perJob } = measure
  if (perJob === null || counted.every((on) => on === 1)) return measure.total
  const { offsets, job } = linkJobs
  const values = new Float64Array(links.count)
  for (let l = 0; l < links.count; l++) {
    let sum = 0
    for (let i = offsets[l]!, end = offsets[l + 1]!; i < end; i++)
      if (counted[job[i]!] === 1) sum += perJob[i]!
    values[l] = sum
  }
  return values
}

interface JobShare {
  readonly job: number
  readonly value: number
}

/** Counted jobs on a link, largest first. */
export function jobsOnLink(
  measure: Measure,
  linkJobs: LinkJobs,
  counted: Uint8Array,
  link: number,
): JobShare[] {
  if (measure.perJob === null) return []
  const shares: JobShare[] = []
  for (let i = linkJobs.offsets[link]!; i < linkJobs.offsets[link + 1]!; i++) {
    const job = linkJobs.job[i]!
    if (counted[job] === 1) shares.push({ job, value: measure.perJob[i]! })
  }
  return shares.sort((a, b) => Math.abs(b.value) - Math.abs(a.value) || a.job - b.job)
}
