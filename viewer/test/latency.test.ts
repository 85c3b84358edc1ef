/** Packet latency: percentiles of hand-made bins, box positions, the group matrix. */
import { expect, test } from 'vitest'
import type { Block, NumericArray } from '../src/data/block'
import { groupMatrix, latencies } from '../src/data/latency'
import { latencyRows } from '../src/data/rows'
import { boxAt, boxesPicture, boxTip } from '../src/layout/boxes'
import { makeRun } from './machines'

/** Job 1 before job 0; the second part of job 0 has one packet. */
const CELLS = [
  [1, 'total', 1000, 1011, 3],
  [0, 'total', 100, 101, 90],
  [0, 'total', 200, 203, 8],
  [0, 'total', 400, 409, 2],
  [0, 'network', 50, 51, 1],
] as const

const block: Block = {
  rows: CELLS.length,
  numbers: new Map<string, NumericArray>([
    ['job', Uint32Array.from(CELLS, ([job]) => job)],
    ['latency_lower_ps', Float64Array.from(CELLS, (cell) => cell[2])],
    ['latency_upper_ps', Float64Array.from(CELLS, (cell) => cell[3])],
    ['packets', Float64Array.from(CELLS, (cell) => cell[4])],
  ]),
  coded: new Map([
    [
      'part',
      {
        names: ['total', 'network'],
        codes: Uint8Array.from(CELLS, ([, part]) => (part === 'total' ? 0 : 1)),
      },
    ],
  ]),
  strings: new Map(),
}

const found = latencies(block)

test('a percentile is the midpoint of the bin with its rank', () => {
  // Of 100 packets, percentiles 5 to 75 lie in the first bin, the 95th in the second, the 99th in the third.
  expect(found.boxes.map(({ job, part, packets }) => [job, part, packets])).toEqual([
    [0, 0, 100],
    [0, 1, 1],
    [1, 0, 3],
  ])
  expect(found.boxes[0]!.at).toEqual([100, 100, 100, 100, 201, 404])
  expect(found.boxes[0]!.most).toBe(408)
  expect(found.boxes[1]!.at).toEqual([50, 50, 50, 50, 50, 50])
  expect(found.boxes[2]!.at).toEqual([1005, 1005, 1005, 1005, 1005, 1005])
})

const nameOf = (job: number): string => ['near', 'far'][job]!

test('boxes share a logarithmic axis, ordered by job and part', () => {
  const picture = boxesPicture(found, nameOf, 600)
  expect(picture.marks.map(({ box }) => box)).toEqual([0, 1, 2])
  for (const { at, most } of picture.marks) {
    expect([...at].sort((a, b) => a - b)).toEqual([...at])
    expect(at.at(-1)).toBeLessThanOrEqual(most)
    expect(most).toBeLessThan(600)
  }
  // Equal ratios have equal width: from 50 to 100 as from 100 to 201.
  const [first, second] = picture.marks as [(typeof picture.marks)[0], (typeof picture.marks)[0]]
  const octave = first.at[0]! - second.at[0]!
  expect(first.at[4]! - first.at[0]!).toBeCloseTo(octave * Math.log2(2.01), 6)
  // Tick labels do not overlap.
  const ticks = picture.labels.filter(({ anchor }) => anchor === 'middle').map(({ x }) => x)
  ticks.slice(1).forEach((x, i) => expect(x - ticks[i]!).toBeGreaterThanOrEqual(56))
  expect(boxAt(picture, picture.marks[1]!.y + 2)).toBe(1)
  expect(boxAt(picture, picture.height - 2)).toBeNull()
})

test('boxes show percentiles in tooltips and tables, slowest first', () => {
  expect(boxTip(found, found.boxes[0]!, nameOf)).toEqual({
    title: 'near, since creation',
    rows: [
      ['Packets', '100'],
      ['5 %', '100 ps'],
      ['25 %', '100 ps'],
      ['50 %', '100 ps'],
      ['75 %', '100 ps'],
      ['95 %', '201 ps'],
      ['99 %', '404 ps'],
      ['Max', '408 ps'],
    ],
  })
  const { rows, all } = latencyRows(found, 'x', nameOf)
  expect(rows.map(([job, part]) => `${job} ${part}`)).toEqual([
    'far since creation',
    'near since creation',
    'near in the network',
  ])
  expect(all).toBe(3)
})

test('rows are sending groups, columns receiving groups', () => {
  const run = makeRun({
    name: 'three',
    shape: 'grouped',
    axes: ['group', 'router'],
    routers: [
      [0, 0],
      [1, 0],
      [2, 0],
    ],
    groupOf: ([group]) => group!,
    wires: [{ source: 0, target: 1, class: 'cable' }],
    jobs: ['a'],
  })
  const map = groupMatrix(
    run,
    {
      rows: 2,
      numbers: new Map<string, NumericArray>([
        ['source_group', Uint32Array.of(0, 2)],
        ['target_group', Uint32Array.of(1, 2)],
        ['congestion_index', Float64Array.of(0.25, 0.5)],
      ]),
      coded: new Map(),
      strings: new Map(),
    },
    'congestion_index',
  )
  expect([map.columns, map.rows, map.most]).toEqual([3, 3, 0.5])
  expect([...map.values]).toEqual([0, 0.25, 0, 0, 0, 0, 0, 0, 0.5])
})
