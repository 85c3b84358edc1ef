/** Aggregates several links into one value, for arc bundles, matrix cells, routers and group pairs. */
import { Memo } from '../base/memo'
import type { DerivedRun } from './model'
import { colorScale, type ColorScale } from './scale'
import type { Aggregate, ScaleKind } from './state'

/** Links by mark: mark m has `links[offsets[m]]` to `links[offsets[m + 1] - 1]`. */
export interface Marks {
  readonly count: number
  readonly offsets: Uint32Array
  readonly links: Uint32Array
  /** Mark of each link, -1 if none. */
  readonly ofLink: Int32Array
}

/** Groups links by `ofLink` in stable order. */
export function marksFrom(ofLink: Int32Array, count: number): Marks {
  const offsets = new Uint32Array(count + 1)
  for (let l = 0; l < ofLink.length; l++) if (ofLink[l]! >= 0) offsets[ofLink[l]! + 1]!++
  for (let m = 0; m < count; m++) offsets[m + 1]! += offsets[m]!
  const links = new Uint32Array(offsets[count]!)
  const next = offsets.slice(0, count)
  for (let l = 0; l < ofLink.length; l++) if (ofLink[l]! >= 0) links[next[ofLink[l]!]!++] = l
  return { count, offsets, links, ofLink }
}

export interface MarkValues {
  readonly values: Float64Array
  /** Number of selected links per mark. */
  readonly selected: Uint32Array
}

/**
 * Aggregates the selected links of each mark. The maximum is by absolute value, so it also works for
 * differences.
 */
export function aggregateMarks(
  marks: Marks,
  values: Float64Array,
  selected: Uint8Array,
  how: Aggregate,
  into?: MarkValues,
): MarkValues {
  const result = into ?? { values: new Float64Array(marks.count), selected: new Uint32Array(marks.count) }
  for (let m = 0; m < marks.count; m++) aggregateMark(marks, m, values, selected, how, result)
  return result
}

/** Updates only the marks of the changed links. */
export function updateMarks(
  marks: Marks,
  values: Float64Array,
  selected: Uint8Array,
  how: Aggregate,
  result: MarkValues,
  changed: Uint32Array,
): void {
  const done = new Uint8Array(marks.count)
  for (let i = 0; i < changed.length; i++) {
    const m = marks.ofLink[changed[i]!]!
    if (m < 0 || done[m] === 1) continue
    done[m] = 1
    aggregateMark(marks, m, values, selected, how, result)
  }
}

function aggregateMark(
  { offsets, links }: Marks,
  m: number,
  values: Float64Array,
  selected: Uint8Array,
  how: Aggregate,
  result: MarkValues,
): void {
  let value = 0
  let count = 0
  for (let i = offsets[m]!, end = offsets[m + 1]!; i < end; i++) {
    const l = links[i]!
    if (selected[l] === 0) continue
    const v = values[l]!
    count++
    if (how !== 'max') value += v
    else if (count === 1 || (v < 0 ? -v : v) > (value < 0 ? -value : value)) value = v
  }
  result.values[m] = how === 'mean' && count > 0 ? value / count : value
  result.selected[m] = count
}

/**
 * The colour scale of aggregated values. A maximum or mean is on the scale of the links; sums have one of their
 * own, over all links, so that a filter does not change it.
 *
 * Args:
 * marks: Of each run that is shown side by side.
 */
export function markScale(
  marks: readonly Marks[],
  runs: readonly Pick<DerivedRun, 'values' | 'scale' | 'signed'>[],
  how: Aggregate,
  kind: ScaleKind,
): ColorScale {
  const [first] = runs
  if (how !== 'sum' || marks.every(({ count, links }) => links.length <= count)) return first!.scale
  const keys = [...runs.map(({ values }) => values), kind, first!.signed]
  let memo = scales.get(marks[0]!)
  if (!memo) scales.set(marks[0]!, (memo = new Memo()))
  return memo.get(keys, () => {
    const sums = runs.flatMap(({ values }, i) => {
      const all = new Uint8Array(values.length).fill(1)
      return [...aggregateMarks(marks[i]!, values, all, how).values].filter((sum) => sum !== 0)
    })
    return colorScale(kind, Float64Array.from(sums).sort(), first!.signed, null)
  })
}

const scales = new WeakMap<Marks, Memo<ColorScale>>()

/** Outgoing traffic of each group by job, selected links only. Drawn as the outer bands. */
export function groupJobTraffic(
  groupOfRouter: Uint32Array,
  groups: number,
  jobs: number,
  links: { readonly count: number; readonly source: Uint32Array },
  linkJobs: { readonly offsets: Uint32Array; readonly job: Uint16Array },
  perJob: Float64Array,
  counted: Uint8Array,
  selected: Uint8Array,
): Float64Array {
  const totals = new Float64Array(groups * jobs)
  const { offsets, job } = linkJobs
  for (let l = 0; l < links.count; l++) {
    if (selected[l] === 0) continue
    const row = groupOfRouter[links.source[l]!]! * jobs
    for (let i = offsets[l]!, end = offsets[l + 1]!; i < end; i++)
      if (counted[job[i]!] === 1) totals[row + job[i]!]! += perJob[i]!
  }
  return totals
}
