/** A histogram per link class over one axis, and the brush that filters. */
import { brushX, type BrushBehavior, type D3BrushEvent } from 'd3-brush'
import { select } from 'd3-selection'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { count, exampleOf, parseQuantity, quantity, type Unit } from '../base/format'
import { show } from '../data/describe'
import { binCounts } from '../data/histogram'
import type { Derived } from '../data/model'
import { PERCENTILES } from '../data/stats'
import { bars, HistogramAxis, mostOf } from './histogram'
import { useSession, useStore } from './session'
import { useSize } from './size'

const BINS = 64
const ROW = 58
const BAR = 34
const AXIS = 18

export function Distribution({ derived: d }: { derived: Derived }) {
  const session = useSession()
  const state = useStore(session.state)
  const frame = useRef<HTMLDivElement>(null)
  const { width } = useSize(frame)
  const classes = d.run.links.classes
    .map((name, code) => ({ name, code }))
    .filter(({ code }) => d.stats[code]!.links > 0)
  const histograms = useMemo(
    () => d.sorted.map((sorted) => binCounts(sorted, d.axis, BINS)),
    [d.sorted, d.axis],
  )
  const height = ROW * classes.length
  const x = (value: number): number => Math.max(0, Math.min(1, d.axis.position(value))) * width
  const [from, to] = [state.low === null ? 0 : x(state.low), state.high === null ? width : x(state.high)]
  const toggle = (name: string): void => {
    const off = state.classesOff.includes(name)
      ? state.classesOff.filter((c) => c !== name)
      : [...state.classesOff, name]
    session.state.patch({ classesOff: off })
  }
  return (
    <section class="card" aria-label="Distribution">
      <header>
        <h2>Distribution</h2>
        <span class="spring" />
        <button
          disabled={state.low === null && state.high === null}
          onClick={() => session.state.patch({ low: null, high: null })}
          title="Show all values (Esc)"
          data-test="range-all"
        >
          all
        </button>
        <div class="segmented" role="group" aria-label="Histogram axis">
          {(['linear', 'log'] as const).map((kind) => (
            <button
              key={kind}
              aria-pressed={state.histogram === kind}
              onClick={() => session.state.patch({ histogram: kind })}
            >
              {kind}
            </button>
          ))}
        </div>
      </header>
      <div class="histogram" ref={frame}>
        {classes.map(({ name, code }) => {
          const stats = d.stats[code]!
          const selected = d.selection.counts[code]!
          return (
            <div
              class="histogram-row"
              key={name}
              style={{
                height: `${ROW - BAR}px`,
                top: `${classes.findIndex((c) => c.code === code) * ROW}px`,
              }}
            >
              <label>
                <input
                  type="checkbox"
                  checked={d.classOn[code] === 1}
                  onChange={() => toggle(name)}
                  data-test={`class-${name}`}
                />
                <b>{name}</b>
              </label>
              <span
                data-test={`count-${name}`}
                title={`${count(stats.nonzero)} of ${count(stats.links)} links carry something`}
              >
                {count(selected)} of {count(stats.links)}
              </span>
              <span
                data-test={`mean-${name}`}
                title={`Mean of the selected links; of all ${name} links: ${show(d, stats.mean)}`}
              >
                ⌀ {selected > 0 ? show(d, d.selection.sums[code]! / selected) : '–'}
              </span>
            </div>
          )
        })}
        <svg width={width} height={height + AXIS} role="img" aria-label="Histograms of the link classes">
          <defs>
            <clipPath id="brushed">
              <rect x={from} y={0} width={Math.max(0, to - from)} height={height} />
            </clipPath>
          </defs>
          {classes.map(({ name, code }, row) => {
            const { counts } = histograms[code]!
            const path = bars(counts, mostOf([counts]), width, row * ROW + ROW - 2, BAR)
            return (
              <g key={name} class={d.classOn[code] === 1 ? '' : 'off'}>
                <path d={path} class="bars" />
                <path d={path} class="bars selected" clip-path="url(#brushed)" />
                <line x1={0} x2={width} y1={row * ROW + ROW - 1.5} y2={row * ROW + ROW - 1.5} class="base" />
                {PERCENTILES.map((p, i) => {
                  const at = x(d.stats[code]!.percentiles[i]!)
                  return (
                    <line
                      key={p}
                      x1={at}
                      x2={at}
                      y1={row * ROW + ROW - BAR}
                      y2={row * ROW + ROW + 1}
                      class="percentile"
                    >
                      <title>{`${p} % of the ${name} links have at most ${show(d, d.stats[code]!.percentiles[i]!)}`}</title>
                    </line>
                  )
                })}
              </g>
            )
          })}
          <HistogramAxis axis={d.axis} unit={d.measure.unit} width={width} y={height} />
          {width > 0 && <Brush derived={d} width={width} height={height} from={from} to={to} />}
        </svg>
      </div>
      <Range unit={d.measure.unit} />
      <p class="hint">
        <span class="tick-mark" /> 50th, 90th, 99th percentile
        {histograms.some((h) => h.zeros > 0) &&
          `; ${count(histograms.reduce((n, h) => n + h.zeros, 0))} empty links are left of the axis`}
      </p>
    </section>
  )
}

/** d3's brush; the settings hold its range, so it is moved when they change from elsewhere. */
function Brush({
  derived: d,
  width,
  height,
  from,
  to,
}: {
  derived: Derived
  width: number
  height: number
  from: number
  to: number
}) {
  const session = useSession()
  const element = useRef<SVGGElement>(null)
  const brush = useRef<BrushBehavior<unknown> | null>(null)
  const axis = useRef(d.axis)
  axis.current = d.axis
  useEffect(() => {
    const behavior = brushX<unknown>().extent([
      [0, 0],
      [width, height],
    ])
    let pending: [number, number] | null | undefined
    const apply = (): void => {
      if (pending === undefined) return
      const range = pending
      pending = undefined
      session.state.patch({
        low: range === null || range[0] <= 0.5 ? null : axis.current.value(range[0] / width),
        high: range === null || range[1] >= width - 0.5 ? null : axis.current.value(range[1] / width),
      })
    }
    behavior.on('start brush end', (event: D3BrushEvent<unknown>) => {
      if (!event.sourceEvent) return
      session.dragging.set(event.type !== 'end')
      if (event.type === 'start') return
      // Pointers report faster than the screen refreshes: the last position of a frame counts.
      const idle = pending === undefined
      pending = event.selection as [number, number] | null
      if (idle) requestAnimationFrame(apply)
    })
    brush.current = behavior
    select(element.current!).call(behavior as never)
    return () => void select(element.current!).on('.brush', null)
  }, [width, height])
  useEffect(() => {
    if (!brush.current) return
    const open = from <= 0 && to >= width
    select(element.current!).call(brush.current.move as never, open ? null : [from, Math.max(from, to)])
  }, [from, to, width, height])
  return <g class="brush" ref={element} data-test="brush" />
}

/** The brushed range as text, for exact values and for the keyboard. */
function Range({ unit }: { unit: Unit }) {
  const session = useSession()
  const state = useStore(session.state)
  const field = (key: 'low' | 'high', label: string, empty: string) => (
    <RangeField
      key={key}
      label={label}
      empty={empty}
      unit={unit}
      value={state[key]}
      onChange={(value) => session.state.patch({ [key]: value })}
    />
  )
  return (
    <div class="range">
      {field('low', 'from', 'least')}
      {field('high', 'to', 'most')}
    </div>
  )
}

interface RangeFieldProps {
  readonly label: string
  readonly empty: string
  readonly unit: Unit
  readonly value: number | null
  onChange(value: number | null): void
}

function RangeField({ label, empty, unit, value, onChange }: RangeFieldProps) {
  const [text, setText] = useState<string | null>(null)
  const parsed = text === null || text.trim() === '' ? null : parseQuantity(text, unit)
  const wrong = text !== null && text.trim() !== '' && parsed === null
  const commit = (): void => {
    if (text !== null && !wrong) onChange(parsed)
    setText(null)
  }
  return (
    <label
      class={wrong ? 'wrong' : ''}
      title={wrong ? `Not understood; write for instance ${exampleOf(unit)}` : ''}
    >
      {label}
      <input
        data-test={`range-${label}`}
        value={text ?? (value === null ? '' : quantity(value, unit, 4))}
        placeholder={empty}
        onInput={(event) => setText(event.currentTarget.value)}
        onBlur={commit}
        onKeyDown={(event) => {
          event.stopPropagation()
          if (event.key === 'Enter') commit()
          if (event.key === 'Escape') setText(null)
        }}
      />
    </label>
  )
}
