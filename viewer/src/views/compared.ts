/** Which runs are compared, on one scale, and what their difference is. */
import type { Derived, RunModel, SharedRange } from '../data/model'
import { concatSorted } from '../data/stats'
import type { Difference } from '../data/difference'
import { comparedIds, type ViewState } from '../data/state'
import type { Session } from './session'

export interface Compared {
  readonly ids: readonly number[]
  /** The base first, on one scale. */
  readonly runs: readonly Derived[]
  /** Those whose distributions stand on one axis: of a difference its two. */
  readonly pair: readonly Derived[]
  readonly change: {
    readonly derived: Derived
    readonly difference: Difference
    readonly cableValues: Float64Array
  } | null
  /** What the panels at the left show and control. */
  readonly lead: Derived
}

let shared: { parts: readonly Float64Array[]; range: SharedRange } | undefined

/** Null until all compared runs have been loaded. */
export function comparison(session: Session, state: ViewState): Compared | null {
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
  // A difference has a range of its own: a brush or a frozen range of values would mean nothing on it, and the other way round.
  const derived = model.derive(state)
  const change = { derived, difference: model.difference, cableValues: model.cableValues(state) }
  return { ids, runs, pair: runs.slice(0, 2), change, lead: derived }
}
