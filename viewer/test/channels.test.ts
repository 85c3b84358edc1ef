/** Virtual channels, hand-solved: choices and values. */
import { describe, expect, it } from 'vitest'
import { channelsOf, commonChannels, inChannels } from '../src/data/channels'
import type { Block } from '../src/data/block'
import type { Run } from '../src/data/run'
import type { Index } from '../src/data/source'
import { channelValues, fifosOf, linksFrom } from '../src/data/router'
import { makeRun } from './machines'

const line = makeRun({
  name: 'line',
  shape: 'graph',
  axes: ['router'],
  routers: [[0], [1]],
  groupOf: () => 0,
  wires: [
    { source: 0, target: 1, class: 'local' },
    { source: 1, target: 0, class: 'local' },
  ],
})

const columns = {
  bytes: { type: 'f64', unit: 'bytes', merge: 'sum', label: 'Traffic' },
  peak_bytes: { type: 'f64', unit: 'bytes', merge: 'max', label: 'Peak occupancy' },
} as const

function recorded(kinds: readonly string[]): Run {
  const packet = { virtual_channels: 3, virtual_channel_kinds: kinds }
  const info = {
    ...line.info,
    summary: { ...line.info.summary, packet },
    tables: { ...line.info.tables, channels: { rows: 6, columns } },
  }
  return { ...line, info }
}

const block: Block = {
  rows: 6,
  numbers: new Map([
    ['bytes', Float64Array.from([10, 20, 70, 0, 0, 0])],
    ['peak_bytes', Float64Array.from([5, 9, 7, 1, 2, 3])],
  ]),
  coded: new Map(),
  strings: new Map(),
}

const torus = recorded(['deterministic', 'dynamic', 'dynamic'])
const ids = (run: Run): string[] => channelsOf(run.info).map(({ id }) => id)

describe('virtual channels', () => {
  it('are offered by kind and singly if recorded', () => {
    expect(ids(torus)).toEqual(['deterministic', 'dynamic', 'share', 'vc0', 'vc1', 'vc2'])
    expect(ids(recorded([]))).toEqual(['vc0', 'vc1', 'vc2'])
    expect(ids(line)).toEqual([])
  })

  it('are summed, or take the maximum, as the column is merged', () => {
    const shown = (id: string): Record<string, number[]> => {
      const run = inChannels(
        torus,
        block,
        channelsOf(torus.info).find((one) => one.id === id)!,
      )
      expect(run.whole).toBe(torus)
      return Object.fromEntries(run.measures.map((measure) => [measure.id, [...measure.total]]))
    }
    expect(shown('dynamic')).toEqual({ bytes: [90, 0], peak_bytes: [9, 3] })
    expect(shown('deterministic')).toEqual({ bytes: [10, 0], peak_bytes: [5, 1] })
    expect(shown('vc2')).toEqual({ bytes: [70, 0], peak_bytes: [7, 3] })
    // A maximum has no share; a link without traffic has share 0.
    expect(shown('share')).toEqual({ bytes: [0.9, 0] })
  })

  it('are offered only if all visible runs have them', () => {
    const index = { runs: [torus.info, line.info, recorded([]).info] } as unknown as Index
    const offeredFigures = (seen: number[]): string[] => commonChannels(index, seen).map(({ id }) => id)
    expect(offeredFigures([0])).toEqual(ids(torus))
    expect(offeredFigures([0, 1])).toEqual([])
    expect(offeredFigures([1, 0])).toEqual([])
    expect(offeredFigures([0, 2])).toEqual(['vc0', 'vc1', 'vc2'])
  })
})

describe('a router close up', () => {
  it('has the channels of the links that leave it', () => {
    expect([linksFrom(line, 0), linksFrom(line, 1)]).toEqual([[0], [1]])
    expect(channelValues(torus, block, 'bytes', [1, 0])).toEqual([
      [0, 0, 0],
      [10, 20, 70],
    ])
  })

  it('has the FIFOs of its nodes, with the waits of a packet', () => {
    const columns = { node: [0, 1, 1], fifo: [0, 0, 1], packets: [1, 4, 0], busy_ps: [9, 8, 0] }
    const waits = { memory_fifo_ps: [5, 40, 0], hol_blocked_ps: [5, 20, 0], head_stall_ps: [5, 2, 0] }
    const numbers = new Map(
      Object.entries({ ...columns, ...waits }).map(([name, values]) => [name, Float64Array.from(values)]),
    )
    const found = fifosOf(line, { rows: 3, numbers, coded: new Map(), strings: new Map() }, 1)
    expect(found).toEqual([
      { node: 1, fifo: 0, packets: 4, busy: 8, memory: 10, behind: 5, head: 0.5 },
      { node: 1, fifo: 1, packets: 0, busy: 0, memory: 0, behind: 0, head: 0 },
    ])
  })
})
