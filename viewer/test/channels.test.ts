/** Virtual channels of links, by hand: which there are to choose, and what is shown of them. */
import { describe, expect, it } from 'vitest'
import { channelsOf, commonChannels, inChannels } from '../src/data/channels'
import type { Block } from '../src/data/block'
import type { Run } from '../src/data/run'
import type { Index } from '../src/data/source'
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
  it('are offered by kind and one by one, where they are recorded', () => {
    expect(ids(torus)).toEqual(['deterministic', 'dynamic', 'share', 'vc0', 'vc1', 'vc2'])
    expect(ids(recorded([]))).toEqual(['vc0', 'vc1', 'vc2'])
    expect(ids(line)).toEqual([])
  })

  it('add up, or their largest counts, as the column is merged', () => {
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
    // A largest value has no share; a link that carries nothing has share 0.
    expect(shown('share')).toEqual({ bytes: [0.9, 0] })
  })

  it('are offered only where every run that is seen has them', () => {
    const index = { runs: [torus.info, line.info, recorded([]).info] } as unknown as Index
    const offered = (seen: number[]): string[] => commonChannels(index, seen).map(({ id }) => id)
    expect(offered([0])).toEqual(ids(torus))
    expect(offered([0, 1])).toEqual([])
    expect(offered([1, 0])).toEqual([])
    expect(offered([0, 2])).toEqual(['vc0', 'vc1', 'vc2'])
  })
})
