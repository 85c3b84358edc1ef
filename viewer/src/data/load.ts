/** Load-duration curves: links sorted by value, most loaded first, stacked by job. */
import type { DerivedRun } from './model'
import { jobNumbers } from './run'

/** A step of the curve: links with neighbouring ranks. */
interface Step {
  /** Ends on the axis of links, as shares. */
  readonly from: number
  readonly to: number
  readonly mean: number
  /** Mean by layer; sums up to `mean`, unless traffic is not attributed to jobs. */
  readonly parts: Float64Array
}

export interface LoadCurve {
  readonly code: number
  readonly name: string
  readonly links: number
  readonly mean: number
  readonly max: number
  readonly steps: readonly Step[]
}

export interface LoadCurves {
  readonly curves: readonly LoadCurve[]
  /** Jobs of the layers by number, largest total first; -1 for all others. */
  readonly layers: readonly number[]
}

const STEPS = 60
/** Jobs with a layer of their own. */
export const LAYERS_MAX = 8

/** Of the visible classes and counted jobs. */
export function loadCurves(d: DerivedRun, totals: Float64Array | null): LoadCurves {
  const { run, values, counted, measure } = d
  const layers = totals ? layersOf(totals, counted) : [-1]
  const layerOf = new Int32Array(Math.max(1, jobNumbers(run))).fill(layers.length - 1)
  layers.forEach((job, layer) => job >= 0 && (layerOf[job] = layer))
  const { perJob } = measure
  const { offsets, job } = run.linkJobs
  const shown = run.links.classes.flatMap((name, code) =>
    d.stats[code]!.links > 0 && d.classOn[code] === 1 ? [{ name, code }] : [],
  )
  const bins = new Map(
    shown.map(({ code }) => [
      code,
      {
        sums: new Float64Array(STEPS * layers.length),
        counts: new Uint32Array(STEPS),
        means: new Float64Array(STEPS),
      },
    ]),
  )
  for (let l = 0; l < run.links.count; l++) {
    const bin = bins.get(run.links.class[l]!)
    if (!bin || Number.isNaN(values[l])) continue
    const sorted = d.sorted[run.links.class[l]!]!
    const step = Math.floor((larger(sorted, values[l]!) * STEPS) / sorted.length)
    bin.counts[step]!++
    bin.means[step]! += values[l]!
    if (perJob === null) continue
    for (let i = offsets[l]!; i < offsets[l + 1]!; i++)
      if (counted[job[i]!] === 1) bin.sums[step * layers.length + layerOf[job[i]!]!]! += perJob[i]!
  }
  const curves = shown.map(({ name, code }): LoadCurve => {
    const { sums, counts, means } = bins.get(code)!
    const links = counts.reduce((sum, n) => sum + n, 0)
    const steps: Step[] = []
    let before = 0
    counts.forEach((n, step) => {
      if (n === 0) return
      const mean = means[step]! / n
      const parts =
        perJob === null
          ? Float64Array.of(mean)
          : sums.slice(step * layers.length, (step + 1) * layers.length).map((sum) => sum / n)
      steps.push({ from: before / links, to: (before + n) / links, mean, parts })
      before += n
    })
    const { mean, max } = d.stats[code]!
    return { code, name, links, mean, max, steps }
  })
  return { curves, layers }
}

/** The counted jobs with the most traffic, and one layer for all others. */
function layersOf(totals: Float64Array, counted: Uint8Array): number[] {
  const jobs = [...totals.keys()].filter((job) => counted[job] === 1 && totals[job]! > 0)
  jobs.sort((a, b) => totals[b]! - totals[a]!)
  return [...jobs.slice(0, LAYERS_MAX), -1]
}

/** Number of sorted values above `value`: links with the same value share a step. */
function larger(sorted: Float64Array, value: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle]! <= value) low = middle + 1
    else high = middle
  }
  return sorted.length - low
}
