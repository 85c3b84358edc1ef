/**
 * Layout of trials over two objectives with the Pareto front as steps. Everything above and right of the line
 * is dominated. Pure geometry in pixels.
 */
import { quantity, shorten } from '../base/format'
import { axisTicks, valueAxis } from '../data/histogram'
import { frontNames, frontOf, type FieldInfo, type Findings } from '../data/findings'
import type { Corners, Label, Size } from './picture'

export interface TrialMark {
  readonly entry: number
  readonly x: number
  readonly y: number
  readonly kind: 'front' | 'beaten' | 'refused' | 'first'
}

export interface FrontPicture extends Size {
  readonly marks: readonly TrialMark[]
  readonly steps: Corners
  readonly labels: readonly Label[]
  /** Axis lines: x, y to x, y. */
  readonly lines: readonly (readonly [number, number, number, number])[]
}

const PAD = { left: 96, right: 24, top: 22, bottom: 46 }

/** Margin around the values, as a share of their range. */
const AIR = 0.06

/** `across` and `up` are two objectives; with one objective, `across` is the trial number. */
export function frontPicture(
  findings: Findings,
  across: FieldInfo | null,
  up: FieldInfo,
  width: number,
  height: number,
): FrontPicture {
  const { points, front } = frontOf(findings)
  const { entries } = findings
  const [xs, ys] = [
    (i: number): number => (across ? entries[i]!.values[across.name]! : i),
    (i: number): number => entries[i]!.values[up.name]!,
  ]
  const x = axisOver(points.map(xs), PAD.left, width - PAD.right)
  const y = axisOver(points.map(ys), height - PAD.bottom, PAD.top)
  const labels: Label[] = [
    { x: PAD.left, y: 13, text: `${up.label} ↑`, anchor: 'start', size: 12, strong: true },
    {
      x: width - PAD.right,
      y: height - 8,
      text: `${across ? across.label : 'Trial'} →`,
      anchor: 'end',
      size: 12,
      strong: true,
    },
  ]
  const lines: (readonly [number, number, number, number])[] = []
  for (const value of x.ticks(Math.max(2, (width - PAD.left) / 120))) {
    lines.push([x.at(value), PAD.top, x.at(value), height - PAD.bottom])
    const text = across ? quantity(value, across.unit) : String(value)
    labels.push({ x: x.at(value), y: height - PAD.bottom + 16, text, anchor: 'middle', size: 11 })
  }
  for (const value of y.ticks(Math.max(2, height / 70))) {
    lines.push([PAD.left, y.at(value), width - PAD.right, y.at(value)])
    labels.push({
      x: PAD.left - 8,
      y: y.at(value) + 4,
      text: quantity(value, up.unit),
      anchor: 'end',
      size: 11,
    })
  }
  const marks = points.map((entry): TrialMark => {
    const { front, allowed } = entries[entry]!
    const kind = front ? 'front' : allowed === false ? 'refused' : entry === 0 ? 'first' : 'beaten'
    return { entry, x: x.at(xs(entry)), y: y.at(ys(entry)), kind }
  })
  labels.push(...nameLabels(marks, frontNames(findings), width))
  return { width, height, marks, steps: across ? stepsOf(front, xs, ys, x.at, y.at) : [], labels, lines }
}

/** Width of a letter of a name, and the height of its line. */
const LETTER = 6.3
const LINE = 15

/** Names next to their marks; a name that would cover another, or a mark of the front, is left out. */
function nameLabels(marks: readonly TrialMark[], names: ReadonlyMap<number, string>, width: number): Label[] {
  const taken: { x: number; y: number; width: number }[] = marks
    .filter(({ kind }) => kind === 'front')
    .map(({ x, y }) => ({ x: x - 6, y, width: 12 }))
  const labels: Label[] = []
  for (const { entry, x, y } of marks) {
    const text = shorten(names.get(entry) ?? '', 48)
    if (text === '') continue
    const long = text.length * LETTER
    const places = [
      // Above the line of the front, which goes to the right.
      { x: x + 10, y: y - LINE, anchor: 'start' as const },
      { x: x - 10 - long, y, anchor: 'end' as const },
      { x: x - 10 - long, y: y + LINE, anchor: 'end' as const },
    ].filter((at) => at.x > PAD.left && at.x + long < width)
    const free = places.find((at) =>
      taken.every(
        (other) => at.x > other.x + other.width || at.x + long < other.x || Math.abs(at.y - other.y) >= LINE,
      ),
    )
    if (!free) continue
    taken.push({ x: free.x, y: free.y, width: long })
    const edge = free.anchor === 'start' ? free.x : free.x + long
    labels.push({ x: edge, y: free.y + 4, text, anchor: free.anchor, size: 11 })
  }
  return labels
}

interface Axis {
  at(value: number): number
  ticks(wanted: number): number[]
}

/** Maps the value range with margins to pixels. */
function axisOver(values: readonly number[], from: number, to: number): Axis {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const air = AIR * (most - least || Math.abs(most) || 1)
  const [low, high] = [least - air, most + air]
  const ticks = valueAxis('linear', low, high, low)
  return {
    at: (value) => from + ((value - low) / (high - low)) * (to - from),
    // The axis starts at zero; only visible ticks are labelled.
    ticks: (wanted) =>
      axisTicks({ ...ticks, low, high }, wanted).filter((value) => value >= low && value <= high),
  }
}

/** From each front point to the next: first along, then down. */
function stepsOf(
  front: readonly number[],
  xs: (i: number) => number,
  ys: (i: number) => number,
  x: (value: number) => number,
  y: (value: number) => number,
): [number, number][] {
  const sorted = [...front].sort((a, b) => xs(a) - xs(b))
  return sorted.flatMap((entry, i): [number, number][] => [
    ...(i > 0 ? [[x(xs(entry)), y(ys(sorted[i - 1]!))] as [number, number]] : []),
    [x(xs(entry)), y(ys(entry))],
  ])
}
