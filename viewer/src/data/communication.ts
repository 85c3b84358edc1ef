/**
 * Communication of all jobs of a run, next to the jobs of the same name in another run, such as before and
 * after a redistribution.
 */
import type { Block } from './block'
import { communicationMatrix, type Communication } from './placement'
import { jobNamed, type Job, type Run } from './run'
import type { RunInfo } from './source'

export const COMMUNICATION_TABLE = 'communication'

export const hasCommunication = (info: RunInfo): boolean => (info.tables[COMMUNICATION_TABLE]?.rows ?? 0) > 0

export interface JobCommunication {
  readonly run: Run
  readonly job: Job
  readonly map: Communication
}

export interface CommunicationPair {
  readonly here: JobCommunication
  /** The other run's job; null without another run or job of this name. */
  readonly there: JobCommunication | null
}

interface RunCommunication {
  readonly run: Run
  /** Its table `communication`. */
  readonly table: Block
}

const communicationOf = ({ run, table }: RunCommunication, job: Job): JobCommunication => ({
  run,
  job,
  map: communicationMatrix(table, job.job, job.ranks),
})

/** Jobs in run order. If the other run repeats a name, the first is used. */
export function communicationPairs(
  here: RunCommunication,
  there: RunCommunication | null,
  shown: (job: number) => boolean,
): CommunicationPair[] {
  return here.run.jobs
    .filter(({ job }) => shown(job))
    .map((job) => {
      const same = there && jobNamed(there.run, job.name)
      return { here: communicationOf(here, job), there: there && same ? communicationOf(there, same) : null }
    })
}

/** Total bytes or messages. */
export const sumOf = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0)
