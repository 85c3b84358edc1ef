/** The settings of an address without any. */
import { hasCosts } from './costs'
import { BALL, HOTTEST_FIRST } from './range'
import { hasTraffic, type Index, type RunInfo } from './source'
import type { ViewState } from './state'

/**
 * A study or sweep opens on its result, predicted costs without traffic on their terms. Of a large machine, the
 * picture shows only the hottest links, instead of a disc of arcs.
 */
export function firstPage({ runs, keys, findings }: Index): Partial<ViewState> {
  const isLarge = runs.some((run) => run.summary.machine.links > BALL && hasTraffic(run))
  const hottest = isLarge ? { hottest: HOTTEST_FIRST } : {}
  const [first] = runs
  if (findings) return { ...hottest, view: 'study' }
  if (runs.length > 2 && keys.some(({ unit }) => unit === 'none') && runs.every(isPoint))
    return { ...hottest, view: 'sweep' }
  return first && hasCosts(first) && !hasTraffic(first) ? { ...hottest, view: 'costs' } : hottest
}

/** Whether a run is a point of a sweep or search, or was added to one. */
const isPoint = ({ summary, added }: RunInfo): boolean => summary.sweep !== undefined || added === true
