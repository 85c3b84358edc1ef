/** A canvas of marks (bars, boxes, cells, lines) with tooltips, keyboard stops and an optional click action. */
import type { ComponentChildren } from 'preact'
import { useContext, useEffect, useMemo, useRef } from 'preact/hooks'
import type { Tip } from '../../data/describe'
import type { Run } from '../../data/run'
import { looksFor, type LookTable } from '../../draw/look'
import type { Pen } from '../../draw/pen'
import { ThemeContext, useSession, useStore, type Hover } from '../session/session'
import { prepareCanvas, useSize } from './size'
import type { Size } from '../../layout/picture'
import { useSteps } from './steps'
import './canvas.css'

/** Tooltip of a mark, and what it highlights elsewhere. */
export interface MarkText extends Tip {
  readonly links?: readonly number[]
  readonly routers?: readonly number[]
}

interface MarksProps<P extends Size, M> {
  /** Ends with the keyboard hint: "; the keys . and , select the next and previous box". */
  readonly label: string
  readonly test: string
  /** The run that the marks belong to. */
  readonly run: Run | undefined
  /** Style class of a frame with a height of its own; without one, the picture gives the height. */
  readonly frame?: string
  /** Dependencies of the picture and its colours, besides size, theme and colour ramp. */
  readonly of: readonly unknown[]
  picture(size: Size): P
  draw(pen: Pen, picture: P, looks: LookTable): void
  /** The mark at a point. */
  markAt(picture: P, x: number, y: number): M | null
  text(picture: P, mark: M): MarkText
  /** Marks in keyboard order. */
  order(picture: P): readonly M[]
  /** Tooltip position for keyboard stops. */
  place(picture: P, mark: M): { readonly x: number; readonly y: number }
  /** Action of click and Enter. */
  open?(picture: P, mark: M): void
  /** What changes without a new picture. */
  over?(picture: P): ComponentChildren
}

export function Marks<P extends Size, M>(props: MarksProps<P, M>) {
  const session = useSession()
  const { ramp } = useStore(session.state)
  const looks = looksFor(useContext(ThemeContext), ramp, false)
  const frame = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const size = useSize(frame)
  const { run, open } = props
  const height = props.frame === undefined ? 0 : size.height
  const picture = useMemo(() => props.picture(size), [...props.of, size.width, height])
  useEffect(() => {
    if (canvas.current && size.width > 0) props.draw(prepareCanvas(canvas.current, picture), picture, looks)
  }, [picture, looks])
  const hoverOf = (mark: M, x: number, y: number): Hover | null => {
    const { links = [], routers = [], ...tip } = props.text(picture, mark)
    return run ? { run, links, routers, groups: [], tip, x, y } : null
  }
  const markAt = (event: MouseEvent): M | null => {
    const box = frame.current!.getBoundingClientRect()
    // A frame may have a border.
    const [across, down] = [picture.width / box.width, picture.height / box.height]
    return props.markAt(picture, (event.clientX - box.left) * across, (event.clientY - box.top) * down)
  }
  const steps = useSteps(
    () => props.order(picture),
    (mark) => {
      const box = frame.current!.getBoundingClientRect()
      const { x, y } = props.place(picture, mark)
      const hover = hoverOf(mark, box.left + x, box.top + y)
      return hover && { hover, enter: () => open?.(picture, mark) }
    },
    [picture],
  )
  return (
    <div
      class={`marks ${props.frame ?? (open ? 'leads' : '')}`}
      ref={frame}
      style={props.frame === undefined ? { height: `${picture.height}px` } : {}}
      onPointerMove={(event) => {
        const mark = markAt(event)
        session.hover.set(mark === null ? null : hoverOf(mark, event.clientX, event.clientY))
      }}
      onPointerLeave={() => session.hover.set(null)}
      onClick={(event) => {
        const mark = markAt(event)
        if (mark !== null) open?.(picture, mark)
      }}
      tabIndex={0}
      role="application"
      aria-label={props.label}
      onKeyDown={steps}
      data-test={props.test}
    >
      <canvas ref={canvas} aria-hidden="true" />
      {props.over?.(picture)}
    </div>
  )
}
