/** What happened when: lines per job with a scrubber and play, heat maps of what there are many of. */
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { count, quantity } from '../base/format'
import type { Block } from '../data/block'
import { jobOf } from '../data/describe'
import { measureLabel, unitOf, type Run } from '../data/run'
import { seriesLines, seriesTables, strongest, type Lines, type SeriesTable } from '../data/series'
import type { RunInfo } from '../data/source'
import { colorAt, looksFor } from '../draw/look'
import { Choice } from './controls'
import { ThemeContext, useSession, useStore } from './session'
import { prepareCanvas, useSize } from './size'

export const hasSeries = (info: RunInfo): boolean => seriesTables(info).length > 0

/** More lines than this are a heat map. */
const LINES_MAX = 12
const HEAT_ROWS = 400

export function TimeView({ run }: { run: Run }) {
  const session = useSession()
  const state = useStore(session.state)
  const tables = useMemo(() => seriesTables(run.info), [run])
  const choices = tables.flatMap((table) =>
    table.values.map((column) => ({ table, column, id: `${table.name}.${column}` })),
  )
  const chosen = choices.find((choice) => choice.id === state.series) ?? choices[0]
  if (!chosen)
    return (
      <div class="centre">
        <p class="hint centred">This run holds no time series.</p>
      </div>
    )
  return (
    <div class="centre wide">
      <div class="pickers">
        <Choice
          label="Series"
          value={chosen.id}
          options={choices.map(({ id, table, column }) => ({
            value: id,
            label: `${measureLabel(column)} (${table.name})`,
          }))}
          onChange={(series) => session.state.patch({ series })}
          test="series"
        />
      </div>
      <Series key={`${run.id} ${chosen.id}`} run={run} table={chosen.table} column={chosen.column} />
    </div>
  )
}

function Series({ run, table, column }: { run: Run; table: SeriesTable; column: string }) {
  const session = useSession()
  const [block, setBlock] = useState<Block | string>('')
  const subject = table.subjects[table.subjects.length - 1] ?? null
  useEffect(() => {
    let gone = false
    session.source.table(run.id, table.name, [table.time, ...table.subjects, column]).then(
      (found) => !gone && setBlock(found),
      (error: unknown) => !gone && setBlock(error instanceof Error ? error.message : String(error)),
    )
    return () => void (gone = true)
  }, [run, table, column])
  const lines = useMemo(
    () => (typeof block === 'string' ? null : seriesLines(block, table.time, subject, column)),
    [block, subject, column],
  )
  if (lines === null)
    return (
      <p class={block === '' ? 'loading' : 'alarm'}>
        {block === '' ? 'Loading the series …' : String(block)}
      </p>
    )
  const name = (key: number): string =>
    subject === 'job'
      ? jobOf(run, key).name
      : subject === 'router'
        ? run.routers.names.at(key)
        : subject === null
          ? measureLabel(column)
          : `${subject} ${key}`
  const props = { run, column, name, isJob: subject === 'job' }
  return (
    <>
      {lines.lines.length <= LINES_MAX ? (
        <LineChart lines={lines} {...props} />
      ) : (
        <HeatMap all={lines} {...props} />
      )}
      <Scrubber lines={lines} />
    </>
  )
}

interface ChartProps {
  readonly run: Run
  readonly column: string
  readonly isJob: boolean
  name(subject: number): string
}

const PAD = { left: 84, right: 16, top: 12, bottom: 28 }

function LineChart({ lines, run, column, name, isJob }: ChartProps & { lines: Lines }) {
  const session = useSession()
  const { time } = useStore(session.state)
  const frame = useRef<HTMLDivElement>(null)
  const { width, height } = useSize(frame)
  const unit = unitOf(column)
  const most = Math.max(
    1e-300,
    ...lines.lines.map((line) => line.values.reduce((max, v) => (v > max ? v : max), 0)),
  )
  const [t0, t1] = [lines.times[0]!, lines.times[lines.times.length - 1]!]
  const x = (t: number): number => PAD.left + ((t - t0) / (t1 - t0 || 1)) * (width - PAD.left - PAD.right)
  const y = (v: number): number => height - PAD.bottom - (v / most) * (height - PAD.top - PAD.bottom)
  const at = Math.min(time, lines.times.length - 1)
  return (
    <div class="chart" ref={frame} data-test="series-lines">
      <svg width={width} height={height}>
        {[0, 0.25, 0.5, 0.75, 1].map((share) => (
          <g key={share} class="axis">
            <line
              class="rule"
              x1={PAD.left}
              x2={width - PAD.right}
              y1={y(share * most)}
              y2={y(share * most)}
            />
            <text x={PAD.left - 8} y={y(share * most) + 4} text-anchor="end">
              {quantity(share * most, unit)}
            </text>
            <text
              x={x(t0 + share * (t1 - t0))}
              y={height - 8}
              text-anchor={share === 0 ? 'start' : share === 1 ? 'end' : 'middle'}
            >
              {quantity(t0 + share * (t1 - t0), 'ps')}
            </text>
          </g>
        ))}
        <line
          class="cursor"
          x1={x(lines.times[at]!)}
          x2={x(lines.times[at]!)}
          y1={PAD.top}
          y2={height - PAD.bottom}
        />
        {lines.lines.map((line) => (
          <path
            key={line.subject}
            class="series"
            d={linePath(lines.times, line.values, x, y)}
            stroke={isJob ? jobOf(run, line.subject).color : 'var(--accent)'}
          />
        ))}
      </svg>
      <ul class="legend-list">
        {lines.lines.map((line) => (
          <li key={line.subject}>
            <i
              class="swatch"
              style={{ background: isJob ? jobOf(run, line.subject).color : 'var(--accent)' }}
            />{' '}
            {name(line.subject)}: <b>{quantity(line.values[at]!, unit)}</b>
          </li>
        ))}
      </ul>
    </div>
  )
}

function linePath(
  times: Float64Array,
  values: Float64Array,
  x: (t: number) => number,
  y: (v: number) => number,
): string {
  let path = ''
  let open = false
  values.forEach((v, i) => {
    if (Number.isNaN(v)) open = false
    else {
      path += `${open ? 'L' : 'M'}${x(times[i]!).toFixed(1)} ${y(v).toFixed(1)}`
      open = true
    }
  })
  return path
}

function HeatMap({ all, run, column, name }: ChartProps & { all: Lines }) {
  const session = useSession()
  const state = useStore(session.state)
  const looks = looksFor(useContext(ThemeContext), state.ramp, false)
  const frame = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const size = useSize(frame)
  const shown = useMemo(() => strongest(all, HEAT_ROWS), [all])
  const most = useMemo(
    () =>
      Math.max(1e-300, ...shown.lines.map((line) => line.values.reduce((max, v) => (v > max ? v : max), 0))),
    [shown],
  )
  const unit = unitOf(column)
  const [rowHeight, cell] = [
    Math.max(1, (size.height - 20) / shown.lines.length),
    size.width / shown.times.length,
  ]
  const at = Math.min(state.time, shown.times.length - 1)
  useEffect(() => {
    if (!canvas.current || size.width === 0) return
    const context = prepareCanvas(canvas.current, size)
    shown.lines.forEach((line, row) =>
      line.values.forEach((v, i) => {
        context.fillStyle = v > 0 ? colorAt(looks, v / most) : looks.palette.empty
        context.fillRect(i * cell, row * rowHeight, cell + 0.5, rowHeight + 0.5)
      }),
    )
    context.strokeStyle = looks.palette.ink
    context.strokeRect(at * cell, 0, cell, shown.lines.length * rowHeight)
  }, [shown, size, looks, at])
  const hover = (event: PointerEvent): void => {
    const box = frame.current!.getBoundingClientRect()
    const [i, row] = [
      Math.floor((event.clientX - box.left) / cell),
      Math.floor((event.clientY - box.top) / rowHeight),
    ]
    const line = shown.lines[row]
    if (!line || i < 0 || i >= shown.times.length) return session.hover.set(null)
    const rows: [string, string][] = [
      ['From', quantity(shown.times[i]!, 'ps')],
      [measureLabel(column), quantity(line.values[i]!, unit)],
    ]
    session.hover.set({
      run,
      links: [],
      routers: [],
      groups: [],
      tip: { title: name(line.subject), rows, shares: [], note: '' },
      x: event.clientX,
      y: event.clientY,
    })
  }
  return (
    <>
      <div
        class="chart heat"
        ref={frame}
        onPointerMove={hover}
        onPointerLeave={() => session.hover.set(null)}
        data-test="series-heat"
      >
        <canvas ref={canvas} />
      </div>
      <p class="reading">
        {count(shown.lines.length)} of {count(all.lines.length)} rows
        {shown.lines.length < all.lines.length ? ', those with the largest sums,' : ''} from 0 to{' '}
        {quantity(most, unit)}; time runs to the right.
      </p>
    </>
  )
}

function Scrubber({ lines }: { lines: Lines }) {
  const session = useSession()
  const state = useStore(session.state)
  const [playing, setPlaying] = useState(false)
  const last = lines.times.length - 1
  const at = Math.min(state.time, last)
  useEffect(() => {
    if (!playing) return
    const timer = setInterval(() => {
      const now = session.state.get().time
      if (now >= last) setPlaying(false)
      else session.state.patch({ time: now + 1 })
    }, 80)
    return () => clearInterval(timer)
  }, [playing, last])
  const toggle = (): void => {
    if (!playing && at >= last) session.state.patch({ time: 0 })
    setPlaying(!playing)
  }
  return (
    <div class="scrubber">
      <button onClick={toggle}>{playing ? 'pause' : 'play'}</button>
      <input
        type="range"
        min={0}
        max={last}
        value={at}
        aria-label="Time"
        onInput={(event) => session.state.patch({ time: Number(event.currentTarget.value) })}
      />
      <span data-test="time">{quantity(lines.times[at]!, 'ps')}</span>
    </div>
  )
}
