/** Time view: lines per job, rank activity, heat map, machine at the chosen time, playback. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { quantity } from '../../base/format'
import type { Block } from '../../data/block'
import { jobOf } from '../../data/describe'
import { NO_ENDS } from '../../data/range'
import { linkName, type Run } from '../../data/run'
import { groupings, indexAt, nameOfKey, routerOfKey, type Grouping } from '../../data/series'
import { hasLanes, type Lane } from '../../data/lanes'
import { clampSpan, moveSpan, timeSpan, type TimeSpan } from '../../data/timespan'
import { LineChart } from './chart'
import { Choice } from '../controls/choice'
import { FocusChip } from '../picture/facts'
import { HeatMap } from './heat'
import { Lanes, lanesIn } from './lanes'
import {
  blockOf,
  chosenHeat,
  chosenLines,
  chosenRows,
  heatColumns,
  lineColumns,
  linesOf,
  mergeText,
  shownLines,
  totalsOf,
  type SeriesColumn,
} from './moment'
import { PictureView } from '../picture/picture'
import type { ViewContent } from '../session/viewcontent'
import type { Settings } from '../session/settings'
import { useSession, useStore, type Session } from '../session/session'
import './time.css'

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

const NOUNS: Readonly<Record<Grouping, string>> = {
  whole: 'machine',
  job: 'jobs',
  router: 'routers',
  port: 'ports',
  link: 'links (ports)',
  class: 'classes',
  group: 'groups',
  vc: 'virtual channels',
}

export function TimeView({ derived: { run }, moment }: ViewContent) {
  const session = useSession()
  const state = useStore(session.state)
  const lines = chosenLines(run.info, state)
  const heat = chosenHeat(run.info, state)
  const [ofLines, ofHeat] = [useTimes(run, lines[0]), useTimes(run, heat)]
  const times = ofLines ?? ofHeat
  const worst = totalsOf(session, run, heat)?.worst
  useEffect(() => {
    if (state.time < 0 && worst !== undefined) session.state.patch({ time: worst })
  }, [state.time, worst])
  // All charts share one time axis, so they can be compared vertically.
  const ranks = hasLanes(run.info)
  const lanes = ranks ? lanesIn(session, run) : undefined
  const full = useMemo(() => {
    const ends = typeof lanes === 'object' ? laneEnds(lanes) : []
    return timeSpan([ofLines, ofHeat, ...ends].filter((all) => all !== null))
  }, [ofLines, ofHeat, lanes])
  session.fullSpan = full
  const span = useMemo(() => clampSpan(state.span, full), [state.span, full])
  if (lines.length === 0 && !heat && !ranks)
    return (
      <div class="centre wide">
        <p class="hint centred">
          This run has no time series. For the packet engine, set “interval” in [engine]; for rank activity,
          set “record_calls”.
        </p>
      </div>
    )
  const at = times ? times[indexAt(times, state.time)]! : 0
  return (
    <div class="centre wide">
      <Pickers run={run} lines={lines} heat={heat} />
      <div class={`moments ${moment ? 'with-machine' : ''}`}>
        <div class="charts">
          {lines.map((column) => (
            <JobLines key={column.id} run={run} column={column} span={span} />
          ))}
          {ranks && <Lanes run={run} span={span} />}
          {heat && <Heat run={run} column={heat} rows={chosenRows(heat, state)} span={span} />}
        </div>
        {moment && (
          <PictureView
            derived={moment}
            title={`${moment.measure.label} from ${quantity(at, 'ps')}`}
            compact
          />
        )}
      </div>
      {times && <Scrubber times={times} />}
    </div>
  )
}

interface PickersProps {
  readonly run: Run
  readonly lines: readonly SeriesColumn[]
  readonly heat: SeriesColumn | undefined
}

function Pickers({ run, lines, heat }: PickersProps) {
  const session = useSession()
  const state = useStore(session.state)
  const pair = chosenLines(run.info, { ...state, series: '' })
  const usual = pair.map(({ label }, i) => (i === 0 ? label : label.toLowerCase())).join(' and ')
  const byName = lineColumns(run.info).map(({ id, label }) => ({ value: id, label }))
  return (
    <div class="pickers">
      {lines.length > 0 && (
        <Choice
          label="Lines"
          value={state.series !== '' && lines.length === 1 ? lines[0]!.id : ''}
          options={pair.length > 1 ? [{ value: '', label: usual }, ...byName] : byName}
          onChange={(series) => session.state.patch({ series })}
          test="series"
        />
      )}
      {heat && (
        <>
          <Choice
            label="Heat map"
            value={heat.id}
            options={heatColumns(run.info).map(({ id, label }) => ({ value: id, label }))}
            onChange={(id) => session.state.patch({ heat: id, ...NO_ENDS, frozen: null })}
            test="heat"
          />
          <Choice
            label="Rows"
            value={chosenRows(heat, state)}
            options={groupings(heat.table).map((value) => ({ value, label: NOUNS[value] }))}
            onChange={(rows) => session.state.patch({ rows })}
            test="heat-by"
          />
        </>
      )}
      {state.span !== null && (
        <button
          onClick={() => session.state.patch({ span: null })}
          title="Reset the zoom (W S zoom, A D pan)"
          data-test="span-all"
        >
          full time span
        </button>
      )}
      <FocusChip />
    </div>
  )
}

/** Time span of all ranks, as times of a table with two intervals. */
function laneEnds(lanes: readonly Lane[]): Float64Array[] {
  const [first, last] = lanes.reduce(
    ([a, b], lane) => [Math.min(a, lane.start), Math.max(b, lane.end)],
    [Infinity, -Infinity],
  )
  return lanes.length === 0 ? [] : [Float64Array.of(first, (first + last) / 2)]
}

/** Times that the slider steps through. */
function useTimes(run: Run, column: SeriesColumn | undefined): Float64Array | null {
  const session = useSession()
  const block = column ? blockOf(session, run, column) : undefined
  return useMemo(
    () =>
      block === undefined || typeof block === 'string'
        ? null
        : Float64Array.from(new Set(block.numbers.get(column!.table.time))).sort(),
    [block],
  )
}

function JobLines({ run, column, span }: { run: Run; column: SeriesColumn; span: TimeSpan }) {
  const session = useSession()
  const { jobs } = useStore(session.state)
  const by = groupings(column.table)[0]!
  const block = blockOf(session, run, column)
  const lines = linesOf(session, run, column, by)
  const shown = useMemo(
    () => (typeof lines === 'string' ? lines : shownLines(lines, by, jobs)),
    [lines, by, jobs],
  )
  if (typeof shown === 'string') return <p class="loading">{shown}</p>
  return (
    <LineChart
      run={run}
      lines={shown}
      span={span}
      label={column.value.label}
      unit={column.value.unit}
      test={`lines-${column.value.column}`}
      name={(subject) => nameOfKey(run, block as Block, by, subject)}
      color={(subject) => (by === 'job' ? jobOf(run, subject).color : null)}
    />
  )
}

interface HeatProps {
  readonly run: Run
  readonly column: SeriesColumn
  readonly rows: Grouping
  readonly span: TimeSpan
}

function Heat({ run, column, rows, span }: HeatProps) {
  const session = useSession()
  const { aggregate } = useStore(session.state)
  const block = blockOf(session, run, column)
  const lines = linesOf(session, run, column, rows, aggregate)
  if (typeof lines === 'string') return <p class="loading">{lines}</p>
  const routerOf = (subject: number): number => routerOfKey(run, rows, subject)
  return (
    <HeatMap
      run={run}
      all={lines}
      span={span}
      label={column.value.label}
      noun={NOUNS[rows]}
      merge={mergeText(run, block as Block, rows, aggregate)}
      ofLinks={rows === 'link'}
      unit={column.value.unit}
      name={(subject) => nameOfKey(run, block as Block, rows, subject)}
      routerOf={routerOf}
      focusOf={(subject) => {
        if (rows === 'link') return `link:${linkName(run, subject)}`
        if (rows === 'group') return `group:${subject}`
        const router = routerOf(subject)
        return router >= 0 ? `router:${run.routers.names.at(router)}` : ''
      }}
    />
  )
}

function Scrubber({ times }: { times: Float64Array }) {
  const session = useSession()
  const state = useStore(session.state)
  const [playing, setPlaying] = useState(false)
  const last = times.length - 1
  const at = indexAt(times, state.time)
  useEffect(() => {
    if (!playing) return
    const timer = setInterval(() => {
      const now = indexAt(times, session.state.get().time)
      if (now >= last) setPlaying(false)
      else session.state.patch({ time: times[now + 1]! })
    }, 80)
    return () => clearInterval(timer)
  }, [playing, times])
  const toggle = (): void => {
    if (!playing && at >= last) session.state.patch({ time: times[0]! })
    setPlaying(!playing)
  }
  return (
    <div class="scrubber">
      <button onClick={toggle} data-test="play">
        {playing ? 'pause' : 'play'}
      </button>
      <input
        type="range"
        min={0}
        max={last}
        value={at}
        aria-label="Time"
        onInput={(event) => session.state.patch({ time: times[Number(event.currentTarget.value)]! })}
        data-test="scrubber"
      />
      <span data-test="time">
        {quantity(times[at]!, 'ps')} of {quantity(times[last]!, 'ps')}
      </span>
    </div>
  )
}
