/** Rank activity as lanes, synchronized with charts and links. */
import { useContext, useEffect, useMemo, useRef } from 'preact/hooks'
import { count, percent, quantity } from '../../base/format'
import type { Block } from '../../data/block'
import { jobOf } from '../../data/describe'
import { LANE_TABLES, lanesOf, longestWaiting, sharesOf, stateAt, type Lane } from '../../data/lanes'
import { laneRows } from '../../data/rows'
import type { Run } from '../../data/run'
import { drawLanes, STATE_COLORS, STATE_NAMES } from '../../draw/lanes'
import { looksFor } from '../../draw/look'
import { Cursor, PAD, timeAxis, TimeTicks, type Span, type TimeAxis } from './chart'
import { ThemeContext, useSession, useStore, type Session } from '../session/session'
import { prepareCanvas, useSize, type Size } from '../canvas/size'
import { useSteps } from '../canvas/steps'
import { TableButton } from '../tables/tables'

const ROWS_MAX = 400

const known = new WeakMap<Block, Lane[]>()

/** The lanes of a run, a message, or undefined while loading. */
export function lanesIn(session: Session, run: Run): Lane[] | string | undefined {
  const found = Object.entries(LANE_TABLES).map(([table, columns]) => session.block(run.id, table, columns))
  const message = found.find((block) => typeof block === 'string')
  if (message !== undefined) return message as string
  if (found.some((block) => block === undefined)) return undefined
  const [ranks, calls, waits] = found as [Block, Block, Block]
  let lanes = known.get(ranks)
  if (!lanes) known.set(ranks, (lanes = lanesOf({ ranks, calls, rank_waits: waits })))
  return lanes
}

/** Lanes of the counted jobs, limited to those that wait longest. */
export function shownLanes(
  lanes: readonly Lane[],
  jobs: Readonly<Record<number, unknown>>,
  rows = ROWS_MAX,
): { all: readonly Lane[]; shown: readonly Lane[] } {
  const all = lanes.filter(({ job }) => jobs[job] === undefined)
  return { all, shown: longestWaiting(all, rows) }
}

export function Lanes({ run, span }: { run: Run; span: Span }) {
  const session = useSession()
  const lanes = lanesIn(session, run)
  if (lanes === undefined) return <p class="loading">Loading rank activity …</p>
  if (typeof lanes === 'string') return <p class="loading">{lanes}</p>
  return <LaneChart run={run} lanes={lanes} span={span} />
}

function LaneChart({ run, lanes, span }: { run: Run; lanes: readonly Lane[]; span: Span }) {
  const session = useSession()
  const state = useStore(session.state)
  const theme = useContext(ThemeContext)
  const looks = looksFor(theme, state.ramp, false)
  const frame = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const size = useSize(frame)
  const { all, shown } = useMemo(() => shownLanes(lanes, state.jobs), [lanes, state.jobs])
  const axis = timeAxis(span, size.width)
  const height = Math.max(0, size.height - PAD.top - PAD.bottom)
  const row = height / Math.max(1, shown.length)
  const focusOf = ({ node }: Lane): string => `node:${run.nodes.names.at(node)}`

  useEffect(() => {
    if (!canvas.current || size.width === 0) return
    const context = prepareCanvas(canvas.current, size)
    const area = { x: PAD.left, y: PAD.top, width: size.width - PAD.left - PAD.right, height }
    drawLanes(context, shown, area, axis.x, theme)
    context.strokeStyle = looks.palette.ink
    shown.forEach((lane, i) => {
      if (focusOf(lane) === state.focus)
        context.strokeRect(area.x - 1, PAD.top + i * row - 1, area.width + 2, row + 2)
    })
  }, [shown, size, theme, span, state.focus])

  const hit = (event: MouseEvent): { lane: Lane; time: number } | null => {
    const box = frame.current!.getBoundingClientRect()
    const [x, y] = [event.clientX - box.left, event.clientY - box.top - PAD.top]
    const lane = shown[Math.floor(y / row)]
    return lane && y >= 0 && x >= PAD.left && x < size.width - PAD.right ? { lane, time: axis.time(x) } : null
  }
  const hover = (event: PointerEvent): void => {
    const found = hit(event)
    session.hover.set(
      found && { run, ...tipOf(run, found.lane, found.time), x: event.clientX, y: event.clientY },
    )
  }
  const goTo = (lane: Lane, time: number): void => {
    const focus = focusOf(lane)
    session.state.patch({ time: Math.round(time), focus: focus === state.focus ? '' : focus })
  }
  const steps = useSteps(
    () => shown.map((_, i) => i).sort((a, b) => shown[b]!.waiting - shown[a]!.waiting || a - b),
    (i) => {
      const [lane, time] = [shown[i]!, longestWait(shown[i]!)]
      const box = frame.current!.getBoundingClientRect()
      const place = { x: box.left + axis.x(time), y: box.top + PAD.top + (i + 0.5) * row }
      return { hover: { run, ...tipOf(run, lane, time), ...place }, enter: () => goTo(lane, time) }
    },
    [shown, span],
  )
  return (
    <section class="chart-card heat" aria-label="Ranks over time">
      <Legend lanes={all} />
      <div
        class="chart"
        ref={frame}
        onPointerMove={hover}
        onPointerLeave={() => session.hover.set(null)}
        onClick={(event) => {
          const found = hit(event)
          if (found) goTo(found.lane, found.time)
        }}
        tabIndex={0}
        role="application"
        aria-label="Rank activity over time; the keys . and , select the next and previous rank at its longest wait"
        onKeyDown={steps}
        data-test="lanes"
      >
        <canvas ref={canvas} />
        <LaneAxis run={run} lanes={shown} axis={axis} size={size} row={row} />
      </div>
      <LaneNote run={run} all={all} shown={shown} />
    </section>
  )
}

interface LaneAxisProps {
  readonly run: Run
  readonly lanes: readonly Lane[]
  readonly axis: TimeAxis
  readonly size: Size
  /** Height of a lane. */
  readonly row: number
}

function LaneAxis({ run, lanes, axis, size, row }: LaneAxisProps) {
  const { time } = useStore(useSession().state)
  return (
    <svg width={size.width} height={size.height} class="over">
      <g class="axis">
        {laneLabels(run, lanes, row).map(({ y, text }) => (
          <text key={y} x={PAD.left - 8} y={PAD.top + y + 4} text-anchor="end">
            {text}
          </text>
        ))}
      </g>
      <TimeTicks axis={axis} width={size.width} y={size.height - PAD.bottom} />
      <Cursor axis={axis} time={time} top={PAD.top} bottom={size.height - PAD.bottom} />
    </svg>
  )
}

function LaneNote({ run, all, shown }: { run: Run; all: readonly Lane[]; shown: readonly Lane[] }) {
  return (
    <div class="reading foot">
      <p data-test="lane-rows">
        {count(shown.length)} of {count(all.length)} ranks
        {shown.length < all.length ? ' that wait longest' : ''}. Communicating: inside an MPI call, not
        waiting. Click to focus the router of a rank and select the time.
      </p>
      <TableButton of="ranks over time" rows={() => laneRows(run, all, 'Rank activity')} />
    </div>
  )
}

/** Middle of the longest wait; the start if there is none. */
function longestWait({ waits, start }: Lane): number {
  const length = ({ from, until }: { from: number; until: number }): number => until - from
  const none = { from: start, until: start }
  const { from, until } = waits.reduce((long, wait) => (length(wait) > length(long) ? wait : long), none)
  return (from + until) / 2
}

/** Colour legend with shares of the total time. */
function Legend({ lanes }: { lanes: readonly Lane[] }) {
  const theme = useContext(ThemeContext)
  const shares = useMemo(() => sharesOf(lanes), [lanes])
  return (
    <header>
      <h2>Rank activity over time</h2>
      <ul class="legend">
        {STATE_NAMES.map((name, i) => (
          <li key={name}>
            <i class="swatch" style={{ background: STATE_COLORS[theme][i]! }} /> {name}{' '}
            <b data-test={`share-${name}`}>{percent(shares[i]!)}</b>
          </li>
        ))}
      </ul>
    </header>
  )
}

function tipOf(run: Run, lane: Lane, time: number) {
  const now = stateAt(lane, time)
  return {
    links: [],
    routers: [run.nodes.router[lane.node]!],
    groups: [],
    tip: {
      title: `${jobOf(run, lane.job).name}, rank ${count(lane.rank)} on ${run.nodes.names.at(lane.node)}`,
      rows: [
        ['Time', quantity(time, 'ps')],
        [
          'State',
          now ? `${STATE_NAMES[now.state]!}${now.what === '' ? '' : ` (${now.what})`}` : 'not running',
        ],
        ['Total computing', quantity(lane.end - lane.start - lane.inCalls, 'ps')],
        ['Total waiting', quantity(lane.waiting, 'ps')],
      ] as [string, string][],
      shares: [],
      note: '',
    },
  }
}

/** As many labels as fit; the job name at its first lane. */
function laneLabels(run: Run, lanes: readonly Lane[], row: number): { y: number; text: string }[] {
  const stride = Math.max(1, Math.ceil(16 / row))
  return lanes
    .flatMap((lane, i) => {
      const begins = i === 0 || lanes[i - 1]!.job !== lane.job
      if (!begins && i % stride !== 0) return []
      const text = begins ? `${jobOf(run, lane.job).name} ${lane.rank}` : String(lane.rank)
      return [{ y: (i + 0.5) * row, text: text.length > 14 ? `…${text.slice(-13)}` : text }]
    })
    .filter(({ y }, i, all) => i === 0 || y - all[i - 1]!.y >= Math.min(13, stride * row))
}
