/** Lanes of ranks, by hand. */
import { expect, test } from 'vitest'
import { Strings, type Block } from '../src/data/block'
import { lanesOf } from '../src/data/lanes'

const block = (
  columns: Record<string, readonly number[]>,
  texts: Record<string, readonly string[]> = {},
): Block => ({
  rows: Object.values(columns)[0]!.length,
  numbers: new Map(Object.entries(columns).map(([name, values]) => [name, Float64Array.from(values)])),
  coded: new Map(),
  strings: new Map(Object.entries(texts).map(([name, values]) => [name, Strings.from(values)])),
})

test('jobs with overlapping tasks have no lanes', () => {
  const ranks = block({ job: [0, 1], rank: [0, 0], node: [3, 4], start_ps: [0, 0], end_ps: [50, 60] })
  const spans = { job: [0, 1, 1], rank: [0, 0, 0], start_ps: [10, 0, 0], end_ps: [30, 60, 40] }
  const calls = block(spans, { name: ['send', 'recv', 'compute'] })
  const waits = block(
    { job: [0], rank: [0], start_ps: [15], end_ps: [25], peer: [1] },
    { event: ['receipt'] },
  )
  const lanes = lanesOf({ ranks, calls, rank_waits: waits })
  expect(lanes.map(({ job, inCalls, waiting }) => [job, inCalls, waiting])).toEqual([[0, 20, 10]])
})
