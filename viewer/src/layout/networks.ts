/** Several network planes: a picture of each, side by side. */
import { marksFrom } from '../data/aggregate'
import { Strings } from '../data/block'
import type { Axis, Run } from '../data/run'
import type { Box, Label, Picture, Ring } from './picture'

/** Names that a machine of several planes gives to its coordinates. */
const PLANE = 'plane'
const GROUP_IN_PLANE = 'group_in_plane'
const GAP = 60
const TITLE = 40

const planeAxis = ({ routers }: Run): Axis | undefined =>
  routers.axes.find(({ name, size }) => name === PLANE && size > 1)

export const hasNetworks = (run: Run): boolean => planeAxis(run) !== undefined

/** A plane as a machine of its own, and its numbers in the whole machine. */
export interface Network {
  readonly run: Run
  readonly routers: Uint32Array
  readonly links: Uint32Array
  readonly nodes: Uint32Array
  readonly firstGroup: number
}

export function networksOf(run: Run): Network[] {
  const axis = planeAxis(run)!
  return Array.from({ length: axis.size }, (_, plane) => networkOf(run, axis, plane))
}

function networkOf(run: Run, axis: Axis, plane: number): Network {
  const all = (count: number, is: (i: number) => boolean): Uint32Array =>
    Uint32Array.from({ length: count }, (_, i) => i).filter(is)
  const routers = all(run.routers.count, (r) => axis.values[r] === plane)
  const local = new Uint32Array(run.routers.count)
  routers.forEach((r, i) => (local[r] = i))
  const links = all(run.links.count, (l) => axis.values[run.links.source[l]!] === plane)
  const nodes = all(run.nodes.count, (n) => axis.values[run.nodes.router[n]!] === plane)
  const firstGroup = routers.reduce((least, r) => Math.min(least, run.routers.group[r]!), Infinity)
  const groups = routers.reduce((most, r) => Math.max(most, run.routers.group[r]! - firstGroup + 1), 0)
  const axes = run.routers.axes
    .filter(({ name }) => name !== PLANE)
    .map(({ name, size, values }) => ({
      name: name === GROUP_IN_PLANE ? 'group' : name,
      size,
      values: Uint32Array.from(routers, (r) => values[r]!),
    }))
  const network: Run = {
    ...run,
    shape: groups > 1 ? 'grouped' : 'graph',
    routers: {
      count: routers.length,
      names: Strings.from(Array.from(routers, (r) => run.routers.names.at(r))),
      group: Uint32Array.from(routers, (r) => run.routers.group[r]! - firstGroup),
      groups,
      axes,
      up: Uint8Array.from(routers, (r) => run.routers.up[r]!),
    },
    links: {
      ...run.links,
      count: links.length,
      source: Uint32Array.from(links, (l) => local[run.links.source[l]!]!),
      target: Uint32Array.from(links, (l) => local[run.links.target[l]!]!),
      class: Uint8Array.from(links, (l) => run.links.class[l]!),
      parallel: Uint16Array.from(links, (l) => run.links.parallel[l]!),
      capacity: Float64Array.from(links, (l) => run.links.capacity[l]!),
    },
    nodes: {
      ...run.nodes,
      count: nodes.length,
      router: Uint32Array.from(nodes, (n) => local[run.nodes.router[n]!]!),
    },
  }
  return { run: network, routers, links, nodes, firstGroup }
}

/** `pictureOf`: the picture of one plane. */
export function networksPicture(run: Run, pictureOf: (run: Run) => Picture): Picture {
  const networks = networksOf(run)
  const pictures = networks.map((network) => pictureOf(network.run))
  const [first] = pictures as [Picture, ...Picture[]]
  const columns = Math.ceil(Math.sqrt(pictures.length))
  const [width, height] = [first.width + GAP, first.height + TITLE]
  const curves = new Float32Array(pictures.reduce((sum, one) => sum + one.curves.length, 0))
  const routers = new Float32Array(2 * run.routers.count)
  const ofLink = new Int32Array(run.links.count).fill(-1)
  const labels: Label[] = []
  const rings: Ring[] = []
  const frames: Box[] = []
  let base = 0
  pictures.forEach((picture, plane) => {
    const network = networks[plane]!
    const [left, top] = [(plane % columns) * width, Math.floor(plane / columns) * height + TITLE]
    const shift = (value: number, i: number): number => value + (i % 2 === 0 ? left : top)
    curves.set(picture.curves.map(shift), 8 * base)
    network.routers.forEach((r, i) => {
      routers[2 * r] = picture.routers[2 * i]! + left
      routers[2 * r + 1] = picture.routers[2 * i + 1]! + top
    })
    network.links.forEach((l, i) => {
      const mark = picture.marks.ofLink[i]!
      if (mark >= 0) ofLink[l] = base + mark
    })
    frames.push(...picture.frames.map((box) => ({ ...box, x: box.x + left, y: box.y + top })))
    rings.push(
      ...picture.rings.map((ring) => ({
        ...ring,
        x: ring.x + left,
        y: ring.y + top,
        sectors: ring.sectors.map((sector) => ({ ...sector, group: sector.group + network.firstGroup })),
        nodeNumbers: network.nodes,
      })),
    )
    labels.push(
      {
        x: left + first.width / 2,
        y: top - 12,
        text: `plane ${plane}`,
        anchor: 'middle',
        size: 20,
        strong: true,
      },
      ...picture.labels.map((label) => ({
        ...label,
        x: label.x + left,
        y: label.y + top,
        // Groups have the numbers of the whole machine.
        text: picture.rings.length > 0 ? String(Number(label.text) + network.firstGroup) : label.text,
      })),
    )
    base += picture.marks.count
  })
  return {
    ...first,
    width: columns * width - GAP,
    height: Math.ceil(pictures.length / columns) * height,
    marks: marksFrom(ofLink, base),
    curves,
    routers,
    rings,
    frames,
    labels,
    reading: `Each picture is a network plane. ${first.reading}`,
  }
}
