/** Who sends to whom in all jobs of a run, and beside each in the job of its name in another run: as before and after a redistribution. */
import type { Block } from './block'
import { communicationMatrix, type Communication } from './placement'
import type { Job, Run } from './run'
import type { RunInfo } from './source'

export const TALKS = 'communication'

export const talks = (info: RunInfo): boolean => (info.tables[TALKS]?.rows ?? 0) > 0

export interface Talk {
  readonly run: Run
  readonly job: Job
  readonly map: Communication
}

export interface TalkPair {
  readonly here: Talk
  /** Of the other run; null without one, or where it has no job of this name. */
  readonly there: Talk | null
}

interface Told {
  readonly run: Run
  /** Its table of communication. */
  readonly table: Block
}

const talkOf = ({ run, table }: Told, job: Job): Talk => ({
  run,
  job,
  map: communicationMatrix(table, job.job, job.ranks),
})

/** Jobs in the order of the run; of several jobs of one name in the other run the first. */
export function talkPairs(here: Told, there: Told | null, shown: (job: number) => boolean): TalkPair[] {
  return here.run.jobs
    .filter(({ job }) => shown(job))
    .map((job) => {
      const same = there?.run.jobs.find(({ name }) => name === job.name)
      return { here: talkOf(here, job), there: there && same ? talkOf(there, same) : null }
    })
}

/** Bytes or messages of all cells. */
export const sumOf = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0)
