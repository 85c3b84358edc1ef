/** The compared runs on one scale, and their difference. */
import type { DerivedRun, RunModel, SharedRange } from '../../data/model'
import { concatSorted } from '../../data/stats'
import type { Difference } from '../../data/difference'
import { comparedIds, type ViewState } from '../../data/state'
import type { Session } from './session'

export interface Comparison {
  readonly ids: readonly number[]
  /** Base first. */
  readonly runs: readonly DerivedRun[]
  /** Runs of the histograms; for a difference, its two runs. */
  readonly pair: readonly DerivedRun[]
  readonly change: {
    readonly derived: DerivedRun
    readonly difference: Difference
    readonly cableValues: Float64Array
  } | null
  /** The run shown and controlled by the left panels. */
  readonly lead: DerivedRun
}

let shared: { parts: readonly Float64Array[]; range: SharedRange } | undefined

/** Null until all runs are loaded. */
export function comparison(session: Session, state: ViewState): Comparison | null {
  const ids = comparedIds(state, session.index.runs.length)
  const models = ids.map((id) => session.model(id)).filter((model): model is RunModel => model !== undefined)
  if (models.length < ids.length) return null
  const parts = models.map((model) => model.visible(state))
  if (!shared || parts.length !== shared.parts.length || parts.some((part, i) => part !== shared!.parts[i]))
    shared = { parts, range: { sorted: concatSorted(parts) } }
  const range = shared.range
  const runs = models.map((model) => model.derive(state, range))
  if (!state.difference) return { ids, runs, pair: runs, change: null, lead: runs[0]! }
  const model = session.differenceOf(models[0]!, models[1]!, state.pairing)
  // A difference has its own range: a traffic range would make no sense for it, and vice versa.
  const derived = model.derive(state)
  const change = { derived, difference: model.difference, cableValues: model.cableValues(state) }
  return { ids, runs, pair: runs.slice(0, 2), change, lead: derived }
}
