/** The main picture on a canvas: draws, zooms, pans, hovers, focuses. */
import { useCallback, useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { count, quantity } from '../base/format'
import {
  describeCable,
  describeGroup,
  describeLinks,
  describeRouter,
  describeStack,
  type Tip,
} from '../data/describe'
import type { Derived } from '../data/model'
import { linkName } from '../data/run'
import { looksFor } from '../draw/look'
import {
  accountOf,
  accountText,
  drawHighlight,
  drawPicture,
  type CableMarks,
  type Drawn,
} from '../draw/picture'
import { nearestCurve, nearestPoint } from '../layout/pick'
import { MARKS_MAX, type Picture } from '../layout/picture'
import { highlightOf, PictureContent, type Change } from './content'
import { useGestures } from './gestures'
import { geometryOf, LARGE, ThemeContext, useSession, useStore, type Hover } from './session'
import { prepareCanvas, useSize, type Size } from './size'

/** When the first picture was drawn, for the benchmark. */
const FIRST_PICTURE = 'odonata-first-picture'

/** At most so many curves while the range is dragged on a large machine. */
const MARKS_HURRIED = 4000

/** From scene units to CSS pixels. */
export interface View {
  readonly k: number
  readonly x: number
  readonly y: number
}

export function fit(picture: Picture, size: Size, zoom: readonly [number, number, number]): View {
  const scale = Math.min(size.width / picture.width, size.height / picture.height)
  const [k, x, y] = zoom
  const [left, top] = [(size.width - picture.width * scale) / 2, (size.height - picture.height * scale) / 2]
  return { k: scale * k, x: left + x * scale, y: top + y * scale }
}

export function PictureView({
  derived: d,
  title,
  compact = false,
  change = null,
}: {
  derived: Derived
  title?: string
  compact?: boolean
  change?: Change | null
}) {
  const session = useSession()
  const state = useStore(session.state)
  const hover = useStore(session.hover)
  const theme = useContext(ThemeContext)
  const frame = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const overlay = useRef<HTMLCanvasElement>(null)
  const size = useSize(frame)
  const [drawn, setDrawn] = useState<Drawn | null>(null)
  const content = useMemo(() => new PictureContent(), [d.run])
  const picture = geometryOf(d.run).picture(state.projection)
  const looks = looksFor(theme, state.ramp, d.signed)
  const view = fit(picture, size, state.zoom)
  const hurried = useStore(session.dragging) && d.run.links.count > LARGE
  const data = content.data(picture, d, state, hurried, change)

  useEffect(() => {
    if (!canvas.current || size.width === 0) return
    const context = prepareCanvas(canvas.current, size)
    context.translate(view.x, view.y)
    context.scale(view.k, view.k)
    setDrawn(drawPicture(context, picture, data, looks, 1 / view.k, hurried ? MARKS_HURRIED : MARKS_MAX))
    if (performance.getEntriesByName(FIRST_PICTURE).length === 0) performance.mark(FIRST_PICTURE)
  }, [data, picture, looks, size, state.zoom])

  useEffect(() => {
    if (!overlay.current || size.width === 0) return
    const context = prepareCanvas(overlay.current, size)
    context.translate(view.x, view.y)
    context.scale(view.k, view.k)
    drawHighlight(context, picture, highlightOf(d.run, picture, hover, d), looks, 1 / view.k)
  }, [hover, d.focus, d.run, picture, looks, size, state.zoom])

  const hit = useCallback(
    (event: { clientX: number; clientY: number }): (Hover & { focus: string }) | null => {
      const box = frame.current!.getBoundingClientRect()
      const [x, y] = [
        (event.clientX - box.left - view.x) / view.k,
        (event.clientY - box.top - view.y) / view.k,
      ]
      const at = { run: d.run, x: event.clientX, y: event.clientY }
      const router = nearestPoint(picture.routers, x, y, Math.max(picture.routerRadius * 1.2, 2 / view.k))
      if (router >= 0 && picture.routerRadius * view.k > 0.8)
        return { ...at, ...routerHit(d, picture, router, data.routers.job) }
      const mark = drawn ? nearestCurve(picture.curves, drawn.visible, x, y, 5 / view.k) : -1
      if (mark >= 0) return { ...at, ...markHit(d, picture, mark) }
      const cable =
        change && data.cables ? cableHit(change, data.cables, state.projection, x, y, 4 / view.k) : null
      if (cable) return { ...at, links: [], routers: [], groups: [], tip: cable, focus: '' }
      const group = sectorAt(picture, x, y)
      if (group >= 0)
        return {
          ...at,
          links: [],
          routers: [],
          groups: [group],
          tip: describeGroup(d, group),
          focus: `group:${group}`,
        }
      return null
    },
    [d, picture, view.k, view.x, view.y, drawn, data, change],
  )

  const gestures = useGestures(size, picture, hit)
  const carrying = drawn?.wanted ?? 0
  const summary = `${count(drawn?.drawn ?? 0)} of ${count(picture.marks.count)} ${picture.markNoun} drawn`
  const account = useMemo(
    () =>
      drawn && !hurried && drawn.visible.length === picture.marks.count
        ? accountText(
            accountOf(picture, data.marks, drawn, { values: d.values, selected: d.selection.selected }),
            picture,
            d.signed,
          )
        : '',
    [drawn],
  )
  const missing = drawn && drawn.drawn < carrying ? `, the strongest of ${count(carrying)}` : ''
  return (
    <figure class="picture">
      {title !== undefined && <figcaption class="picture-title">{title}</figcaption>}
      <div
        class="canvas-frame"
        ref={frame}
        {...gestures}
        tabIndex={0}
        role="application"
        aria-label={`Picture of the machine. ${picture.reading}`}
      >
        <canvas ref={canvas} />
        <canvas ref={overlay} class="overlay" />
      </div>
      <p class="reading" data-test="drawn">
        {summary}
        {missing}
        {account}
        {!compact && `. ${picture.reading}`}
      </p>
    </figure>
  )
}

type Hit = Pick<Hover, 'links' | 'routers' | 'groups' | 'tip'> & { focus: string }

function routerHit(d: Derived, picture: Picture, router: number, jobs: Int32Array): Hit {
  const stack = picture.stacks?.members[picture.stacks.of[router]!] ?? [router]
  if (stack.length > 1)
    return { links: [], routers: [router], groups: [], tip: describeStack(d, stack, jobs), focus: '' }
  const tip = describeRouter(d, router, jobs[router]!)
  return { links: [], routers: [router], groups: [], tip, focus: `router:${d.run.routers.names.at(router)}` }
}

function markHit(d: Derived, picture: Picture, mark: number): Hit {
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

/** What a removed or added cable carried. */
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
  return describeCable(run, link, link < removed, quantity(cableValues[link]!, derived.measure.unit))
}

function sectorAt(picture: Picture, x: number, y: number): number {
  const { ring } = picture
  if (!ring) return -1
  const radius = Math.hypot(x - ring.centre, y - ring.centre)
  if (radius < ring.inner || radius > ring.bandOuter + 30) return -1
  const angle = (Math.atan2(x - ring.centre, ring.centre - y) + 2 * Math.PI) % (2 * Math.PI)
  return ring.sectors.find((sector) => angle >= sector.start && angle <= sector.end)?.group ?? -1
}
