/**
 * The main picture of a machine: where its routers, groups and links are, whatever the topology.
 *
 * Pure geometry in scene units (the scene is about 1000 wide); it knows machines, not values, colours or screens.
 */
import type { Marks } from '../data/aggregate'

/** At most this many curves are laid out one by one; beyond, links are bundled. */
export const MARKS_MAX = 20_000

export interface Sector {
  readonly group: number
  readonly label: string
  /** Radians, clockwise from the top. */
  readonly start: number
  readonly end: number
}

export interface Ring {
  readonly centre: number
  readonly inner: number
  readonly outer: number
  /** Between these the bands of jobs are drawn. */
  readonly bandInner: number
  readonly bandOuter: number
  readonly sectors: readonly Sector[]
  /** Every node's part of the circle between `nodesInner` and `nodesOuter`, two angles each; null where they are too many to see. */
  readonly nodes: Float64Array | null
  readonly nodesInner: number
  readonly nodesOuter: number
}

export interface Label {
  readonly x: number
  readonly y: number
  readonly text: string
  readonly anchor: 'start' | 'middle' | 'end'
  readonly size: number
  readonly strong?: boolean
}

export interface Frame {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Routers that lie over each other. */
export interface Stacks {
  /** Place of every router. */
  readonly of: Int32Array
  /** Routers of every place. */
  readonly members: readonly (readonly number[])[]
}

export interface Picture {
  readonly width: number
  readonly height: number
  readonly marks: Marks
  /** Cubic Bézier curves from source to target, eight numbers each: start, two control points, end. */
  readonly curves: Float32Array
  /** Width of a curve at its source and at its target. */
  readonly taper: readonly [number, number]
  /** 1 for a mark that wraps around or leaves the plane, drawn dashed; null if there are none. */
  readonly stub: Uint8Array | null
  /** Marks do not cross each other, so that even of many none needs to be seen through. */
  readonly apart?: boolean
  /** Where links are that have no mark, as in `inside groups: see the matrices`; empty if all have one. */
  readonly elsewhere: string
  /** What one mark stands for, as in `links` or `pairs of groups`. */
  readonly markNoun: string
  /** Centres of the routers, two numbers each; NaN for one that is not shown. */
  readonly routers: Float32Array
  readonly routerRadius: number
  /** Where several routers share a place, as in a projection; null if each has its own. */
  readonly stacks: Stacks | null
  /** Radial length of a router's mark on the ring where dots would be too small to see. */
  readonly routerLength: number
  readonly ring: Ring | null
  readonly frames: readonly Frame[]
  readonly labels: readonly Label[]
  /** How to read the picture, in one sentence. */
  readonly reading: string
}
