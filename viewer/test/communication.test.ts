import { expect, test } from 'vitest'
import type { Block } from '../src/data/block'
import { minCellSize, placedDensity } from '../src/data/placement'
import { sumOf, communicationPairs } from '../src/data/communication'
import { tiny } from './machines'

/** Rows of job, sending and receiving rank, messages, bytes. */
function tableOf(rows: readonly (readonly [number, number, number, number, number])[]): Block {
  const column = (i: number) => Float64Array.from(rows, (row) => row[i]!)
  const numbers = new Map<string, Float64Array | Uint32Array>([
    ['job', column(0)],
    ['source', column(1)],
    ['destination', column(2)],
    ['ranks_per_cell', new Uint32Array(rows.length).fill(1)],
    ['messages', column(3)],
    ['bytes', column(4)],
  ])
  return { rows: rows.length, numbers, coded: new Map(), strings: new Map() }
}

const runOf = (label: string, ...jobs: string[]) => {
  const run = tiny({ jobs, traffic: () => jobs.map(() => 1) })
  return { ...run, label, jobs: run.jobs.map((job) => ({ ...job, ranks: 4 })) }
}

test('jobs are paired by name, not by number', () => {
  const before = {
    run: runOf('before', 'level 0', 'level 1', 'level 2'),
    table: tableOf([
      [0, 0, 1, 1, 10],
      [1, 2, 3, 5, 50],
      [1, 3, 2, 5, 40],
      [2, 0, 3, 7, 70],
    ]),
  }
  const after = {
    run: runOf('after', 'level 2', 'level 1'),
    table: tableOf([
      [0, 0, 1, 1, 7],
      [1, 0, 1, 2, 90],
    ]),
  }
  const pairs = communicationPairs(before, after, () => true)
  expect(
    pairs.map(({ here, there }) => [here.job.name, sumOf(here.map.values), there && sumOf(there.map.values)]),
  ).toEqual([
    ['level 0', 10, null],
    ['level 1', 90, 90],
    ['level 2', 70, 7],
  ])
  expect(pairs.map(({ here, there }) => [sumOf(here.map.messages), there?.run.label])).toEqual([
    [1, undefined],
    [10, 'after'],
    [7, 'after'],
  ])
})

test('hidden jobs are omitted; without another run there are no pairs', () => {
  const loaded = { run: runOf('alone', 'a', 'b'), table: tableOf([[1, 0, 1, 1, 3]]) }
  const pairs = communicationPairs(loaded, null, (job) => job !== 0)
  expect(pairs.map(({ here, there }) => [here.job.name, there])).toEqual([['b', null]])
})

test('a few cells among many are enlarged', () => {
  const filled = (cells: number) =>
    placedDensity(40, 40, (add) => {
      for (let i = 0; i < cells; i++) add(i, i, 1)
    })
  // A hundredth of 1,600 cells is 16.
  expect([0, 1, 15, 16, 40].map((cells) => minCellSize(filled(cells)))).toEqual([3, 3, 3, 1, 1])
})
