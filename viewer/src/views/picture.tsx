/** The main picture on a canvas: draws, zooms, pans, hovers, focuses. */
import { useCallback, useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { count } from '../base/format'
import { Memo } from '../base/memo'
import { aggregateMarks, groupJobTraffic, type MarkValues } from '../data/aggregate'
import { describeGroup, describeLinks, describeRouter, routerJobs } from '../data/describe'
import { translation } from '../data/focus'
import type { Derived } from '../data/model'
import { linkName, type Run } from '../data/run'
import { EMPTY, FILTERED } from '../data/scale'
import type { ViewState } from '../data/state'
import { looksFor } from '../draw/look'
import {
  drawHighlight,
  drawPicture,
  theRest,
  type Drawn,
  type Highlight,
  type PictureData,
} from '../draw/picture'
import { nearestCurve, nearestPoint } from '../layout/pick'
import { MARKS_MAX, type Picture } from '../layout/picture'
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

/** Everything that a picture shows of a run under the current settings. */
export class PictureContent {
  private readonly jobs = new Memo<Int32Array>()
  private readonly colors = new Memo<string[]>()
  private readonly all = new Memo<PictureData>()
  private slow: Pick<PictureData, 'bands' | 'routers'> | undefined
  private buffer: { picture: Picture; values: MarkValues } | undefined

  /** `hurried`: bands and routers stay as they were, while the range is dragged on a large machine. */
  data(picture: Picture, d: Derived, state: ViewState, hurried = false): PictureData {
    const keys = [
      picture,
      d.selection,
      d.scale,
      d.focus,
      d.counted,
      state.aggregate,
      state.jobs,
      state.routers,
    ]
    return this.all.get([...keys, hurried], () => {
      const slow = hurried && this.slow ? this.slow : this.detail(picture, d, state)
      this.slow = slow
      return {
        marks: this.marks(picture, d, state),
        scale: d.scale,
        jobColors: this.jobColors(d.run),
        ...slow,
      }
    })
  }

  private marks(picture: Picture, d: Derived, state: ViewState): MarkValues {
    const into = this.buffer?.picture === picture ? this.buffer.values : undefined
    const values = aggregateMarks(picture.marks, d.values, d.selection.selected, state.aggregate, into)
    this.buffer = { picture, values }
    return values
  }

  private jobColors(run: Run): string[] {
    return this.colors.get([run], () => {
      const colors = Array.from({ length: jobCount(run) }, () => '#888888')
      for (const job of run.jobs) colors[job.job] = job.color
      return colors
    })
  }

  private detail(picture: Picture, d: Derived, state: ViewState): Pick<PictureData, 'bands' | 'routers'> {
    const { run, selection, focus } = d
    const { perJob } = d.measure
    const { group, groups, up } = run.routers
    const narrowed = selection.count < run.links.count
    return {
      bands:
        picture.ring && perJob !== null && !d.signed
          ? groupJobTraffic(
              group,
              groups,
              jobCount(run),
              run.links,
              run.linkJobs,
              perJob,
              d.counted,
              selection.selected,
            )
          : null,
      routers: {
        job: this.jobs.get([run, state.jobs], () => routerJobs(run, (job) => state.jobs[job] === 'hidden')),
        shade: state.routers === 'value' ? routerShades(d) : null,
        active: focus && focus.job >= 0 ? routersOf(run, focus.job) : narrowed ? activeRouters(d) : null,
        up,
      },
    }
  }
}

function jobCount(run: Run): number {
  return run.jobs.reduce((n, job) => Math.max(n, job.job + 1), 0)
}

/** A router looks like the largest selected link that touches it. */
function routerShades({ run, values, selection, scale }: Derived): Uint8Array {
  const largest = new Float64Array(run.routers.count)
  const shades = new Uint8Array(run.routers.count).fill(FILTERED)
  for (let l = 0; l < run.links.count; l++) {
    if (selection.selected[l] === 0) continue
    for (const r of [run.links.source[l]!, run.links.target[l]!]) {
      shades[r] = EMPTY
      if (Math.abs(values[l]!) > Math.abs(largest[r]!)) largest[r] = values[l]!
    }
  }
  return shades.map((look, r) => (largest[r] === 0 ? look : scale.shade(largest[r]!)))
}

function routersOf(run: Run, job: number): Uint8Array {
  const routers = new Uint8Array(run.routers.count)
  run.nodes.job.forEach((of, n) => of === job && (routers[run.nodes.router[n]!] = 1))
  return routers
}

function activeRouters({ run, selection }: Derived): Uint8Array {
  const active = new Uint8Array(run.routers.count)
  for (let l = 0; l < run.links.count; l++)
    if (selection.selected[l] === 1) {
      active[run.links.source[l]!] = 1
      active[run.links.target[l]!] = 1
    }
  return active
}

/** The marks, routers and groups that a hover or the focus means in this picture. */
export function highlightOf(run: Run, picture: Picture, hover: Hover | null, d: Derived): Highlight {
  const marks = new Set<number>()
  const routers = new Set<number>()
  const groups = new Set<number>()
  const addLink = (l: number): void => {
    if (picture.marks.ofLink[l]! >= 0) marks.add(picture.marks.ofLink[l]!)
    routers.add(run.links.source[l]!).add(run.links.target[l]!)
  }
  if (hover) {
    const here = translation(hover.run, run)
    hover.links.slice(0, 400).forEach((l) => here.link(l) >= 0 && addLink(here.link(l)))
    hover.routers.forEach((r) => here.router(r) >= 0 && routers.add(here.router(r)))
    hover.groups.forEach((g) => groups.add(g))
  }
  const { focus } = d
  if (focus) {
    if (focus.link >= 0) addLink(focus.link)
    if (focus.router >= 0) routers.add(focus.router)
    else if (focus.group >= 0) groups.add(focus.group)
    if (focus.toGroup >= 0) groups.add(focus.toGroup)
  }
  return { marks: [...marks], routers: [...routers], groups: [...groups] }
}

export function PictureView({
  derived: d,
  title,
  compact = false,
}: {
  derived: Derived
  title?: string
  compact?: boolean
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
  const data = content.data(picture, d, state, hurried)

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
        return {
          ...at,
          links: [],
          routers: [router],
          groups: [],
          tip: describeRouter(d, router, data.routers.job[router]!),
          focus: `router:${d.run.routers.names.at(router)}`,
        }
      const mark = drawn ? nearestCurve(picture.curves, drawn.visible, x, y, 5 / view.k) : -1
      if (mark >= 0) {
        const links = [
          ...picture.marks.links.subarray(picture.marks.offsets[mark], picture.marks.offsets[mark + 1]),
        ]
        const { source, target } = d.run.links
        const [from, to] = [
          d.run.routers.group[source[links[0]!]!]!,
          d.run.routers.group[target[links[0]!]!]!,
        ]
        const title = picture.markNoun === 'links' ? '' : `group ${from} to group ${to}`
        const focus = links.length === 1 ? `link:${linkName(d.run, links[0]!)}` : `pair:${from}>${to}`
        return { ...at, links, routers: [], groups: [], tip: describeLinks(d, links, title), focus }
      }
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
    [d, picture, view.k, view.x, view.y, drawn, data],
  )

  const gestures = useGestures(size, picture, hit)
  const carrying = drawn?.wanted ?? 0
  const summary = `${count(drawn?.drawn ?? 0)} of ${count(picture.marks.count)} ${picture.markNoun} drawn`
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
        {!compact && `${drawn ? theRest(drawn, picture) : ''}. ${picture.reading}`}
      </p>
    </figure>
  )
}

function sectorAt(picture: Picture, x: number, y: number): number {
  const { ring } = picture
  if (!ring) return -1
  const radius = Math.hypot(x - ring.centre, y - ring.centre)
  if (radius < ring.inner || radius > ring.bandOuter + 30) return -1
  const angle = (Math.atan2(x - ring.centre, ring.centre - y) + 2 * Math.PI) % (2 * Math.PI)
  return ring.sectors.find((sector) => angle >= sector.start && angle <= sector.end)?.group ?? -1
}

/** Wheel zooms around the pointer, drag pans, a click focuses, a double click resets; so do the keys + - arrows 0. */
function useGestures(
  size: Size,
  picture: Picture,
  hit: (event: MouseEvent) => (Hover & { focus: string }) | null,
) {
  const session = useSession()
  const drag = useRef<{ x: number; y: number; moved: boolean } | null>(null)
  const scale = Math.min(size.width / picture.width, size.height / picture.height) || 1
  const zoomBy = (factor: number, px: number, py: number): void => {
    const [k, x, y] = session.state.get().zoom
    const next = Math.max(1, Math.min(64, k * factor))
    if (next === 1) return session.state.patch({ zoom: [1, 0, 0] })
    session.state.patch({ zoom: [next, px - ((px - x) * next) / k, py - ((py - y) * next) / k] })
  }
  const panBy = (dx: number, dy: number): void => {
    const [k, x, y] = session.state.get().zoom
    session.state.patch({ zoom: [k, x + dx, y + dy] })
  }
  /** The pointer in scene units before zooming. */
  const local = (event: MouseEvent): [number, number] => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
    return [
      (event.clientX - box.left - (size.width - picture.width * scale) / 2) / scale,
      (event.clientY - box.top - (size.height - picture.height * scale) / 2) / scale,
    ]
  }
  return {
    onWheel: (event: WheelEvent) => {
      event.preventDefault()
      zoomBy(Math.exp(-event.deltaY * 0.0015), ...local(event))
    },
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return
      drag.current = { x: event.clientX, y: event.clientY, moved: false }
      ;(event.currentTarget as HTMLElement).setPointerCapture(event.pointerId)
    },
    onPointerMove: (event: PointerEvent) => {
      const d = drag.current
      if (!d) return session.hover.set(hit(event))
      if (!d.moved && Math.hypot(event.clientX - d.x, event.clientY - d.y) < 4) return
      panBy((event.clientX - d.x) / scale, (event.clientY - d.y) / scale)
      drag.current = { x: event.clientX, y: event.clientY, moved: true }
    },
    onPointerUp: (event: PointerEvent) => {
      const moved = drag.current?.moved ?? true
      drag.current = null
      if (moved) return
      const focus = hit(event)?.focus ?? ''
      session.state.patch({ focus: focus === session.state.get().focus ? '' : focus })
    },
    onPointerLeave: () => session.hover.set(null),
    onDblClick: () => session.state.patch({ zoom: [1, 0, 0] }),
    onKeyDown: (event: KeyboardEvent) => {
      const middle: [number, number] = [picture.width / 2, picture.height / 2]
      const step = 60
      const actions: Record<string, () => void> = {
        '+': () => zoomBy(1.3, ...middle),
        '=': () => zoomBy(1.3, ...middle),
        '-': () => zoomBy(1 / 1.3, ...middle),
        '0': () => session.state.patch({ zoom: [1, 0, 0] }),
        ArrowLeft: () => panBy(step, 0),
        ArrowRight: () => panBy(-step, 0),
        ArrowUp: () => panBy(0, step),
        ArrowDown: () => panBy(0, -step),
      }
      const action = actions[event.key]
      if (!action || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      event.stopPropagation()
      action()
    },
  }
}
