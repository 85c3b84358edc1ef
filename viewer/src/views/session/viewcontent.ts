/** What a view shows. */
import type { DerivedRun } from '../../data/model'
import type { Comparison } from './comparison'

export interface ViewContent {
  /** The run controlled by the left column. */
  readonly derived: DerivedRun
  /** In the comparison, when its runs have arrived. */
  readonly compared?: Comparison | null
  /** In the time view, the machine at the chosen time if the series has links. */
  readonly moment?: DerivedRun | null
}
