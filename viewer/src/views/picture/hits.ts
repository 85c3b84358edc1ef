/** Hit testing and keyboard stops of a machine picture. */
import type { RefObject } from 'preact'
import { count, quantity } from '../../base/format'
import {
  describeCable,
  describeGroup,
  describeLinks,
  describeNode,
  describeRouter,
  describeStack,
  type Tip,
} from '../../data/describe'
import type { DerivedRun } from '../../data/model'
import { placesText, type RankPlaces } from '../../data/ranks'
import { linkName } from '../../data/run'
import type { DrawnMarks } from '../../draw/account'
import type { View } from '../../draw/messages'
import type { CableMarks, PictureData } from '../../draw/picture'
import { middleOf, nearestCurve, nearestPoint } from '../../layout/pick'
import type { Picture, Ring } from '../../layout/picture'
import type { Change } from './content'
import { geometryOf, useFocusOn, type Hover } from '../session/session'
import { useSteps, type Step } from '../canvas/steps'

/** Page coordinates. */
export type Point = Readonly<Pick<MouseEvent, 'clientX' | 'clientY'>>

/** A drawn picture and its position. */
interface PictureOnPage {
  readonly frame: RefObject<HTMLDivElement | null>
  readonly view: View
  readonly picture: Picture
  readonly data: PictureData
  readonly drawn: DrawnMarks
  readonly change: Change | null
}

export function hitAt(
  { frame, view, picture, data, drawn, change }: PictureOnPage,
  d: DerivedRun,
  projection: string,
  event: Point,
): (Hover & { focus: string }) | null {
  const box = frame.current!.getBoundingClientRect()
  const [x, y] = [(event.clientX - box.left - view.x) / view.k, (event.clientY - box.top - view.y) / view.k]
  const at = { run: d.run, x: event.clientX, y: event.clientY }
  const router = nearestPoint(picture.routers, x, y, Math.max(picture.routerRadius * 1.2, 2 / view.k))
  if (router >= 0 && picture.routerRadius * view.k > 0.8)
    return { ...at, ...routerHit(d, picture, router, data) }
  const mark = nearestCurve(picture.curves, drawn.visible, x, y, 5 / view.k)
  if (mark >= 0) return { ...at, ...markHit(d, picture, mark) }
  const cable = change && data.cables ? cableHit(change, data.cables, projection, x, y, 4 / view.k) : null
  if (cable) return { ...at, links: [], routers: [], groups: [], tip: cable, focus: '' }
  const node = nodeAt(picture, x, y)
  if (node >= 0) {
    const router = d.run.nodes.router[node]!
    const focus = `router:${d.run.routers.names.at(router)}`
    return { ...at, links: [], routers: [router], groups: [], tip: describeNode(d.run, node), focus }
  }
  const group = sectorAt(picture, x, y)
  if (group < 0) return null
  const tip = describeGroup(d, group)
  return { ...at, links: [], routers: [], groups: [group], tip, focus: `group:${group}` }
}

/** A mark, or a router with Shift. */
type Stop = { readonly mark: number } | { readonly router: number }

/** Drawn marks, largest first; with Shift, routers in order. */
export function useMarkSteps(shown: PictureOnPage, d: DerivedRun): (event: KeyboardEvent) => boolean {
  const { frame, view, picture, data, drawn } = shown
  const focusOn = useFocusOn()
  const marks = (): Stop[] => {
    const found: number[] = []
    drawn.visible.forEach((visible, mark) => visible === 1 && found.push(mark))
    const size = (mark: number): number => Math.abs(data.marks.values[mark]!)
    return found.sort((a, b) => size(b) - size(a) || a - b).map((mark) => ({ mark }))
  }
  const routers = (): Stop[] => Array.from({ length: d.run.routers.count }, (_, router) => ({ router }))
  const show = (stop: Stop): Step => {
    const { focus, ...hit } =
      'mark' in stop ? markHit(d, picture, stop.mark) : routerHit(d, picture, stop.router, data)
    const [x, y] =
      'mark' in stop
        ? middleOf(picture.curves, stop.mark)
        : [picture.routers[2 * stop.router]!, picture.routers[2 * stop.router + 1]!]
    const box = frame.current!.getBoundingClientRect()
    const place = { x: box.left + view.x + x * view.k, y: box.top + view.y + y * view.k }
    return { hover: { run: d.run, ...hit, ...place }, enter: () => focusOn(focus) }
  }
  return useSteps(marks, show, [d.run, picture, data.marks, drawn], routers)
}

type Hit = Pick<Hover, 'links' | 'routers' | 'groups' | 'tip'> & { focus: string }

function routerHit(d: DerivedRun, picture: Picture, router: number, data: PictureData): Hit {
  const jobs = data.routers.job
  const stack = picture.stacks?.members[picture.stacks.of[router]!] ?? [router]
  if (stack.length > 1)
    return { links: [], routers: [router], groups: [], tip: describeStack(d, stack, jobs), focus: '' }
  const tip = withRanks(describeRouter(d, router, jobs[router]!), d, router, data.places)
  return { links: [], routers: [router], groups: [], tip, focus: `router:${d.run.routers.names.at(router)}` }
}

/** Adds the rank if routers are coloured by rank. */
function withRanks(tip: Tip, { run }: DerivedRun, router: number, places: RankPlaces | null): Tip {
  if (!places || places.first[router] === -1) return tip
  const [rank, ranks] = [places.first[router]!, places.ranks[router]!]
  const what = places.choice.grid.length === 0 ? '' : `, at ${places.values[router]}`
  const more = ranks > 1 ? ` (the least of ${count(ranks)})` : ''
  return { ...tip, rows: [...tip.rows, [`The ${placesText(run, places)}`, `${count(rank)}${more}${what}`]] }
}

function markHit(d: DerivedRun, picture: Picture, mark: number): Hit {
  const { marks, markNoun } = picture
  const links = [...marks.links.subarray(marks.offsets[mark], marks.offsets[mark + 1])]
  const { source, target } = d.run.links
  const [from, to] = [d.run.routers.group[source[links[0]!]!]!, d.run.routers.group[target[links[0]!]!]!]
  const bundled = markNoun === 'pairs of groups'
  const title = bundled
    ? `group ${from} to group ${to}`
    : markNoun === 'links'
      ? ''
      : `${count(links.length)} links in one mark`
  const focus =
    links.length === 1 ? `link:${linkName(d.run, links[0]!)}` : bundled ? `pair:${from}>${to}` : ''
  return { links, routers: [], groups: [], tip: describeLinks(d, links, title), focus }
}

/** Tooltip of a removed or added cable. */
function cableHit(
  { difference, cableValues, derived }: Change,
  cables: CableMarks,
  projection: string,
  x: number,
  y: number,
  tolerance: number,
): Tip | null {
  const { run, removed } = difference.cables
  const { marks } = geometryOf(run).picture(projection)
  const shown = new Uint8Array(marks.count)
  for (const mark of [...cables.removed, ...cables.added]) shown[mark] = 1
  const mark = nearestCurve(cables.curves, shown, x, y, tolerance)
  if (mark < 0) return null
  const link = marks.links[marks.offsets[mark]!]!
  return describeCable(run, link, link < removed, quantity(cableValues[link]!, derived.sides[0]!.unit))
}

function nodeAt({ rings }: Picture, x: number, y: number): number {
  for (const ring of rings) {
    const { radius, angle } = inRing(ring, x, y)
    if (!ring.nodes || radius < ring.nodesInner || radius > ring.nodesOuter) continue
    for (let n = 0; 2 * n < ring.nodes.length; n++)
      if (angle >= ring.nodes[2 * n]! && angle < ring.nodes[2 * n + 1]!) return ring.nodeNumbers[n]!
  }
  return -1
}

function sectorAt({ rings }: Picture, x: number, y: number): number {
  for (const ring of rings) {
    const { radius, angle } = inRing(ring, x, y)
    if (radius < ring.inner || radius > ring.bandOuter + 30) continue
    const found = ring.sectors.find((sector) => angle >= sector.start && angle <= sector.end)
    if (found) return found.group
  }
  return -1
}

/** Polar coordinates; the angle is clockwise from the top. */
const inRing = (ring: Ring, x: number, y: number): { radius: number; angle: number } => ({
  radius: Math.hypot(x - ring.x, y - ring.y),
  angle: (Math.atan2(x - ring.x, ring.y - y) + 2 * Math.PI) % (2 * Math.PI),
})
