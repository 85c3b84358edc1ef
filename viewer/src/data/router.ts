/** Details of one router: its links, their virtual channels, and the injection FIFOs of its nodes. */
import type { Block } from './block'
import type { Run } from './run'

/** Outgoing links in port order. */
export const linksFrom = (run: Run, router: number): number[] =>
  Array.from(run.links.source.keys()).filter((l) => run.links.source[l] === router)

/** Values per link and VC. The block has a row per link and VC, in this order. */
export function channelValues(run: Run, block: Block, column: string, links: readonly number[]): number[][] {
  const values = block.numbers.get(column)
  const count = block.rows / run.links.count
  return links.map((l) => Array.from({ length: count }, (_, vc) => values?.[l * count + vc] ?? 0))
}

export const FIFOS = 'fifos'
export const FIFO_COLUMNS = [
  'node',
  'fifo',
  'packets',
  'busy_ps',
  'memory_fifo_ps',
  'hol_blocked_ps',
  'head_stall_ps',
]

interface Fifo {
  readonly node: number
  readonly fifo: number
  readonly packets: number
  readonly busy: number
  /** Per packet in picoseconds: in the memory FIFO, blocked behind other packets, at the head. */
  readonly memory: number
  readonly behind: number
  readonly head: number
}

/** Torus FIFOs of the router's nodes. */
export function fifosOf(run: Run, block: Block, router: number): Fifo[] {
  const column = (name: string, row: number): number => block.numbers.get(name)?.[row] ?? 0
  const found: Fifo[] = []
  for (let row = 0; row < block.rows; row++) {
    const node = column('node', row)
    if (run.nodes.router[node] !== router) continue
    const packets = column('packets', row)
    const each = (name: string): number => (packets > 0 ? column(name, row) / packets : 0)
    found.push({
      node,
      fifo: column('fifo', row),
      packets,
      busy: column('busy_ps', row),
      memory: each('memory_fifo_ps'),
      behind: each('hol_blocked_ps'),
      head: each('head_stall_ps'),
    })
  }
  return found
}
