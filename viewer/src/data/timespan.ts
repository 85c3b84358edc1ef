/** The visible part of the time. */
import { stepOf } from './series'

/** First time, and end of the last interval. */
export type TimeSpan = readonly [number, number]

function spanOf(times: Float64Array): TimeSpan {
  const first = times[0] ?? 0
  return [first, (times[times.length - 1] ?? 1) + stepOf(times)]
}

/** One axis over all tables. */
export function timeSpan(times: readonly Float64Array[]): TimeSpan {
  const spans = times.filter((all) => all.length > 0).map(spanOf)
  if (spans.length === 0) return [0, 1]
  return [Math.min(...spans.map(([first]) => first)), Math.max(...spans.map(([, last]) => last))]
}

/** The visible part of the time axis, clamped to the full span. */
export function clampSpan(part: TimeSpan | null, full: TimeSpan): TimeSpan {
  if (part === null) return full
  const [from, until] = [Math.max(full[0], part[0]), Math.min(full[1], part[1])]
  return until > from ? [from, until] : full
}

/** Zooms around the cursor or shifts by a share of the visible part; null for the full span. */
export function moveSpan(
  part: TimeSpan | null,
  full: TimeSpan,
  factor: number,
  shift: number,
  at: number,
): TimeSpan | null {
  const [from, until] = clampSpan(part, full)
  const centre = at > from && at < until ? at : (from + until) / 2
  const length = Math.min(full[1] - full[0], (until - from) * factor)
  if (length >= full[1] - full[0]) return null
  const start = centre - ((centre - from) / (until - from)) * length + shift * length
  const begin = Math.max(full[0], Math.min(full[1] - length, start))
  return [Math.round(begin), Math.round(begin + length)]
}
