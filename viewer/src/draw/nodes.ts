/** Draws a tick per node around the ring, in the colour of its job. */
import { SEVERAL } from '../data/run'
import type { Ring } from '../layout/picture'
import type { LookTable } from './look'
import type { Pen } from './pen'

const PATH_NODES = 200

/** Args: // jobs: Job number per node, IDLE or SEVERAL. // pixel: Screen pixel in scene units. */
export function drawNodes(
  pen: Pen,
  ring: Ring,
  jobs: Int32Array,
  jobColors: readonly string[],
  { palette }: LookTable,
  pixel: number,
): void {
  const { nodes, nodeNumbers, nodesInner, nodesOuter } = ring
  if (!nodes) return
  const byColor = new Map<string, number[]>()
  nodeNumbers.forEach((number, n) => {
    const job = jobs[number]!
    const color = job === SEVERAL ? palette.ink : (jobColors[job] ?? palette.line)
    const list = byColor.get(color)
    if (list) list.push(n)
    else byColor.set(color, [n])
  })
  // A fifth stays free as a gap between neighbours, if there is room.
  const sum = nodes.reduce((all, angle, i) => all + (i % 2 === 0 ? -angle : angle), 0)
  const width = 0.8 * ((2 * sum) / nodes.length) * ((nodesInner + nodesOuter) / 2)
  pen.lineWidth = Math.min(width, 0.99 * pixel)
  for (const [color, list] of byColor) {
    pen.strokeStyle = pen.fillStyle = color
    for (let from = 0; from < list.length; from += PATH_NODES) {
      pen.beginPath()
      const end = Math.min(list.length, from + PATH_NODES)
      // Ticks below a pixel are drawn as hairlines (see curves.ts): ten times faster for Edison's 5,576
      // nodes.
      for (let i = from; i < end; i++)
        if (width < pixel) middleLine(pen, ring, nodes, list[i]!)
        else tick(pen, ring, nodes, list[i]!)
      if (width < pixel) pen.stroke()
      else pen.fill()
    }
  }
}

function middleLine(
  pen: Pen,
  { x: left, y: top, nodesInner, nodesOuter }: Ring,
  nodes: Float64Array,
  n: number,
): void {
  const angle = (nodes[2 * n]! + nodes[2 * n + 1]!) / 2
  const [x, y] = [Math.sin(angle), -Math.cos(angle)]
  pen.moveTo(left + nodesInner * x, top + nodesInner * y)
  pen.lineTo(left + nodesOuter * x, top + nodesOuter * y)
}

function tick(
  pen: Pen,
  { x: left, y: top, nodesInner, nodesOuter }: Ring,
  nodes: Float64Array,
  n: number,
): void {
  const [start, end] = [nodes[2 * n]!, nodes[2 * n + 1]!]
  const [from, to] = [start + 0.1 * (end - start), end - 0.1 * (end - start)]
  const at = (angle: number, radius: number): [number, number] => [
    left + radius * Math.sin(angle),
    top - radius * Math.cos(angle),
  ]
  pen.moveTo(...at(from, nodesInner))
  pen.lineTo(...at(from, nodesOuter))
  pen.lineTo(...at(to, nodesOuter))
  pen.lineTo(...at(to, nodesInner))
  pen.closePath()
}
