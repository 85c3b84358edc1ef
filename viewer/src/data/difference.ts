/**
 * The difference of two runs as a `Run`: paired links with the value other minus base. Every view can show
 * it.
 *
 * Cables of one class between the same routers form a bundle. Within a bundle, cables are paired by number,
 * the rest in order. A bundle that lost a cable therefore shows one removed cable, and the remaining cables
 * carry more. Removed and added cables have no counterpart to subtract, so they form a separate run. With
 * bundle pairing, the totals of bundles are compared.
 */
import { DOUBLINGS_MAX } from '../base/format'
import type { Merge } from './source'
import type { Links, Measure, Run } from './run'
import { namesOf } from './focus'
import type { Pairing } from './state'

/** Links by item: item i has `links[offsets[i]]` to `links[offsets[i + 1] - 1]`. */
interface Parts {
  readonly offsets: Uint32Array
  readonly links: Uint32Array
}

export interface Difference {
  readonly run: Run
  /** Links of the base and of the other run for each link of `run`: one each, several with bundle pairing. */
  readonly base: Parts
  readonly other: Parts
  /** Cables (or whole bundles) of only one run. */
  readonly cables: Cables
  /** Number of links of the other run whose routers the base lacks. */
  readonly unplaced: number
}

export interface Cables {
  /** Removed cables first. */
  readonly run: Run
  readonly removed: number
  readonly added: number
  /** Links in the base, then in the other run. */
  readonly links: Parts
}

/** Paired bundles: links in the base and in the other run. */
interface Bundle {
  readonly source: number
  readonly target: number
  readonly class: number
  readonly base: number[]
  readonly other: number[]
}

/** log2 of after / before: 0 if both are zero, clamped if one is. */
export function doublings(before: number, after: number): number {
  if (before === after) return 0
  const exact = before > 0 ? (after > 0 ? Math.log2(after / before) : -Infinity) : Infinity
  return Math.max(-DOUBLINGS_MAX, Math.min(DOUBLINGS_MAX, exact))
}

export function difference(base: Run, other: Run, pairing: Pairing): Difference {
  const classes = [...new Set([...base.links.classes, ...other.links.classes])]
  const { bundles, unplaced } = pairBundles(base, other, classes)
  const items = pairing === 'bundle' ? bundles : bundles.flatMap((bundle) => cablesOf(bundle, base, other))
  const both = items.filter((item) => item.base.length > 0 && item.other.length > 0)
  const removed = items.filter((item) => item.other.length === 0)
  const added = items.filter((item) => item.base.length === 0)
  const measures = base.measures
    .filter((measure) => other.measures.some((m) => m.id === measure.id))
    .map(({ id, label, unit, merge }): Measure => ({
      id,
      label,
      unit,
      merge,
      total: new Float64Array(0),
      perJob: null,
    }))
  const runOf = (part: readonly Bundle[]): Run => ({
    ...base,
    label: `${other.label} − ${base.label}`,
    links: linksOf(part, base, other, classes),
    linkJobs: { offsets: new Uint32Array(part.length + 1), job: new Uint16Array(0) },
    measures,
  })
  return {
    run: runOf(both),
    base: partsOf(both.map((item) => item.base)),
    other: partsOf(both.map((item) => item.other)),
    cables: {
      run: runOf([...removed, ...added]),
      removed: removed.length,
      added: added.length,
      links: partsOf([...removed.map((item) => item.base), ...added.map((item) => item.other)]),
    },
    unplaced,
  }
}

function pairBundles(
  base: Run,
  other: Run,
  classes: readonly string[],
): { bundles: Bundle[]; unplaced: number } {
  const router = pairRouters(base, other)
  const R = base.routers.count
  const found = new Map<number, Bundle>()
  const bundles: Bundle[] = []
  let unplaced = 0
  const add = (run: Run, side: 'base' | 'other', place: (r: number) => number): void => {
    const codes = run.links.classes.map((name) => classes.indexOf(name))
    const { source, target, class: classOf, count } = run.links
    for (let l = 0; l < count; l++) {
      const [s, t, code] = [place(source[l]!), place(target[l]!), codes[classOf[l]!]!]
      if (s < 0 || t < 0) {
        unplaced++
        continue
      }
      // At most 2^53: 10^5 routers squared times 16 classes is 1.6 10^11.
      const key = (s * R + t) * classes.length + code
      let bundle = found.get(key)
      if (!bundle) {
        bundle = { source: s, target: t, class: code, base: [], other: [] }
        found.set(key, bundle)
        bundles.push(bundle)
      }
      bundle[side].push(l)
    }
  }
  add(base, 'base', (r) => r)
  add(other, 'other', (r) => router[r]!)
  return { bundles, unplaced }
}

/** Pairs the cables of a bundle: first by number, then in order; the rest has no partner. */
function cablesOf(bundle: Bundle, base: Run, other: Run): Bundle[] {
  if (bundle.base.length === 1 && bundle.other.length === 1) return [bundle]
  const free = new Map(bundle.other.map((l) => [other.links.parallel[l]!, l]))
  const partner = bundle.base.map((l) => {
    const number = base.links.parallel[l]!
    const twin = free.get(number)
    free.delete(number)
    return twin
  })
  const rest = [...free.values()]
  const pairs = bundle.base.map((l, i): Bundle => {
    const twin = partner[i] ?? rest.shift()
    return { ...bundle, base: [l], other: twin === undefined ? [] : [twin] }
  })
  return [...pairs, ...rest.map((l): Bundle => ({ ...bundle, base: [], other: [l] }))]
}

function linksOf(items: readonly Bundle[], base: Run, other: Run, classes: readonly string[]): Links {
  const sum = (links: Links, list: readonly number[]): number =>
    list.reduce((total, l) => total + links.capacity[l]!, 0)
  return {
    count: items.length,
    classes,
    source: Uint32Array.from(items, (item) => item.source),
    target: Uint32Array.from(items, (item) => item.target),
    class: Uint8Array.from(items, (item) => item.class),
    parallel: Uint16Array.from(items, (item) =>
      item.base.length > 0 ? base.links.parallel[item.base[0]!]! : other.links.parallel[item.other[0]!]!,
    ),
    capacity: Float64Array.from(items, (item) =>
      item.base.length > 0 ? sum(base.links, item.base) : sum(other.links, item.other),
    ),
  }
}

function partsOf(lists: readonly (readonly number[])[]): Parts {
  const offsets = new Uint32Array(lists.length + 1)
  lists.forEach((list, i) => (offsets[i + 1] = offsets[i]! + list.length))
  return { offsets, links: Uint32Array.from(lists.flat()) }
}

/** The base router with the same name, -1 if none. */
function pairRouters(base: Run, other: Run): Int32Array {
  const names = namesOf(base).routers
  return Int32Array.from(
    { length: other.routers.count },
    (_, r) => names.get(other.routers.names.at(r)) ?? -1,
  )
}

/** Sum over the links of each item. */
export function sumByItem({ offsets, links }: Parts, values: Float64Array, merge: Merge): Float64Array {
  return Float64Array.from({ length: offsets.length - 1 }, (_, i) => {
    const [from, end] = [offsets[i]!, offsets[i + 1]!]
    let value = values[links[from]!]!
    for (let k = from + 1; k < end; k++) {
      const next = values[links[k]!]!
      value = merge === 'max' ? Math.max(value, next) : value + next
    }
    return merge === 'max' || merge === 'sum' ? value : value / (end - from)
  })
}

/** Number of links of each item. */
export const sizes = ({ offsets }: Parts): Uint32Array =>
  Uint32Array.from({ length: offsets.length - 1 }, (_, i) => offsets[i + 1]! - offsets[i]!)
