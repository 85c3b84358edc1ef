/**
 * Layout of latency boxes: one row per job and part on a logarithmic axis. Pure geometry in pixels.
 *
 * Box: middle half, with the median line. Whiskers: 5 to 95 %. Tick: 99 %. Ring: maximum.
 */
import { count, quantity, shorten } from '../base/format'
import { BOX_PERCENTILES, partName, type Latencies, type LatencyBox } from '../data/latency'
import { valueAxis } from '../data/histogram'
import type { Label, Size } from './picture'

interface BoxMark {
  readonly box: number
  readonly y: number
  readonly height: number
  /** For `BOX_PERCENTILES`. */
  readonly at: readonly number[]
  readonly most: number
}

export interface BoxesPicture extends Size {
  readonly marks: readonly BoxMark[]
  readonly labels: readonly Label[]
  /** Vertical axis lines. */
  readonly ticks: readonly number[]
  readonly top: number
  readonly bottom: number
}

const ROW = 30
const BOX = 14
const TOP = 8
const AXIS = 26
const LETTER = 6.7
const TICK_MIN = 56
/** Room for the 99 % value next to the longest row. */
const RIGHT = 74

export function boxesPicture(
  { parts, boxes }: Latencies,
  nameOf: (job: number) => string,
  width: number,
): BoxesPicture {
  const names = boxes.map((box) => shorten(`${nameOf(box.job)}, ${partName(parts[box.part]!)}`, 34))
  const left = Math.min(width * 0.42, 16 + LETTER * Math.max(0, ...names.map((name) => name.length)))
  const length = Math.max(20, width - left - RIGHT)
  const low = Math.max(1, Math.min(...boxes.map(({ at }) => at[0]!)))
  const high = Math.max(low, ...boxes.map(({ most }) => most))
  const axis = valueAxis('log', low / 1.1, high * 1.1, low / 1.1)
  const x = (ps: number): number => left + axis.position(ps) * length
  const bottom = TOP + boxes.length * ROW
  const labels: Label[] = []
  const marks = boxes.map((box, i): BoxMark => {
    const y = TOP + i * ROW + (ROW - BOX) / 2
    labels.push({ x: left - 8, y: y + 11, text: names[i]!, anchor: 'end', size: 12 })
    labels.push({
      x: x(box.most) + 9,
      y: y + 11,
      text: quantity(box.at[5]!, 'ps'),
      anchor: 'start',
      size: 11,
    })
    return { box: i, y, height: BOX, at: box.at.map(x), most: x(box.most) }
  })
  const ticks = ticksBetween(axis.low, axis.high).map((value) => ({ value, at: x(value) }))
  for (const { value, at } of dropOverlaps(ticks))
    labels.push({ x: at, y: bottom + 16, text: quantity(value, 'ps'), anchor: 'middle', size: 11 })
  return { width, height: bottom + AXIS, marks, labels, ticks: ticks.map(({ at }) => at), top: TOP, bottom }
}

/** 1, 2 and 5 times powers of ten. */
function ticksBetween(low: number, high: number): number[] {
  const ticks: number[] = []
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10)
    ticks.push(...[1, 2, 5].map((lead) => lead * power).filter((value) => value >= low && value <= high))
  return ticks
}

/** Drops ticks whose names would overlap. */
function dropOverlaps<T extends { readonly at: number }>(ticks: readonly T[]): T[] {
  const kept: T[] = []
  for (const tick of ticks) if (kept.length === 0 || tick.at - kept.at(-1)!.at >= TICK_MIN) kept.push(tick)
  return kept
}

/** The row at a height, null for none. */
export function boxAt({ marks }: BoxesPicture, y: number): number | null {
  const found = marks.findIndex((mark) => y >= mark.y - 8 && y < mark.y + mark.height + 8)
  return found < 0 ? null : found
}

/** Tooltip of a box. */
export function boxTip(
  { parts }: Latencies,
  box: LatencyBox,
  nameOf: (job: number) => string,
): { title: string; rows: [string, string][] } {
  return {
    title: `${nameOf(box.job)}, ${partName(parts[box.part]!)}`,
    rows: [
      ['Packets', count(box.packets)],
      ...BOX_PERCENTILES.map((p, i): [string, string] => [`${p} %`, quantity(box.at[i]!, 'ps')]),
      ['Max', quantity(box.most, 'ps')],
    ],
  }
}
