/** A histogram per link class on one axis, with a brush that filters. */
import { useContext, useId, useMemo, useRef } from 'preact/hooks'
import { count } from '../../base/format'
import { show } from '../../data/describe'
import type { ValueRange } from '../../data/range'
import { binCounts } from '../../data/histogram'
import type { DerivedRun } from '../../data/model'
import { classRows } from '../../data/rows'
import { PERCENTILES } from '../../data/stats'
import { looksFor } from '../../draw/look'
import { Brush } from './brush'
import { SettingButtons } from './choice'
import { MeasureChoice } from './controls'
import { bars, HistogramAxis, mostOf } from './histogram'
import { HottestFilter, Range } from './range'
import { ThemeContext, useSession, useStore } from '../session/session'
import { useSize } from '../canvas/size'
import { TableButton } from '../tables/tables'
import './distribution.css'

const BINS = 64
const ROW = 58
const BAR = 34
const AXIS = 18

export function Distribution({ derived: d }: { derived: DerivedRun }) {
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
  const gradient = useId()
  const x = (value: number): number => Math.max(0, Math.min(1, d.axis.position(value))) * width
  const { range } = d
  const [low, high] = range.ends ?? [-Infinity, Infinity]
  const [from, to] = [low === -Infinity ? 0 : x(low), high === Infinity ? width : x(high)]
  return (
    <section class="card" aria-label="Distribution">
      <header>
        <MeasureChoice derived={d} />
        <SettingButtons setting="histogram" label="Histogram axis" />
      </header>
      <div class="histogram" ref={frame}>
        {classes.map(({ name, code }, row) => (
          <ClassRow key={name} derived={d} name={name} code={code} top={row * ROW} />
        ))}
        <svg width={width} height={height + AXIS} role="img" aria-label="Histograms of the link classes">
          <ColorGradient derived={d} width={width} id={gradient} />
          {classes.map(({ name, code }, row) => (
            <ClassBars
              key={name}
              derived={d}
              name={name}
              code={code}
              counts={histograms[code]!.counts}
              top={row * ROW}
              width={width}
              x={x}
              fill={`url(#${gradient})`}
            />
          ))}
          <HistogramAxis axis={d.axis} unit={d.measure.unit} width={width} y={height} />
          {width > 0 && <Brush derived={d} width={width} height={height} from={from} to={to} />}
        </svg>
      </div>
      <HottestFilter derived={d} />
      <Range unit={d.measure.unit} />
      <div class="hint foot">
        <p>
          <span class="tick-mark" /> 50th, 90th, 99th percentile
          {histograms.some((h) => h.zeros > 0) &&
            `; ${count(histograms.reduce((n, h) => n + h.zeros, 0))} links without traffic are not on the log axis`}
        </p>
        <TableButton of="distribution" rows={() => classRows([d], `${d.measure.label} of links by class`)} />
      </div>
    </section>
  )
}

interface ClassBarsProps {
  readonly derived: DerivedRun
  readonly name: string
  readonly code: number
  readonly counts: Uint32Array
  readonly top: number
  readonly width: number
  readonly x: (value: number) => number
  readonly fill: string
}

/** The colours of the pictures along the axis: the histogram is their legend. */
function ColorGradient({ derived: d, width, id }: { derived: DerivedRun; width: number; id: string }) {
  const { ramp } = useStore(useSession().state)
  const looks = looksFor(useContext(ThemeContext), ramp, d.signed)
  const stops = Array.from({ length: 25 }, (_, i) => i / 24)
  return (
    <linearGradient id={id} gradientUnits="userSpaceOnUse" x1={0} x2={width} y1={0} y2={0}>
      {stops.map((share) => (
        <stop key={share} offset={share} stop-color={looks.colors[d.scale.shade(d.axis.value(share))]} />
      ))}
    </linearGradient>
  )
}

/** Histogram of a class, the selected part in colour, with its percentiles. */
function ClassBars({ derived: d, name, code, counts, top, width, x, fill }: ClassBarsProps) {
  const path = bars(counts, mostOf([counts]), width, top + ROW - 2, BAR)
  const { percentiles } = d.stats[code]!
  return (
    <g class={d.classOn[code] === 1 ? '' : 'off'}>
      <path d={path} class="bars" />
      <path
        d={path}
        class="bars selected"
        style={{ fill, clipPath: clipTo(selectedParts(d.range, code, x, width), top, ROW) }}
      />
      <line x1={0} x2={width} y1={top + ROW - 1.5} y2={top + ROW - 1.5} class="base" />
      {PERCENTILES.map((p, i) => {
        const at = x(percentiles[i]!)
        return (
          <line key={p} x1={at} x2={at} y1={top + ROW - BAR} y2={top + ROW + 1} class="percentile">
            <title>{`${p}th percentile of the ${name} links: ${show(d, percentiles[i]!)}`}</title>
          </line>
        )
      })}
    </g>
  )
}

/** Selected intervals of a class on the axis. */
function selectedParts(
  { lows, highs, inverted }: ValueRange,
  code: number,
  x: (value: number) => number,
  width: number,
): [number, number][] {
  const [low, high] = [lows[code]!, highs[code]!]
  const from = low === -Infinity ? 0 : low === Infinity ? width : x(low)
  const to = high === Infinity ? width : x(high)
  return inverted
    ? [
        [0, from],
        [to, width],
      ]
    : [[from, to]]
}

/** A CSS clip path for the selected parts. An SVG clipPath would force a layout at every move. */
function clipTo(parts: readonly [number, number][], top: number, height: number): string {
  const corners = parts.flatMap(([from, to]) => {
    const [left, right] = [`${from}px`, `${Math.max(from, to)}px`]
    const [above, below] = [`${top}px`, `${top + height}px`]
    return [
      `${left} ${above}`,
      `${right} ${above}`,
      `${right} ${below}`,
      `${left} ${below}`,
      `${left} ${above}`,
    ]
  })
  return `polygon(${corners.join(', ')}) view-box`
}

interface ClassRowProps {
  readonly derived: DerivedRun
  readonly name: string
  readonly code: number
  readonly top: number
}

/** Name and switch of a class, with selected count and mean. */
function ClassRow({ derived: d, name, code, top }: ClassRowProps) {
  const session = useSession()
  const { classesOff } = useStore(session.state)
  const stats = d.stats[code]!
  const selected = d.selection.counts[code]!
  const toggle = (): void =>
    session.state.patch({
      classesOff: classesOff.includes(name) ? classesOff.filter((c) => c !== name) : [...classesOff, name],
    })
  return (
    <div
      class="histogram-row"
      style={{
        height: `${ROW - BAR}px`,
        top: `${top}px`,
      }}
    >
      <label>
        <input
          type="checkbox"
          checked={d.classOn[code] === 1}
          onChange={toggle}
          data-test={`class-${name}`}
        />
        <b>{name}</b>
      </label>
      <span
        data-test={`count-${name}`}
        title={`${count(stats.nonzero)} of ${count(stats.links)} links have traffic`}
      >
        {count(selected)} of {count(stats.links)}
      </span>
      <span
        data-test={`mean-${name}`}
        title={`Mean of the selected links. Mean of all ${name} links: ${show(d, stats.mean)}`}
      >
        ⌀ {selected > 0 ? show(d, d.selection.sums[code]! / selected) : '–'}
      </span>
    </div>
  )
}
