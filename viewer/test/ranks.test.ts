import { describe, expect, test } from 'vitest'
import type { Block } from '../src/data/block'
import { checkState } from '../src/data/check'
import {
  gridProblem,
  keepPlaces,
  placesOf,
  placesText,
  rankPlaces,
  readRanks,
  writeRanks,
} from '../src/data/ranks'
import type { Index } from '../src/data/source'
import { DEFAULTS, readUrl, writeUrl } from '../src/data/state'
import type { Run } from '../src/data/run'
import { edison, torus } from './machines'

/** 4 x 4 x 4, one node per router; X is the slowest axis of the router numbers. */
const run: Run = {
  ...torus(4, 4, 4),
  jobs: edison({ jobs: ['cube', 'other'], traffic: () => [1, 1] }).jobs,
}

function placementOf(rows: readonly (readonly [job: number, rank: number, node: number])[]): Block {
  const column = (i: number): Int32Array => Int32Array.from(rows, (row) => row[i]!)
  const numbers = new Map(['job', 'rank', 'node'].map((name, i) => [name, column(i)]))
  return { rows: rows.length, numbers, coded: new Map(), strings: new Map() }
}

/** Router by coordinates. */
const at = (...place: number[]): number =>
  Array.from({ length: run.routers.count }, (_, r) => r).find((r) =>
    run.routers.axes.every((axis, i) => axis.values[r] === place[i]),
  )!
const nodeOf = (router: number): number => run.nodes.router.indexOf(router)
const places = Array.from({ length: 64 }, (_, i) => [i >> 4, (i >> 2) & 3, i & 3] as const)

describe('routers by ranks', () => {
  test('with identity mapping, grid coordinates equal router coordinates', () => {
    const rows = places.map((place, rank) => [0, rank, nodeOf(at(...place))] as const)
    for (const axis of [0, 1, 2]) {
      const { values, most, first } = rankPlaces(run, placementOf(rows), { job: 0, grid: [4, 4, 4], axis })
      expect(most).toBe(3)
      places.forEach((place, rank) => {
        expect(values[at(...place)]).toBe(place[axis])
        expect(first[at(...place)]).toBe(rank)
      })
    }
  })

  test('a tilted mapping shifts a coordinate along another axis', () => {
    // Rank (x, y, z) is at (x, y + x, z).
    const rows = places.map(([x, y, z], rank) => [0, rank, nodeOf(at(x, (y + x) % 4, z))] as const)
    const { values } = rankPlaces(run, placementOf(rows), { job: 0, grid: [4, 4, 4], axis: 1 })
    for (const [x, y, z] of places) expect(values[at(x, y, z)]).toBe((y - x + 4) % 4)
  })

  test('four ranks per node, T first (TXYZ) or last (XYZT): the lowest rank counts', () => {
    const tFirst = places.flatMap((place, i) =>
      [0, 1, 2, 3].map((t) => [0, 4 * i + t, nodeOf(at(...place))] as const),
    )
    const tLast = places.flatMap((place, i) =>
      [0, 1, 2, 3].map((t) => [0, 64 * t + i, nodeOf(at(...place))] as const),
    )
    const choice = { job: 0, grid: [], axis: 0 }
    const first = rankPlaces(run, placementOf(tFirst), choice)
    const last = rankPlaces(run, placementOf(tLast), choice)
    expect([first.most, last.most]).toEqual([255, 255])
    expect([first.values[at(0, 0, 1)], last.values[at(0, 0, 1)]]).toEqual([4, 1])
    expect([first.ranks[at(3, 3, 3)], last.values[at(3, 3, 3)], first.values[at(3, 3, 3)]]).toEqual([
      4, 63, 252,
    ])
  })

  test('routers of other jobs have no rank', () => {
    const found = rankPlaces(
      run,
      placementOf([
        [1, 0, nodeOf(at(0, 0, 0))],
        [0, 0, nodeOf(at(1, 0, 0))],
      ]),
      { job: 1, grid: [], axis: 0 },
    )
    expect([found.values[at(0, 0, 0)], found.values[at(1, 0, 0)], found.ranks[at(1, 0, 0)]]).toEqual([
      0, -1, 0,
    ])
    expect(placesText(run, found)).toBe('rank of other')
  })

  test('are cached by choice', () => {
    const choice = { job: 0, grid: [8, 8], axis: 1 }
    const kept = keepPlaces(run, rankPlaces(run, placementOf([[0, 9, 0]]), choice))
    expect(placesOf(run, { routers: 'rank', ranks: '0.8x8.1' })).toBe(kept)
    expect(placesOf(run, { routers: 'rank', ranks: '0' })).toBeNull()
    expect(placesOf(run, { routers: 'job', ranks: '0.8x8.1' })).toBeNull()
    expect(placesText(run, kept)).toBe('coordinate 1 of 8 x 8, cube')
  })
})

describe('the setting', () => {
  test.each(['0', '3', '0.8x8x8.1', '1.64.0'])('%s is parsed and written', (text) =>
    expect(writeRanks(readRanks(text)!)).toBe(text),
  )
  test.each(['', 'x', '0.8x8', '0.8x8.2', '0.0x8.0', '-1', '0.8x.0', '0..0'])('%s is refused', (text) =>
    expect(readRanks(text)).toBeNull(),
  )

  test('is stored in the address; invalid values are reported', () => {
    const state = { ...DEFAULTS, routers: 'rank', ranks: '1.4x16.0' } as const
    expect(readUrl(writeUrl(state)).state).toEqual(state)
    const info = { tables: { jobs: { rows: 2 }, placement: { rows: 64 } }, keys: {}, label: '', summary: {} }
    const index = { runs: [info] } as unknown as Index
    expect(checkState(state, index).problems).toEqual([])
    expect(checkState({ ...state, ranks: '7' }, index).problems[0]).toMatch(/^ranks: unknown job 7/)
    expect(checkState({ ...state, ranks: 'tilted' }, index).problems[0]).toMatch(/for instance 0 or/)
    const without = { runs: [{ ...info, tables: { jobs: { rows: 2 } } }] } as unknown as Index
    expect(checkState(state, without).problems[0]).toMatch(/has no placement table/)
  })

  test('a grid must hold all ranks', () => {
    expect(gridProblem('8x8x8', 512)).toBe('')
    expect(gridProblem(' 8 × 64 ', 512)).toBe('')
    expect(gridProblem('8x8', 512)).toBe('8 x 8 = 64, but the job has 512 ranks')
    for (const text of ['8x', 'a', '0x512', '1.5x2']) expect(gridProblem(text, 512)).toMatch(/expected sizes/)
  })
})
