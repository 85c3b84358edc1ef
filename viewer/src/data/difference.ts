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

/** Which links of two runs are one, by the names of their routers, their class and their number among parallel ones. */
interface Pairs {
  /** Router of the base for each router of the other run, -1 if it has none. */
  readonly router: Int32Array
  readonly classes: readonly string[]
  /** Index into `classes` for each class of the base and of the other run. */
  readonly codes: readonly [number[], number[]]
  /** The other run's link for each link of the base, -1 if it has none. */
  readonly partner: Int32Array
  /** Links of the other run between routers of the base that the base does not have. */
  readonly added: readonly number[]
  readonly unplaced: number
}

function pairLinks(base: Run, other: Run): Pairs {
  const router = pairRouters(base, other)
  const classes = [...new Set([...base.links.classes, ...other.links.classes])]
  const code = (run: Run): number[] => run.links.classes.map((name) => classes.indexOf(name))
  const codes: [number[], number[]] = [code(base), code(other)]
  const parallels = Math.max(largest(base.links.parallel), largest(other.links.parallel), 0) + 1
  const R = base.routers.count
  // At most 2^53: 10^5 routers squared, 16 classes, 64 parallel links are 10^13.
  const key = (s: number, t: number, c: number, p: number): number =>
    ((s * R + t) * classes.length + c) * parallels + p

  const found = new Map<number, number>()
  const { source, target, class: classOf, parallel } = base.links
  for (let l = 0; l < base.links.count; l++)
    found.set(key(source[l]!, target[l]!, codes[0][classOf[l]!]!, parallel[l]!), l)
  const partner = new Int32Array(base.links.count).fill(-1)
  const added: number[] = []
  let unplaced = 0
  for (let l = 0; l < other.links.count; l++) {
    const [s, t] = [router[other.links.source[l]!]!, router[other.links.target[l]!]!]
    if (s < 0 || t < 0) {
      unplaced++
      continue
    }
    const twin = found.get(key(s, t, codes[1][other.links.class[l]!]!, other.links.parallel[l]!))
    if (twin === undefined) added.push(l)
    else partner[twin] = l
  }
  return { router, classes, codes, partner, added, unplaced }
}

export function difference(base: Run, other: Run): Difference {
  const { router, classes, codes, partner, added, unplaced } = pairLinks(base, other)
  const count = base.links.count + added.length
  const length = { length: count }
  const inBase = Int32Array.from(length, (_, l) => (l < base.links.count ? l : -1))
  const inOther = Int32Array.from(length, (_, l) =>
    l < base.links.count ? partner[l]! : added[l - base.links.count]!,
  )
  const column =
    (fromBase: (i: number) => number, fromOther: (i: number) => number) => (_: unknown, l: number) =>
      inBase[l]! >= 0 ? fromBase(inBase[l]!) : fromOther(inOther[l]!)
  const [a, b] = [base.links, other.links]
  const end = (of: 'source' | 'target') =>
    column(
      (i) => a[of][i]!,
      (i) => router[b[of][i]!]!,
    )
  const same = (of: 'parallel' | 'capacity') =>
    column(
      (i) => a[of][i]!,
      (i) => b[of][i]!,
    )
  const classOf = column(
    (i) => codes[0][a.class[i]!]!,
    (i) => codes[1][b.class[i]!]!,
  )
  const links = {
    count,
    classes,
    source: Uint32Array.from(length, end('source')),
    target: Uint32Array.from(length, end('target')),
    class: Uint8Array.from(length, classOf),
    parallel: Uint16Array.from(length, same('parallel')),
    capacity: Float64Array.from(length, same('capacity')),
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
