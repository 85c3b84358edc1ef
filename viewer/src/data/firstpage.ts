/** The settings of an address without any. */
import { BALL, HOTTEST_FIRST } from './range'
import type { Index } from './source'
import type { ViewState } from './state'

/** Of a large machine only the hottest links, instead of a disc of arcs. */
export function firstPage({ runs }: Index): Partial<ViewState> {
  const isLarge = runs.some((run) => run.summary.machine.links > BALL)
  return isLarge ? { hottest: HOTTEST_FIRST } : {}
}
