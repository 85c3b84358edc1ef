/** Virtual channels: values of one VC, or of all VCs of a kind. */
import type { Block } from './block'
import type { Measure, Run } from './run'
import { isMeasure, type Index, type RunInfo } from './source'

export interface Channel {
  /** `vc0`, `dynamic` or `share`; empty for all VCs. */
  readonly id: string
  readonly label: string
  readonly numbers: readonly number[]
}

export const CHANNELS = 'channels'

/** Share of the dynamic VCs in the total. */
const SHARE = 'share'

const words = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

/** The choices that a run offers; none if it records no VCs. */
export function channelsOf(info: RunInfo): Channel[] {
  const { count, kinds } = shapeOf(info)
  if (count === 0) return []
  const numbers = Array.from({ length: count }, (_, vc) => vc)
  const found = [...new Set(kinds)].map((kind) => ({
    id: kind,
    label: kind,
    numbers: numbers.filter((vc) => kinds[vc] === kind),
  }))
  const dynamic = found.find(({ id }) => id === 'dynamic')
  const share = dynamic && found.length > 1 ? [{ ...dynamic, id: SHARE, label: 'dynamic share' }] : []
  const single = numbers.map((vc) => ({ id: `vc${vc}`, label: `channel ${vc}`, numbers: [vc] }))
  return [...found, ...share, ...(count > 1 ? single : [])]
}

function shapeOf(info: RunInfo): { count: number; kinds: string[] } {
  const { packet } = info.summary
  const rows = info.tables[CHANNELS]?.rows ?? 0
  const count = packet?.virtual_channels ?? 0
  if (count === 0 || rows !== count * info.summary.machine.links) return { count: 0, kinds: [] }
  return { count, kinds: words(packet?.virtual_channel_kinds) }
}

/** Choices that all visible runs offer: runs with and without VC records are not mixed. */
export function commonChannels(index: Index, seen: readonly number[]): Channel[] {
  const [first, ...others] = seen.map((run) => {
    const info = index.runs[run]
    return info ? channelsOf(info) : []
  })
  const inAll = (id: string): boolean => others.every((channels) => channels.some((one) => one.id === id))
  return (first ?? []).filter(({ id }) => inAll(id))
}

/** Measures of a run's VC table. */
export const channelColumns = (info: RunInfo): string[] =>
  Object.entries(info.tables[CHANNELS]?.columns ?? {}).flatMap(([name, column]) =>
    isMeasure(column) ? [name] : [],
  )

/** The run restricted to one channel. The block has a row per link and VC, in this order. */
export function inChannels(run: Run, block: Block, channel: Channel): Run {
  const declared = run.info.tables[CHANNELS]!.columns
  const count = block.rows / run.links.count
  const measures = channelColumns(run.info).flatMap((id): Measure[] => {
    const values = block.numbers.get(id)
    if (!values) return []
    const { label, unit, merge } = declared[id]!
    const largest = merge === 'max'
    const over = (numbers: readonly number[]): Float64Array =>
      Float64Array.from({ length: run.links.count }, (_, l) =>
        numbers.reduce((sum, vc) => {
          const value = values[l * count + vc]!
          return largest ? Math.max(sum, value) : sum + value
        }, 0),
      )
    const mine = over(channel.numbers)
    if (channel.id !== SHARE)
      return [
        {
          id,
          label: `${label}, ${channel.label}${channel.id.startsWith('vc') ? '' : ' channels'}`,
          unit,
          merge,
          total: mine,
          perJob: null,
        },
      ]
    if (merge !== 'sum') return []
    const all = over(Array.from({ length: count }, (_, vc) => vc))
    const total = mine.map((value, l) => (all[l]! > 0 ? value / all[l]! : 0))
    return [
      { id, label: `${label}, share of dynamic channels`, unit: 'share', merge: 'mean', total, perJob: null },
    ]
  })
  return { ...run, measures, whole: run }
}
