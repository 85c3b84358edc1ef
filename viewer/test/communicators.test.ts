/** Communicators inferred from messages, hand-solved. */
import { describe, expect, it } from 'vitest'
import type { Block } from '../src/data/block'
import { communicatorsOf, ranksOf, readChoice, routersWith, writeChoice } from '../src/data/communicators'
import { makeRun } from './machines'

const table = (columns: Record<string, readonly number[]>): Block => ({
  rows: Object.values(columns)[0]!.length,
  numbers: new Map(Object.entries(columns).map(([name, values]) => [name, Float64Array.from(values)])),
  coded: new Map(),
  strings: new Map(),
})

// In job 1, communicator 0 has all ranks; communicator 4 has {0, 2, 6, 7} (joined last by 7) and {1, 3}.
const messages = table({
  job: [0, 1, 1, 1, 1, 1, 1],
  source: [5, 0, 6, 7, 3, 2, 1],
  destination: [9, 3, 7, 6, 1, 7, 3],
  communicator: [4, 0, 4, 4, 4, 4, 4],
  bytes: [1, 10, 2, 3, 4, 5, 6],
})
const more = table({
  job: [1, 1],
  source: [2, 0],
  destination: [0, 6],
  communicator: [4, 4],
  bytes: [1, 1],
})

describe('communicators', () => {
  it('are groups of ranks that exchange messages', () => {
    const [all, four, ...others] = communicatorsOf(messages, 1)
    expect(others).toEqual([])
    expect(all).toEqual({ number: 0, groups: [[0, 3]], messages: 1, bytes: 10 })
    expect(four).toEqual({
      number: 4,
      groups: [
        [1, 3],
        [2, 6, 7],
      ],
      messages: 5,
      bytes: 20,
    })
    expect(communicatorsOf(more, 1)[0]!.groups).toEqual([[0, 2, 6]])
    expect(communicatorsOf(messages, 2)).toEqual([])
  })

  it('are chosen by a text that is in the address', () => {
    for (const text of ['0.4', '1.4.12']) expect(writeChoice(readChoice(text)!)).toBe(text)
    for (const text of ['', '1', '1.', '1.2.', 'a.b', '1.2.3.4', '-1.2']) expect(readChoice(text)).toBeNull()
  })

  it('stand on the routers of their ranks', () => {
    const found = communicatorsOf(messages, 1)
    expect([...ranksOf(found, { job: 1, communicator: 4, group: -1 })]).toEqual([1, 3, 2, 6, 7])
    const ranks = ranksOf(found, { job: 1, communicator: 4, group: 1 })
    const run = makeRun({
      name: 'line',
      shape: 'graph',
      axes: ['router'],
      routers: [[0], [1], [2]],
      groupOf: () => 0,
      wires: [
        { source: 0, target: 1, class: 'local' },
        { source: 1, target: 2, class: 'local' },
      ],
    })
    const { nodes } = run
    const where = { ...run, nodes: { ...nodes, router: Uint32Array.from([0, 1, 2, 2]) } }
    // Rank 2 of the other job is on the second router and must not count.
    const placement = table({ job: [0, 1, 1, 1, 1], rank: [2, 2, 6, 7, 1], node: [1, 0, 2, 3, 1] })
    expect([...routersWith(where as typeof run, placement, 1, ranks)]).toEqual([1, 0, 1])
    expect(ranksOf(found, { job: 1, communicator: 9, group: 0 }).size).toBe(0)
    expect(ranksOf(found, { job: 1, communicator: 4, group: 7 }).size).toBe(0)
  })
})
