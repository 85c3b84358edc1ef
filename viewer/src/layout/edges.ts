/** Marks of a picture: one per link, or one per pair of parts if there are too many links. */
import { marksFrom, type Marks } from '../data/aggregate'
import type { Run } from '../data/run'
import { MARKS_MAX } from './picture'

export interface Edges {
  readonly marks: Marks
  /** One link of each mark. */
  readonly first: Uint32Array
  /** Whether a mark bundles all links between two parts. */
  readonly bundled: boolean
}

/** `partOf` gives the part of a router; called only if links are bundled. */
export function edges({ links }: Run, partOf: (router: number) => number): Edges {
  if (links.count <= MARKS_MAX) {
    const all = Uint32Array.from({ length: links.count }, (_, l) => l)
    return { marks: marksFrom(Int32Array.from(all), links.count), first: all, bundled: false }
  }
  const found = new Map<number, number>()
  const first: number[] = []
  const ofLink = Int32Array.from({ length: links.count }, (_, l) => {
    const pair = partOf(links.source[l]!) * 2 ** 26 + partOf(links.target[l]!)
    let mark = found.get(pair)
    if (mark === undefined) {
      found.set(pair, (mark = first.length))
      first.push(l)
    }
    return mark
  })
  return { marks: marksFrom(ofLink, first.length), first: Uint32Array.from(first), bundled: true }
}

/** Centres of parts, two numbers each. */
export function centres(
  positions: Float32Array,
  partOf: (router: number) => number,
): Map<number, [number, number]> {
  const sums = new Map<number, [number, number, number]>()
  for (let r = 0; 2 * r < positions.length; r++) {
    const sum = sums.get(partOf(r)) ?? [0, 0, 0]
    sums.set(partOf(r), [sum[0] + positions[2 * r]!, sum[1] + positions[2 * r + 1]!, sum[2] + 1])
  }
  return new Map([...sums].map(([part, [x, y, n]]) => [part, [x / n, y / n]]))
}
