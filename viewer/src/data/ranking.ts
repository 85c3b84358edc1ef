/** The settings of a sweep from best to worst. Python ranks them; `odonata sweep` prints the same sentence. */
import type { Unit } from '../base/format'

/** Values over seeds, their mean and its 95 % interval; no interval for one or two values. */
export interface Spread {
  readonly values: readonly number[]
  readonly mean: number
  readonly low: number | null
  readonly high: number | null
}

export interface RankedSetting {
  readonly text: string
  /** Numbers of its runs. */
  readonly points: readonly number[]
  /** By job; null for a job without a value. */
  readonly jobs: readonly (Spread | null)[]
  /** Mean relative to the base, the first setting. */
  readonly score: number | null
}

export interface Ranking {
  readonly headline: string
  readonly label: string
  readonly unit: Unit
  readonly jobs: readonly string[]
  readonly rows: readonly RankedSetting[]
}

/** The common axis of a job's values: from zero, so that lengths can be compared. */
export const longestOf = ({ rows }: Ranking, job: number): number =>
  rows.reduce((most, row) => {
    const one = row.jobs[job]
    return one ? Math.max(most, one.high ?? 0, ...one.values) : most
  }, 0)

/** The base setting: the one of the first run. */
export const baseOf = ({ rows }: Ranking): RankedSetting =>
  rows.reduce((first, row) => (Math.min(...row.points) < Math.min(...first.points) ? row : first))
