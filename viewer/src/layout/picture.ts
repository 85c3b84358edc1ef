/**
 * The main picture of a machine: positions of routers, groups and links.
 *
 * Pure geometry in scene units (about 1000 wide), independent of values, colours and screens.
 */
import type { Marks } from '../data/aggregate'

/** Maximum number of single curves; above it, links are bundled. */
export const MARKS_MAX = 20_000

export interface Sector {
  readonly group: number
  readonly label: string
  /** Radians, clockwise from the top. */
  readonly start: number
  readonly end: number
}

/** One per network plane. */
export interface Ring {
  /** Its centre. */
  readonly x: number
  readonly y: number
  readonly inner: number
  readonly outer: number
  /** Job bands are drawn between these radii. */
  readonly bandInner: number
  readonly bandOuter: number
  readonly sectors: readonly Sector[]
  /**
   * Angles of each node between `nodesInner` and `nodesOuter`, two each; null if there are too many nodes.
   */
  readonly nodes: Float64Array | null
  /** Numbers of these nodes. */
  readonly nodeNumbers: Uint32Array
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

export interface Size {
  readonly width: number
  readonly height: number
}

export interface Box extends Size {
  readonly x: number
  readonly y: number
}

/** x and y of the corners of a line. */
export type Corners = readonly (readonly [number, number])[]

/** Routers drawn at the same place. */
export interface Stacks {
  /** Place of each router. */
  readonly of: Int32Array
  /** Routers of each place. */
  readonly members: readonly (readonly number[])[]
}

/** A picture without dashed marks, stacks, ring and frames, in which every link has a mark. */
export const PLAIN = { stub: null, stacks: null, elsewhere: '', rings: [], frames: [] } as const

export interface Picture {
  readonly width: number
  readonly height: number
  readonly marks: Marks
  /** Cubic Bézier curves, eight numbers each: start, two control points, end. */
  readonly curves: Float32Array
  /** Curve width at source and target. */
  readonly taper: readonly [number, number]
  /** 1 for a mark that wraps around or leaves the plane (dashed); null if none does. */
  readonly stub: Uint8Array | null
  /** Marks do not cross, so they can be opaque even if there are many. */
  readonly apart?: boolean
  /**
   * Where links without a mark are shown, such as `inside groups: see the matrices`; empty if all have one.
   */
  readonly elsewhere: string
  /** What a mark stands for, such as `links` or `pairs of groups`. */
  readonly markNoun: string
  /** Router centres, two numbers each; NaN if not shown. */
  readonly routers: Float32Array
  readonly routerRadius: number
  /** Routers that share a place, as in a projection; null if none do. */
  readonly stacks: Stacks | null
  /** Radial length of a router bar on the ring, where dots would be too small. */
  readonly routerLength: number
  readonly rings: readonly Ring[]
  readonly frames: readonly Box[]
  readonly labels: readonly Label[]
  /** How to read the picture, in one or two sentences. */
  readonly reading: string
}
