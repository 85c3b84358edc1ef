/** A heat map of routers, ports or links over time. */
import { useContext, useEffect, useMemo, useRef } from 'preact/hooks'
import { count, quantity, type Unit } from '../../base/format'
import { heatCells, heatRows } from '../../data/rows'
import { colorScale, type ColorScale } from '../../data/scale'
import { intervalAt, stepOf, strongest, type Line, type Lines } from '../../data/series'
import type { Run } from '../../data/run'
import { looksFor, type LookTable } from '../../draw/look'
import { Cursor, PAD, timeAxis, TimeTicks, type Span, type TimeAxis } from './chart'
import { ThemeContext, useSession, useStore } from '../session/session'
import { prepareCanvas, useSize, type Size } from '../canvas/size'
import { useSteps } from '../canvas/steps'
import { TableButton } from '../tables/tables'

/** With more rows, they are thinner than a pixel on most screens. */
const ROWS_MAX = 400

interface HeatMapProps {
  readonly run: Run
  readonly all: Lines
  readonly span: Span
  readonly label: string
  readonly noun: string
  readonly ofLinks: boolean
  readonly unit: Unit
  name(subject: number): string
  /** Focus text of a row; empty for none. */
  focusOf(subject: number): string
  routerOf(subject: number): number
}

export function HeatMap({
  run,
  all,
  span,
  label,
  noun,
  ofLinks,
  unit,
  name,
  focusOf,
  routerOf,
}: HeatMapProps) {
  const session = useSession()
  const state = useStore(session.state)
  const looks = looksFor(useContext(ThemeContext), state.ramp, false)
  const frame = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const size = useSize(frame)
  const shown = useMemo(() => strongest(all, ROWS_MAX), [all])
  const scale = useMemo(
    () => colorScale(state.scale, valuesOf(shown.lines), false, null),
    [shown, state.scale],
  )
  const axis = timeAxis(span, size.width)
  const rows = shown.lines.length
  const height = Math.max(0, size.height - PAD.top - PAD.bottom)
  const rowHeight = height / Math.max(1, rows)
  const step = useMemo(() => stepOf(shown.times), [shown])

  useEffect(() => {
    if (!canvas.current || size.width === 0) return
    const context = prepareCanvas(canvas.current, size)
    paintHeat(context, shown, { axis, size, height, step }, looks, scale)
    context.strokeStyle = looks.palette.ink
    shown.lines.forEach((line, row) => {
      if (focusOf(line.subject) === '' || focusOf(line.subject) !== state.focus) return
      const top = PAD.top + row * rowHeight
      context.strokeRect(PAD.left - 1, top - 1, size.width - PAD.left - PAD.right + 2, rowHeight + 2)
    })
  }, [shown, size, looks, scale, state.focus, span])

  const hit = (event: MouseEvent): { line: Line; i: number; begin: number } | null => {
    const box = frame.current!.getBoundingClientRect()
    const [x, y] = [event.clientX - box.left, event.clientY - box.top - PAD.top]
    const line = shown.lines[Math.floor(y / rowHeight)]
    if (!line || y < 0 || x < PAD.left || x >= size.width - PAD.right) return null
    return { line, ...intervalAt(shown.times, axis.time(x)) }
  }
  const wordsOf = (line: Line, i: number, begin: number) => {
    const router = routerOf(line.subject)
    const rows = [
      ['Interval', `${quantity(begin, 'ps')} to ${quantity(begin + step, 'ps')}`],
      [label, quantity(line.values[i] || 0, unit)],
    ] as const
    return {
      run,
      links: ofLinks ? [line.subject] : [],
      routers: router >= 0 ? [router] : [],
      groups: [],
      tip: { title: name(line.subject), rows, shares: [], note: '' },
    }
  }
  const hover = (event: PointerEvent): void => {
    const found = hit(event)
    session.hover.set(
      found && { ...wordsOf(found.line, found.i, found.begin), x: event.clientX, y: event.clientY },
    )
  }
  const goTo = (line: Line, begin: number): void => {
    const focus = focusOf(line.subject)
    session.state.patch({
      time: begin,
      ...(focus === '' ? {} : { focus: focus === state.focus ? '' : focus }),
    })
  }
  const steps = useSteps(
    () => heatCells(shown),
    ({ row, interval }) => {
      const [line, begin] = [shown.lines[row]!, shown.times[interval]!]
      const box = frame.current!.getBoundingClientRect()
      const place = { x: box.left + axis.x(begin), y: box.top + PAD.top + (row + 0.5) * rowHeight }
      return {
        hover: { ...wordsOf(line, interval, begin), ...place },
        enter: () => goTo(line, begin),
      }
    },
    [shown, span],
  )
  return (
    <section class="chart-card heat" aria-label={`${label} by ${noun}`}>
      <header>
        <h2>
          {label} of {noun} over time
        </h2>
        <span class="mini-ramp">
          {quantity(scale.low, unit)}
          <i style={{ background: gradientOf(scale, looks) }} />
          {quantity(scale.high, unit)}
        </span>
      </header>
      <div
        class="chart"
        ref={frame}
        onPointerMove={hover}
        onPointerLeave={() => session.hover.set(null)}
        onClick={(event) => {
          const found = hit(event)
          if (found) goTo(found.line, found.begin)
        }}
        tabIndex={0}
        role="application"
        aria-label={`${label} of ${noun} over time; the keys . and , select the next and previous cell`}
        onKeyDown={steps}
        data-test="series-heat"
      >
        <canvas ref={canvas} />
        <HeatAxis lines={shown.lines} axis={axis} size={size} rowHeight={rowHeight} name={name} />
      </div>
      <div class="reading foot">
        <p data-test="heat-rows">
          {count(rows)} of {count(all.lines.length)} {noun}
          {rows < all.lines.length ? ' with the largest sums' : ''}, {count(shown.times.length)} intervals.
          Click to focus a row and select its time.
        </p>
        <TableButton
          of={`${label} of ${noun} over time`}
          rows={() => heatRows(all, `${label} of ${noun} over time`, noun, unit, name)}
        />
      </div>
    </section>
  )
}

function paintHeat(
  context: CanvasRenderingContext2D,
  { lines, times }: Lines,
  { axis, size, height, step }: { axis: TimeAxis; size: Size; height: number; step: number },
  looks: LookTable,
  scale: ColorScale,
): void {
  const rowHeight = height / Math.max(1, lines.length)
  context.fillStyle = looks.palette.empty
  context.fillRect(PAD.left, PAD.top, size.width - PAD.left - PAD.right, height)
  lines.forEach((line, row) => {
    const top = Math.round(PAD.top + row * rowHeight)
    const bottom = Math.max(top + 1, Math.round(PAD.top + (row + 1) * rowHeight))
    line.values.forEach((v, i) => {
      if (!(v > 0)) return
      const left = Math.max(PAD.left, Math.round(axis.x(times[i]!)))
      const end = Math.round(axis.x(times[i]! + step))
      const right = Math.min(size.width - PAD.right, Math.max(left + 1, end))
      if (right <= left) return
      context.fillStyle = looks.colors[scale.shade(v)]!
      context.fillRect(left, top, right - left, bottom - top)
    })
  })
}

interface HeatAxisProps extends Pick<HeatMapProps, 'name'> {
  readonly lines: readonly Line[]
  readonly axis: TimeAxis
  readonly size: Size
  readonly rowHeight: number
}

function HeatAxis({ lines, axis, size, rowHeight, name }: HeatAxisProps) {
  const { time } = useStore(useSession().state)
  const stride = Math.max(1, Math.ceil(18 / rowHeight))
  return (
    <svg width={size.width} height={size.height} class="over">
      <g class="axis">
        {lines.map(
          (line, row) =>
            row % stride === 0 && (
              <text
                key={line.subject}
                x={PAD.left - 8}
                y={PAD.top + (row + 0.5) * rowHeight + 4}
                text-anchor="end"
              >
                {shorten(name(line.subject))}
              </text>
            ),
        )}
      </g>
      <TimeTicks axis={axis} width={size.width} y={size.height - PAD.bottom} />
      <Cursor axis={axis} time={time} top={PAD.top} bottom={size.height - PAD.bottom} />
    </svg>
  )
}

function gradientOf(scale: ColorScale, looks: LookTable): string {
  const colors = [0, 0.25, 0.5, 0.75, 1].map((share) => looks.colors[scale.shade(scale.value(share))]!)
  return `linear-gradient(to right, ${colors.join(', ')})`
}

/** Keeps the end of a name, which distinguishes rows. */
function shorten(name: string): string {
  return name.length <= 14 ? name : `…${name.slice(-13)}`
}

function valuesOf(lines: readonly Line[]): Float64Array {
  const all: number[] = []
  for (const { values } of lines) for (const v of values) if (v > 0) all.push(v)
  return Float64Array.from(all).sort()
}
