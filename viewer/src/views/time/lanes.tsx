/** Rank activity as lanes, synchronized with charts and links. */
import { useContext, useMemo } from 'preact/hooks'
import { count, percent, quantity } from '../../base/format'
import type { Block } from '../../data/block'
import { jobOf } from '../../data/describe'
import { toggleFocus } from '../../data/focus'
import { LANE_TABLES, lanesOf, longestWaiting, sharesOf, stateAt, type Lane } from '../../data/lanes'
import { laneRows } from '../../data/rows'
import type { Run } from '../../data/run'
import type { TimeSpan } from '../../data/timespan'
import { drawLanes, STATE_COLORS, STATE_NAMES } from '../../draw/timechart'
import { lanesPicture, placeInRow, rowAt } from '../../layout/timechart'
import { Legend } from '../canvas/legend'
import { Marks, type MarkText } from '../canvas/marks'
import { ThemeContext, useSession, useStore, type Session } from '../session/session'
import { TableButton } from '../tables/tables'
import { Cursor } from './chart'

const ROWS_MAX = 400

const known = new WeakMap<Block, Lane[]>()

/** The lanes of a run, a message, or undefined while loading. */
export function lanesIn(session: Session, run: Run): Lane[] | string | undefined {
  const found = Object.entries(LANE_TABLES).map(([table, columns]) => session.block(run.id, table, columns))
  const message = found.find((block) => typeof block === 'string')
  if (message !== undefined) return message
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

export function Lanes({ run, span }: { run: Run; span: TimeSpan }) {
  const session = useSession()
  const lanes = lanesIn(session, run)
  if (lanes === undefined) return <p class="loading">Loading rank activity …</p>
  if (typeof lanes === 'string') return <p class="loading">{lanes}</p>
  return <LaneChart run={run} lanes={lanes} span={span} />
}

function LaneChart({ run, lanes, span }: { run: Run; lanes: readonly Lane[]; span: TimeSpan }) {
  const session = useSession()
  const { jobs, time, focus } = useStore(session.state)
  const { all, shown } = useMemo(() => shownLanes(lanes, jobs), [lanes, jobs])
  const focusOf = ({ node }: Lane): string => `node:${run.nodes.names.at(node)}`
  const focused = focus.startsWith('node:') ? shown.findIndex((lane) => focusOf(lane) === focus) : -1
  return (
    <section class="chart-card heat" aria-label="Ranks over time">
      <header>
        <h2>Rank activity over time</h2>
        <States lanes={all} />
      </header>
      <Marks
        label="Rank activity over time; the keys . and , select the next and previous rank at its longest wait"
        test="lanes"
        run={run}
        frame="chart"
        of={[shown, span]}
        picture={(size) => lanesPicture(shown, (job) => jobOf(run, job).name, span, size)}
        draw={drawLanes}
        markAt={rowAt}
        text={(_, { row, time }) => textOf(run, shown[row]!, time)}
        order={() =>
          [...shown.keys()]
            .sort((a, b) => shown[b]!.waiting - shown[a]!.waiting || a - b)
            .map((row) => ({ row, time: longestWait(shown[row]!) }))
        }
        place={(picture, { row, time }) => placeInRow(picture, row, time)}
        open={(_, { row, time }) => {
          const chosen = focusOf(shown[row]!)
          session.state.patch({ time: Math.round(time), focus: toggleFocus(focus, chosen) })
        }}
        over={(picture) => <Cursor picture={picture} time={time} row={focused} />}
      />
      <LaneNote run={run} all={all} shown={shown} />
    </section>
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

/** States with their shares of the total time. */
function States({ lanes }: { lanes: readonly Lane[] }) {
  const theme = useContext(ThemeContext)
  const shares = useMemo(() => sharesOf(lanes), [lanes])
  return (
    <Legend
      entries={STATE_NAMES.map((name, i) => ({
        name,
        color: STATE_COLORS[theme][i]!,
        value: percent(shares[i]!),
        test: `share-${name}`,
      }))}
    />
  )
}

function textOf(run: Run, lane: Lane, time: number): MarkText {
  const now = stateAt(lane, time)
  const what = now?.what ? ` (${now.what})` : ''
  return {
    title: `${jobOf(run, lane.job).name}, rank ${count(lane.rank)} on ${run.nodes.names.at(lane.node)}`,
    rows: [
      ['Time', quantity(time, 'ps')],
      ['State', now ? `${STATE_NAMES[now.state]!}${what}` : 'not running'],
      ['Total computing', quantity(lane.end - lane.start - lane.inCalls, 'ps')],
      ['Total waiting', quantity(lane.waiting, 'ps')],
    ],
    routers: [run.nodes.router[lane.node]!],
  }
}
