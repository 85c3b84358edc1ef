/** The interactive machine picture: draw, zoom, pan, hover, focus. */
import { useCallback, useContext, useMemo, useRef } from 'preact/hooks'
import { count } from '../../base/format'
import type { Headline } from '../../data/headline'
import type { DerivedRun } from '../../data/model'
import { DEFAULTS } from '../../data/state'
import { linkRows } from '../../data/rows'
import { looksFor } from '../../draw/look'
import { accountOf, accountText, visibleMarks } from '../../draw/account'
import { MARKS_MAX } from '../../layout/picture'
import { useMarkedRouters } from '../controls/communicators'
import { Callout } from './callout'
import { highlightOf, PictureContent, type Change } from './content'
import { fit, useDrawing, useHighlight, type DisplayedPicture } from './drawing'
import { useGestures } from './gestures'
import { hitAt, useMarkSteps, type Point } from './hits'
import { geometryOf, LARGE, ThemeContext, useSession, useStore } from '../session/session'
import { useRankPlaces } from '../controls/ranks'
import { MiniRamp } from '../canvas/miniramp'
import { useSize } from '../canvas/size'
import { TableButton } from '../tables/tables'
import './picture.css'

/** Maximum number of curves while a range is dragged on a large machine. */
const MARKS_REDUCED = 2000

/** Number of drawn marks and, unless reduced, the status of all links. */
function useAccount({ picture, data, drawn }: DisplayedPicture, d: DerivedRun, reduced: boolean): string {
  const summary = `${count(drawn.drawn)} of ${count(picture.marks.count)} ${picture.markNoun} drawn`
  const account = useMemo(
    () =>
      !reduced
        ? accountText(
            accountOf(picture, data.marks, drawn, { values: d.values, selected: d.selection.selected }),
            picture,
            d.signed,
          )
        : '',
    [drawn],
  )
  const missing = drawn.drawn < drawn.wanted ? `, the largest of ${count(drawn.wanted)}` : ''
  return `${summary}${missing}${account}`
}

/** Ends zoom and pan. */
function WholeMachine() {
  const { state } = useSession()
  return (
    <button
      class="whole-machine"
      title="Show the whole machine (0, or a double click)"
      onPointerDown={(event) => event.stopPropagation()}
      onClick={() => state.patch({ zoom: DEFAULTS.zoom })}
      data-test="whole-machine"
    >
      Whole machine
    </button>
  )
}

interface PictureViewProps {
  readonly derived: DerivedRun
  readonly title?: string
  readonly compact?: boolean
  readonly change?: Change | null
  /** A place with a label on the picture. */
  readonly callout?: Headline | null
  /** The runs that are shown side by side. */
  readonly peers?: readonly DerivedRun[]
}

export function PictureView({
  derived: d,
  title,
  compact = false,
  change = null,
  callout = null,
  peers = [d],
}: PictureViewProps) {
  const session = useSession()
  const state = useStore(session.state)
  const hover = useStore(session.hover)
  const theme = useContext(ThemeContext)
  const frame = useRef<HTMLDivElement>(null)
  const [canvas, overlay] = [useRef<HTMLCanvasElement>(null), useRef<HTMLCanvasElement>(null)]
  const size = useSize(frame)
  const content = useMemo(() => new PictureContent(), [d.run])
  const marked = useMarkedRouters(d.run)
  useRankPlaces(d.run)
  const picture = geometryOf(d.run).picture(state.projection)
  const looks = looksFor(theme, state.ramp, d.signed)
  const view = fit(picture, size, state.zoom)
  const reduced = useStore(session.dragging) && d.run.links.count > LARGE
  const data = content.data(picture, d, state, reduced, change, peers)

  const drawn = useMemo(() => visibleMarks(data.marks, reduced ? MARKS_REDUCED : MARKS_MAX), [data])

  const seen: DisplayedPicture = { picture, data, drawn, looks, size, view, zoom: state.zoom }
  useDrawing(canvas, seen)
  const account = useAccount(seen, d, reduced)
  useHighlight(overlay, seen, () => highlightOf(d.run, picture, hover, d, state), [
    hover,
    marked,
    d.focus,
    d.run,
  ])

  const place = { frame, view, picture, data, drawn, change }
  const hit = useCallback(
    (event: Point) => hitAt(place, d, state.projection, event),
    [d, picture, view.k, view.x, view.y, drawn, data, change],
  )
  const steps = useMarkSteps(place, d)
  const isZoomed = state.zoom.some((value, i) => value !== DEFAULTS.zoom[i])
  const gestures = useGestures(size, picture, hit, steps)
  return (
    <figure class="picture">
      {title !== undefined && <figcaption class="picture-title">{title}</figcaption>}
      <div
        class="canvas-frame"
        ref={frame}
        {...gestures}
        data-zoomed={isZoomed ? 'yes' : undefined}
        tabIndex={0}
        role="application"
        aria-label={`Picture of ${title ?? 'the machine'}. ${picture.reading} The keys . and , go from link to link.`}
      >
        <canvas ref={canvas} />
        <canvas ref={overlay} class="overlay" />
        {callout && <Callout of={callout} run={d.run} picture={picture} view={view} size={size} />}
        {isZoomed && <WholeMachine />}
      </div>
      <div class="reading foot">
        <p data-test="drawn" title={`${account}. ${picture.reading}`}>
          {account}
          {!compact && `. ${picture.reading}`}
          {data.scale !== d.scale && (
            <>
              {' '}
              Sum of each mark’s links: <MiniRamp scale={data.scale} unit={d.measure.unit} />
            </>
          )}
        </p>
        <TableButton
          of={`links of ${title ?? d.run.label}`}
          rows={() => linkRows(d, title ?? `Links of ${d.run.label}`)}
        />
      </div>
    </figure>
  )
}
