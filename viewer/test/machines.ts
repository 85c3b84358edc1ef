/** Machines in memory, built by their published rules, with the traffic given by tests. */
import { Strings, type Block, type NumericArray } from '../src/data/block'
import { assembleRun, type Run } from '../src/data/run'
import type { Columns, RunInfo, Summary } from '../src/data/source'

export interface Wire {
  readonly source: number
  readonly target: number
  readonly class: string
  readonly parallel?: number
}

export interface Description {
  readonly name: string
  readonly shape: string
  readonly axes: readonly string[]
  /** Coordinates of each router. */
  readonly routers: readonly (readonly number[])[]
  readonly groupOf: (coordinates: readonly number[]) => number
  readonly wires: readonly Wire[]
  readonly nodesPerRouter?: number
  /** Job of a node, -1 idle. */
  readonly jobOf?: (node: number) => number
  readonly jobs?: readonly string[]
  /** Declarations of the links and the jobs. */
  readonly links?: Columns
  readonly jobColumns?: Columns
  /** Bytes of each job on a link. */
  readonly traffic?: (link: number) => readonly number[]
  /** Ejected and injected bytes of a node, over 10 GB/s. */
  readonly nodeBytes?: (node: number) => readonly [number, number]
  /** Figures of the jobs, one value each; declared in `jobColumns`. */
  readonly figures?: Readonly<Record<string, readonly number[]>>
}

export const TRAFFIC: Columns = { bytes: { type: 'f64', unit: 'bytes', merge: 'sum', label: 'Traffic' } }

const COLORS = ['#4e79a7', '#f28e2b', '#59a14f', '#b07aa1']

export function makeRun(d: Description): Run {
  const names = d.routers.map((c) => d.axes.map((axis, i) => `${axis[0]}${c[i]}`).join(''))
  const perRouter = d.nodesPerRouter ?? 1
  const jobs = d.jobs ?? []
  const classes = [...new Set(d.wires.map((w) => w.class))]
  const traffic = d.wires.map((_, l) => d.traffic?.(l) ?? [])
  const rows = traffic.flatMap((bytes, l) =>
    bytes.map((value, job) => ({ l, job, value })).filter((row) => row.value !== 0),
  )
  const u32 = (values: readonly number[]): Uint32Array => Uint32Array.from(values)
  const nodes = d.routers.length * perRouter
  const block = (
    count: number,
    numbers: Record<string, NumericArray>,
    strings: Record<string, Strings> = {},
  ): Block => ({
    rows: count,
    numbers: new Map(Object.entries(numbers)),
    coded: new Map(),
    strings: new Map(Object.entries(strings)),
  })
  const links = block(d.wires.length, {
    source: u32(d.wires.map((w) => w.source)),
    target: u32(d.wires.map((w) => w.target)),
    parallel: Uint16Array.from(d.wires.map((w) => w.parallel ?? 0)),
    capacity_bytes_per_s: new Float64Array(d.wires.length).fill(5e9),
    bytes: Float64Array.from(traffic, (bytes) => bytes.reduce((sum, v) => sum + v, 0)),
    peak_bytes: Float64Array.from(traffic, (bytes) => Math.max(0, ...bytes)),
  })
  return assembleRun(0, infoOf(d, nodes), {
    routers: block(
      d.routers.length,
      {
        group: u32(d.routers.map((c) => d.groupOf(c))),
        // As received: part of a larger buffer.
        up: new Uint8Array(new ArrayBuffer(8 + d.routers.length), 8).fill(1),
        ...Object.fromEntries(d.axes.map((axis, i) => [axis, u32(d.routers.map((c) => c[i]!))])),
      },
      { name: Strings.from(names) },
    ),
    links: {
      ...links,
      coded: new Map([
        ['class', { codes: Uint8Array.from(d.wires, (w) => classes.indexOf(w.class)), names: classes }],
      ]),
    },
    linkJobs: block(rows.length, {
      link: u32(rows.map((r) => r.l)),
      job: u32(rows.map((r) => r.job)),
      bytes: Float64Array.from(rows, (r) => r.value),
    }),
    nodes: block(
      nodes,
      {
        router: u32(Array.from({ length: nodes }, (_, n) => Math.floor(n / perRouter))),
        slot: u32(Array.from({ length: nodes }, (_, n) => n % perRouter)),
        job: Int32Array.from({ length: nodes }, (_, n) => d.jobOf?.(n) ?? -1),
        ejected_bytes: Float64Array.from({ length: nodes }, (_, n) => d.nodeBytes?.(n)[0] ?? 0),
        injected_bytes: Float64Array.from({ length: nodes }, (_, n) => d.nodeBytes?.(n)[1] ?? 0),
        capacity_bytes_per_s: new Float64Array(nodes).fill(10e9),
      },
      {
        name: Strings.from(
          Array.from({ length: nodes }, (_, n) => `${names[Math.floor(n / perRouter)]}n${n % perRouter}`),
        ),
      },
    ),
    jobs: block(
      jobs.length,
      {
        job: u32(jobs.map((_, j) => j)),
        nodes: u32(jobs.map(() => 1)),
        ...Object.fromEntries(
          Object.entries(d.figures ?? {}).map(([id, values]) => [id, Float64Array.from(values)]),
        ),
      },
      { name: Strings.from(jobs), color: Strings.from(jobs.map((_, j) => COLORS[j]!)) },
    ),
  })
}

function infoOf(d: Description, nodes: number): RunInfo {
  const summary: Summary = {
    engine: 'flow',
    routing: 'min',
    complete: true,
    seed: 1,
    machine: {
      name: d.name,
      shape: d.shape,
      groups: new Set(d.routers.map((c) => d.groupOf(c))).size,
      routers: d.routers.length,
      nodes,
      links: d.wires.length,
      axes: d.axes,
    },
    classes: [],
    warnings: [],
  }
  const tables = {
    links: { rows: d.wires.length, columns: d.links ?? TRAFFIC },
    jobs: { rows: d.jobs?.length ?? 0, columns: d.jobColumns ?? {} },
  }
  return { label: d.name, summary, tables, keys: {} }
}

export function grid(...sizes: number[]): number[][] {
  return sizes.reduce<number[][]>(
    (all, size) => all.flatMap((c) => Array.from({ length: size }, (_, i) => [...c, i])),
    [[]],
  )
}

/**
 * Aries groups of 6 x 16 with Edison's closed form for the cables between 15 groups: 48,240 directed links.
 */
export function edison(extra: Partial<Description> = {}): Run {
  return makeRun({ ...edisonDescription(), ...extra })
}

export function edisonDescription(): Description {
  const wires: Wire[] = []
  const id = (g: number, r: number, c: number): number => g * 96 + r * 16 + c
  for (let g = 0; g < 15; g++)
    for (let r = 0; r < 6; r++)
      for (let c = 0; c < 16; c++) {
        for (let c2 = 0; c2 < 16; c2++)
          if (c2 !== c) wires.push({ source: id(g, r, c), target: id(g, r, c2), class: 'green' })
        for (let r2 = 0; r2 < 6; r2++)
          for (let p = 0; p < (r2 === r ? 0 : 3); p++)
            wires.push({ source: id(g, r, c), target: id(g, r2, c), class: 'black', parallel: p })
      }
  for (let a = 0; a < 15; a++)
    for (let b = 0; b < 15; b++) {
      if (a === b) continue
      const [kab, kba] = [b < a ? b : b - 1, a < b ? a : a - 1]
      for (let r = 0; r < 6; r++)
        for (let p = 0; p < 2; p++)
          for (let k = 0; k < 2; k++)
            wires.push({
              source: id(a, r, 2 * (kab % 8) + p),
              target: id(b, r, 2 * (kba % 8) + p),
              class: 'blue',
              parallel: k,
            })
    }
  return {
    name: 'edison',
    shape: 'grouped',
    axes: ['group', 'row', 'column'],
    routers: grid(15, 6, 16),
    groupOf: (c) => c[0]!,
    wires,
  }
}

/** Three groups of two routers: r0-r1 inside each, and one cable between each pair of groups. */
export function tiny(extra: Partial<Description> = {}): Run {
  const wires: Wire[] = []
  for (let g = 0; g < 3; g++) {
    wires.push(
      { source: 2 * g, target: 2 * g + 1, class: 'local' },
      { source: 2 * g + 1, target: 2 * g, class: 'local' },
    )
  }
  for (const [a, b] of [
    [0, 3],
    [1, 5],
    [2, 4],
  ] as const)
    wires.push({ source: a, target: b, class: 'global' }, { source: b, target: a, class: 'global' })
  return makeRun({
    name: 'tiny',
    shape: 'grouped',
    axes: ['group', 'router'],
    routers: grid(3, 2),
    groupOf: (c) => c[0]!,
    wires,
    ...extra,
  })
}

export function torus(...dims: number[]): Run {
  const routers = grid(...dims)
  const index = new Map(routers.map((c, r) => [c.join(), r]))
  const wires: Wire[] = routers.flatMap((c, source) =>
    dims.flatMap((size, axis) =>
      [1, -1].map((step) => {
        const to = [...c]
        to[axis] = (to[axis]! + step + size) % size
        // With two routers, both steps lead to the other, over two cables.
        const parallel = size === 2 && step < 0 ? 1 : 0
        return { source, target: index.get(to.join())!, class: 'local', parallel }
      }),
    ),
  )
  return makeRun({
    name: 'torus',
    shape: 'torus',
    axes: dims.map((_, i) => `x${i}`),
    routers,
    groupOf: () => 0,
    wires,
  })
}

/** Two levels; each leaf is connected to each spine. */
export function fatTree(leaves: number, spines: number): Run {
  const routers = [
    ...Array.from({ length: leaves }, (_, i) => [0, i, 0]),
    ...Array.from({ length: spines }, (_, i) => [1, 0, i]),
  ]
  const wires: Wire[] = []
  for (let leaf = 0; leaf < leaves; leaf++)
    for (let s = 0; s < spines; s++)
      wires.push(
        { source: leaf, target: leaves + s, class: 'local' },
        { source: leaves + s, target: leaf, class: 'local' },
      )
  return makeRun({
    name: 'tree',
    shape: 'fat-tree',
    axes: ['level', 'pod', 'index'],
    routers,
    groupOf: (c) => c[1]!,
    wires,
  })
}

/** A reproducible stream of numbers in [0, 1) (mulberry32). */
export function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** Job 0 has (l + 1) KiB on every link, job 1 has 10 KiB on even links. */
export const twoJobs = () =>
  tiny({ jobs: ['fft', 'halo'], traffic: (l) => [(l + 1) * 1024, l % 2 === 0 ? 10240 : 0] })
