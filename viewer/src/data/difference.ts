/**
 * Two runs as one: the links of both, paired by name, with other minus base as their value.
 *
 * The result is a `Run`, so every view shows it as it is. A link that only one run has counts as zero in the other; such
 * links are counted, so that a machine with other cables is compared without hiding anything.
 */
import type { Measure, Run } from './run'
import { largest } from './run'
import { namesOf } from './focus'

export interface Difference {
  readonly run: Run
  /** Link of the base or the other run for each link of `run`, -1 if it has none. */
  readonly inBase: Int32Array
  readonly inOther: Int32Array
  readonly onlyBase: number
  readonly onlyOther: number
  /** Links of the other run whose routers the base does not have. */
  readonly unplaced: number
}

export function difference(base: Run, other: Run): Difference {
  const router = pairRouters(base, other)
  const classes = [...new Set([...base.links.classes, ...other.links.classes])]
  const code = (run: Run): number[] => run.links.classes.map((name) => classes.indexOf(name))
  const [baseCode, otherCode] = [code(base), code(other)]
  const parallels = Math.max(largest(base.links.parallel), largest(other.links.parallel), 0) + 1
  const R = base.routers.count
  // At most 2^53: 10^5 routers squared, 16 classes, 64 parallel links are 10^13.
  const key = (s: number, t: number, c: number, p: number): number =>
    ((s * R + t) * classes.length + c) * parallels + p

  const found = new Map<number, number>()
  for (let l = 0; l < base.links.count; l++)
    found.set(
      key(
        base.links.source[l]!,
        base.links.target[l]!,
        baseCode[base.links.class[l]!]!,
        base.links.parallel[l]!,
      ),
      l,
    )
  const partner = new Int32Array(base.links.count).fill(-1)
  const added: number[] = []
  let unplaced = 0
  for (let l = 0; l < other.links.count; l++) {
    const [s, t] = [router[other.links.source[l]!]!, router[other.links.target[l]!]!]
    if (s < 0 || t < 0) {
      unplaced++
      continue
    }
    const twin = found.get(key(s, t, otherCode[other.links.class[l]!]!, other.links.parallel[l]!))
    if (twin === undefined) added.push(l)
    else partner[twin] = l
  }
  const count = base.links.count + added.length
  const inBase = Int32Array.from({ length: count }, (_, l) => (l < base.links.count ? l : -1))
  const inOther = Int32Array.from({ length: count }, (_, l) =>
    l < base.links.count ? partner[l]! : added[l - base.links.count]!,
  )
  const pick = <T>(l: number, fromBase: (i: number) => T, fromOther: (i: number) => T): T =>
    inBase[l]! >= 0 ? fromBase(inBase[l]!) : fromOther(inOther[l]!)
  const column =
    (fromBase: (i: number) => number, fromOther: (i: number) => number) => (_: unknown, l: number) =>
      pick(l, fromBase, fromOther)
  const links = {
    count,
    classes,
    source: Uint32Array.from(
      { length: count },
      column(
        (i) => base.links.source[i]!,
        (i) => router[other.links.source[i]!]!,
      ),
    ),
    target: Uint32Array.from(
      { length: count },
      column(
        (i) => base.links.target[i]!,
        (i) => router[other.links.target[i]!]!,
      ),
    ),
    class: Uint8Array.from(
      { length: count },
      column(
        (i) => baseCode[base.links.class[i]!]!,
        (i) => otherCode[other.links.class[i]!]!,
      ),
    ),
    parallel: Uint16Array.from(
      { length: count },
      column(
        (i) => base.links.parallel[i]!,
        (i) => other.links.parallel[i]!,
      ),
    ),
    capacity: Float64Array.from(
      { length: count },
      column(
        (i) => base.links.capacity[i]!,
        (i) => other.links.capacity[i]!,
      ),
    ),
  }
  const measures = base.measures
    .filter((measure) => other.measures.some((m) => m.id === measure.id))
    .map((measure): Measure => ({ ...measure, total: new Float64Array(0), perJob: null }))
  return {
    run: {
      ...base,
      label: `${other.label} − ${base.label}`,
      links,
      linkJobs: { offsets: new Uint32Array(count + 1), job: new Uint16Array(0) },
      measures,
    },
    inBase,
    inOther,
    onlyBase: partner.reduce((n, l) => n + (l < 0 ? 1 : 0), 0),
    onlyOther: added.length,
    unplaced,
  }
}

/** The base's router of the same name for every router of the other run, -1 if there is none. */
function pairRouters(base: Run, other: Run): Int32Array {
  const names = namesOf(base).routers
  return Int32Array.from(
    { length: other.routers.count },
    (_, r) => names.get(other.routers.names.at(r)) ?? -1,
  )
}

/** One run's values by the links of the difference, NaN where it has no such link. */
export function valuesOn(link: Int32Array, values: Float64Array): Float64Array {
  return Float64Array.from(link, (l) => (l < 0 ? NaN : values[l]!))
}

/** Other minus base on every link of the difference. */
export function differenceValues(d: Difference, base: Float64Array, other: Float64Array): Float64Array {
  return Float64Array.from({ length: d.run.links.count }, (_, l) => {
    const [i, j] = [d.inBase[l]!, d.inOther[l]!]
    return (j < 0 ? 0 : other[j]!) - (i < 0 ? 0 : base[i]!)
  })
}
