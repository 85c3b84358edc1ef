/** The main picture on a canvas: draws, zooms, pans, hovers, focuses. */
import { useCallback, useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { count } from '../base/format'
import type { Derived } from '../data/model'
import { linkRows } from '../data/rows'
import { looksFor } from '../draw/look'
import { accountOf, accountText, drawHighlight, drawPicture, type Drawn } from '../draw/picture'
import { MARKS_MAX, type Picture } from '../layout/picture'
import { useMarkedRouters } from './communicators'
import { highlightOf, PictureContent, type Change } from './content'
import { useGestures } from './gestures'
import { hitAt, useMarkSteps, type Point, type View } from './hits'
import { geometryOf, LARGE, ThemeContext, useSession, useStore } from './session'
import { prepareCanvas, useSize, type Size } from './size'
import { TableButton } from './tables'

/** When the first picture was drawn, for the benchmark. */
const FIRST_PICTURE = 'odonata-first-picture'

/** At most so many curves while the range is dragged on a large machine. */
const MARKS_HURRIED = 4000

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
  const [canvas, overlay] = [useRef<HTMLCanvasElement>(null), useRef<HTMLCanvasElement>(null)]
  const size = useSize(frame)
  const [drawn, setDrawn] = useState<Drawn | null>(null)
  const content = useMemo(() => new PictureContent(), [d.run])
  const marked = useMarkedRouters(d.run)
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
    drawHighlight(context, picture, highlightOf(d.run, picture, hover, d, state), looks, 1 / view.k)
  }, [hover, marked, d.focus, d.run, picture, looks, size, state.zoom])

  const place = { frame, view, picture, data, drawn, change }
  const hit = useCallback(
    (event: Point) => hitAt(place, d, state.projection, event),
    [d, picture, view.k, view.x, view.y, drawn, data, change],
  )
  const steps = useMarkSteps(place, d)
  const gestures = useGestures(size, picture, hit, steps)
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
        aria-label={`Picture of ${title ?? 'the machine'}. ${picture.reading} The keys . and , go from link to link.`}
      >
        <canvas ref={canvas} />
        <canvas ref={overlay} class="overlay" />
      </div>
      <div class="reading foot">
        <p data-test="drawn">
          {summary}
          {missing}
          {account}
          {!compact && `. ${picture.reading}`}
        </p>
        <TableButton
          of={`links of ${title ?? d.run.label}`}
          rows={() => linkRows(d, title ?? `Links of ${d.run.label}`)}
        />
      </div>
    </figure>
  )
}
