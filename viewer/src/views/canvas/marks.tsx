/** A canvas of marks (boxes, bars or dots) with tooltips, keyboard stops and an optional click action. */
import { useContext, useEffect, useMemo, useRef } from 'preact/hooks'
import type { Tip } from '../../data/describe'
import type { Run } from '../../data/run'
import { looksFor, type LookTable } from '../../draw/look'
import { ThemeContext, useSession, useStore } from '../session/session'
import { prepareCanvas, useSize, type Size } from './size'
import { useSteps } from './steps'

interface MarksProps<P extends Size> {
  /** Ends with the keyboard hint: "; the keys . and , select the next and previous box". */
  readonly label: string
  readonly test: string
  /** The run that the marks belong to. */
  readonly run: Run | undefined
  /** Dependencies of the picture, besides the width. */
  readonly of: readonly unknown[]
  picture(width: number): P
  draw(pen: CanvasRenderingContext2D, picture: P, looks: LookTable): void
  /** The mark at a point, -1 for none. */
  markAt(picture: P, x: number, y: number): number
  tip(picture: P, mark: number): Tip
  /** Keyboard order of the marks. */
  order(picture: P): number[]
  /** Tooltip position for keyboard stops. */
  place(picture: P, mark: number): { readonly x: number; readonly y: number }
  /** Action of click and Enter. */
  open?(picture: P, mark: number): void
}

export function Marks<P extends Size>(props: MarksProps<P>) {
  const session = useSession()
  const { ramp } = useStore(session.state)
  const looks = looksFor(useContext(ThemeContext), ramp, false)
  const frame = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const { width } = useSize(frame)
  const picture = useMemo(() => props.picture(width), [...props.of, width])
  useEffect(() => {
    if (canvas.current && width > 0) props.draw(prepareCanvas(canvas.current, picture), picture, looks)
  }, [picture, looks, width])
  const { run, open } = props
  const hoverOf = (mark: number, place: { x: number; y: number }) =>
    run && { run, links: [], routers: [], groups: [], tip: props.tip(picture, mark), ...place }
  const markAt = (event: MouseEvent): number => {
    const box = frame.current!.getBoundingClientRect()
    return props.markAt(picture, event.clientX - box.left, event.clientY - box.top)
  }
  const steps = useSteps(
    () => props.order(picture),
    (mark) => {
      const box = frame.current!.getBoundingClientRect()
      const { x, y } = props.place(picture, mark)
      const hover = hoverOf(mark, { x: box.left + x, y: box.top + y })
      return hover ? { hover, enter: () => open?.(picture, mark) } : null
    },
    [picture],
  )
  return (
    <div
      class={`cost-bars ${open ? 'leads' : ''}`}
      ref={frame}
      style={{ height: `${picture.height}px` }}
      onPointerMove={(event) => {
        const mark = markAt(event)
        session.hover.set((mark >= 0 && hoverOf(mark, { x: event.clientX, y: event.clientY })) || null)
      }}
      onPointerLeave={() => session.hover.set(null)}
      onClick={(event) => {
        const mark = markAt(event)
        if (mark >= 0) open?.(picture, mark)
      }}
      tabIndex={0}
      role="application"
      aria-label={props.label}
      onKeyDown={steps}
      data-test={props.test}
    >
      <canvas ref={canvas} aria-hidden="true" />
    </div>
  )
}
