/** Line charts over time with a shared cursor. */
import { useMemo, useRef } from 'preact/hooks'
import { quantity, type Unit } from '../../base/format'
import { axisTicks, valueAxis } from '../../data/histogram'
import { lineRows } from '../../data/rows'
import { indexAt, largestOf, stepOf, type Lines } from '../../data/series'
import type { Run } from '../../data/run'
import { useSession, useStore, type Session } from '../session/session'
import type { Settings } from '../session/settings'
import { useSize, type Size } from '../canvas/size'
import { useSteps } from '../canvas/steps'
import { TableButton } from '../tables/tables'

/** Margins common to charts and heat maps, so that their time axes align. */
export const PAD = { left: 92, right: 18, top: 8, bottom: 22 }

export interface TimeAxis {
  readonly first: number
  readonly last: number
  x(time: number): number
  time(x: number): number
}

/** First time, and end of the last interval. */
export type Span = readonly [number, number]

export function spanOf(times: Float64Array): Span {
  const first = times[0] ?? 0
  return [first, (times[times.length - 1] ?? 1) + stepOf(times)]
}

/** One axis over all tables. */
export function timeSpan(times: readonly Float64Array[]): Span {
  const spans = times.filter((all) => all.length > 0).map(spanOf)
  if (spans.length === 0) return [0, 1]
  return [Math.min(...spans.map(([first]) => first)), Math.max(...spans.map(([, last]) => last))]
}

/** The visible part of the time axis, clamped to the full span. */
export function clampSpan(part: readonly [number, number] | null, full: Span): Span {
  if (part === null) return full
  const [from, until] = [Math.max(full[0], part[0]), Math.min(full[1], part[1])]
  return until > from ? [from, until] : full
}

/** Zooms around the cursor or shifts by a share of the visible part; null for the full span. */
function moveSpan(
  part: readonly [number, number] | null,
  full: Span,
  factor: number,
  shift: number,
  at: number,
): Span | null {
  const [from, until] = clampSpan(part, full)
  const centre = at > from && at < until ? at : (from + until) / 2
  const length = Math.min(full[1] - full[0], (until - from) * factor)
  if (length >= full[1] - full[0]) return null
  const start = centre - ((centre - from) / (until - from)) * length + shift * length
  const begin = Math.max(full[0], Math.min(full[1] - length, start))
  return [Math.round(begin), Math.round(begin + length)]
}

/** Zoom factor and shift by key, as in Perfetto. */
const KEYS: Readonly<Record<string, readonly [number, number]>> = {
  w: [1 / 1.5, 0],
  s: [1.5, 0],
  a: [1, -0.25],
  d: [1, 0.25],
}

export function timeKey(key: string, { state, fullSpan }: Session): Partial<Settings> | null {
  const { span, time } = state.get()
  const moved = KEYS[key]
  return moved ? { span: moveSpan(span, fullSpan, ...moved, time) } : null
}

export function timeAxis([first, last]: Span, width: number): TimeAxis {
  const inner = Math.max(1, width - PAD.left - PAD.right)
  return {
    first,
    last,
    x: (t) => PAD.left + ((t - first) / (last - first || 1)) * inner,
    time: (x) => first + ((x - PAD.left) / inner) * (last - first),
  }
}

export function TimeTicks({ axis, width, y }: { axis: TimeAxis; width: number; y: number }) {
  const values = valueAxis('linear', axis.first, axis.last, 1)
  const ticks = axisTicks(values, width / 130).filter((tick) => tick >= axis.first)
  return (
    <g class="axis">
      {ticks.map((tick) => (
        <g key={tick}>
          <line x1={axis.x(tick)} x2={axis.x(tick)} y1={y} y2={y + 4} />
          <text x={axis.x(tick)} y={y + 15} text-anchor={axis.x(tick) > width - 40 ? 'end' : 'middle'}>
            {quantity(tick, 'ps')}
          </text>
        </g>
      ))}
    </g>
  )
}

interface LineChartProps {
  readonly run: Run
  readonly lines: Lines
  readonly span: Span
  readonly label: string
  readonly unit: Unit
  readonly test: string
  name(subject: number): string
  color(subject: number): string
}

export function LineChart({ run, lines, span, label, unit, test, name, color }: LineChartProps) {
  const session = useSession()
  const { time } = useStore(session.state)
  const frame = useRef<HTMLDivElement>(null)
  const size = useSize(frame)
  const axis = timeAxis(span, size.width)
  const at = indexAt(lines.times, time)
  const pointed = (event: MouseEvent): number => {
    const box = frame.current!.getBoundingClientRect()
    return indexAt(lines.times, axis.time(event.clientX - box.left))
  }
  const wordsOf = (i: number) => {
    const rows = lines.lines.map((line) => [name(line.subject), quantity(line.values[i]!, unit)] as const)
    const tip = { title: `${label} from ${quantity(lines.times[i]!, 'ps')}`, rows, shares: [], note: '' }
    return { run, links: [], routers: [], groups: [], tip }
  }
  const hover = (event: PointerEvent): void =>
    session.hover.set({ ...wordsOf(pointed(event)), x: event.clientX, y: event.clientY })
  const goTo = (i: number): void => session.state.patch({ time: lines.times[i]! })
  const steps = useSteps(
    () => Array.from(lines.times.keys()),
    (i) => {
      const box = frame.current!.getBoundingClientRect()
      const place = { x: box.left + axis.x(lines.times[i]!), y: box.top + PAD.top }
      return { hover: { ...wordsOf(i), ...place }, enter: () => goTo(i) }
    },
    [lines, span],
  )
  return (
    <section class="chart-card" aria-label={label}>
      <header>
        <h2>{label}</h2>
        <ul class="legend">
          {lines.lines.map((line) => (
            <li key={line.subject}>
              <i class="swatch" style={{ background: color(line.subject) }} /> {name(line.subject)}{' '}
              <b data-test={`${test}-${line.subject}`}>{quantity(line.values[at]!, unit)}</b>
            </li>
          ))}
        </ul>
        <span class="spring" />
        <TableButton
          of={`${label} over time`}
          rows={() => lineRows(lines, `${label} over time`, unit, name)}
        />
      </header>
      <div
        class="chart"
        ref={frame}
        data-test={test}
        onPointerMove={hover}
        onPointerLeave={() => session.hover.set(null)}
        onClick={(event) => goTo(pointed(event))}
        tabIndex={0}
        role="application"
        aria-label={`${label} over time; the keys . and , select the next and previous interval`}
        onKeyDown={steps}
      >
        <Plot lines={lines} axis={axis} size={size} unit={unit} test={test} at={at} color={color} />
      </div>
    </section>
  )
}

interface PlotProps extends Pick<LineChartProps, 'lines' | 'unit' | 'test' | 'color'> {
  readonly axis: TimeAxis
  readonly size: Size
  /** Interval of the cursor. */
  readonly at: number
}

function Plot({ lines, unit, test, color, axis, size: { width, height }, at }: PlotProps) {
  const most = useMemo(() => largestOf(lines), [lines])
  const values = valueAxis('linear', 0, most, most)
  const ticks = axisTicks(values, Math.max(2, height / 40), unit === 'bytes' ? 2 : 10)
  const y = (v: number): number =>
    height - PAD.bottom - values.position(v) * Math.max(0, height - PAD.top - PAD.bottom)
  return (
    <svg width={width} height={height} aria-hidden="true">
      <g class="axis">
        {ticks.map((tick) => (
          <g key={tick}>
            <line class="rule" x1={PAD.left} x2={width - PAD.right} y1={y(tick)} y2={y(tick)} />
            <text x={PAD.left - 8} y={y(tick) + 4} text-anchor="end">
              {quantity(tick, unit)}
            </text>
          </g>
        ))}
      </g>
      <TimeTicks axis={axis} width={width} y={height - PAD.bottom} />
      <Cursor axis={axis} time={lines.times[at] ?? 0} top={PAD.top} bottom={height - PAD.bottom} />
      <clipPath id={`within-${test}`}>
        <rect x={PAD.left} y={0} width={Math.max(0, width - PAD.left - PAD.right)} height={height} />
      </clipPath>
      {lines.lines.map((line) => (
        <path
          key={line.subject}
          clip-path={`url(#within-${test})`}
          class="series"
          d={linePath(lines.times, line.values, axis, y)}
          stroke={color(line.subject)}
        />
      ))}
    </svg>
  )
}

export function Cursor({
  axis,
  time,
  top,
  bottom,
}: {
  axis: TimeAxis
  time: number
  top: number
  bottom: number
}) {
  if (time < axis.first || time > axis.last) return null
  return <line class="cursor" x1={axis.x(time)} x2={axis.x(time)} y1={top} y2={bottom} />
}

/** Interrupted at missing values. */
function linePath(
  times: Float64Array,
  values: Float64Array,
  axis: TimeAxis,
  y: (v: number) => number,
): string {
  let path = ''
  let open = false
  values.forEach((v, i) => {
    if (Number.isNaN(v)) open = false
    else {
      path += `${open ? 'L' : 'M'}${axis.x(times[i]!).toFixed(1)} ${y(v).toFixed(1)}`
      open = true
    }
  })
  return path
}
