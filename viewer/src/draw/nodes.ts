/** Draws the nodes around the ring: a tick each, in its job's colour. */
import { SEVERAL } from '../data/run'
import type { Ring } from '../layout/picture'
import type { Looks } from './look'
import type { Pen } from './pen'

const PATH_NODES = 200

/** `jobs`: a job's number for every node, IDLE or SEVERAL. */
export function drawNodes(
  pen: Pen,
  ring: Ring,
  jobs: Int32Array,
  jobColors: readonly string[],
  { palette }: Looks,
): void {
  const { nodes, centre, nodesInner, nodesOuter } = ring
  if (!nodes) return
  const byColor = new Map<string, number[]>()
  jobs.forEach((job, n) => {
    const color = job === SEVERAL ? palette.ink : (jobColors[job] ?? palette.line)
    const list = byColor.get(color)
    if (list) list.push(n)
    else byColor.set(color, [n])
  })
  for (const [color, list] of byColor) {
    pen.fillStyle = color
    pen.beginPath()
    list.forEach((n, i) => {
      // The cost of a path grows faster than its length.
      if (i % PATH_NODES === PATH_NODES - 1) {
        pen.fill()
        pen.beginPath()
      }
      // A fifth is left free, so that neighbours of one job are told apart where there is room.
      const [start, end] = [nodes[2 * n]!, nodes[2 * n + 1]!]
      const [from, to] = [start + 0.1 * (end - start), end - 0.1 * (end - start)]
      const at = (angle: number, radius: number): [number, number] => [
        centre + radius * Math.sin(angle),
        centre - radius * Math.cos(angle),
      ]
      pen.moveTo(...at(from, nodesInner))
      pen.lineTo(...at(from, nodesOuter))
      pen.lineTo(...at(to, nodesOuter))
      pen.lineTo(...at(to, nodesInner))
      pen.closePath()
    })
    pen.fill()
  }
}
