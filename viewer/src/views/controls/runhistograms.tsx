/** Histograms of the compared runs on one axis: the base filled, the others outlined. */
import { useMemo, useRef } from 'preact/hooks'
import { count } from '../../base/format'
import { show } from '../../data/describe'
import { binCounts } from '../../data/histogram'
import type { DerivedRun } from '../../data/model'
import { classRows } from '../../data/rows'
import { bars, HistogramAxis, mostOf, outline } from './histogram'
import { useSize } from '../canvas/size'
import { TableButton } from '../tables/tables'

const BINS = 64
const ROW = 50
const BAR = 34
const AXIS = 18

/** Stands for a class that a run lacks. */
const EMPTY = new Float64Array()

export function RunHistograms({ runs }: { runs: readonly DerivedRun[] }) {
  const frame = useRef<HTMLDivElement>(null)
  const { width } = useSize(frame)
  const [base, ...others] = runs
  const rows = useMemo(
    () =>
      base!.run.links.classes
        .map((name, code) => ({ name, code }))
        .filter(({ code }) => base!.stats[code]!.links > 0)
        .map(({ name, code }) => {
          const sorted = runs.map((d) => d.sorted[d.run.links.classes.indexOf(name)] ?? EMPTY)
          const stats = runs.map((d) => d.stats[d.run.links.classes.indexOf(name)])
          const bins = sorted.map((values) => binCounts(values, base!.axis, BINS).counts)
          return { name, on: base!.classOn[code] === 1, bins, most: mostOf(bins), stats }
        }),
    [base!.axis, base!.classOn, ...runs.map((d) => d.sorted), runs.length],
  )
  const height = ROW * rows.length
  return (
    <section class="card both" aria-label="Distributions of the compared runs" data-test="both">
      <header>
        <h2>Distribution in {others.length === 1 ? 'both' : 'all'} runs</h2>
        <TableButton
          of="distributions of the compared runs"
          rows={() => classRows(runs, 'Compared runs by class')}
        />
      </header>
      <p class="run-key">
        <span>
          <i class="swatch filled" /> {base!.run.label}
        </span>
        {others.map((d, i) => (
          <span key={d.run.id}>
            <i class={`swatch outlined n${i}`} /> {d.run.label}
          </span>
        ))}
      </p>
      <div class="histogram" ref={frame}>
        <svg width={width} height={height + AXIS} role="img" aria-label="Histograms of the compared runs">
          {rows.map(({ name, on, bins, most, stats }, row) => {
            const y = row * ROW + ROW - 2
            return (
              <g key={name} class={on ? '' : 'off'}>
                <text x={0} y={row * ROW + 10} class="class-name">
                  {name}
                  <title>
                    {runs
                      .map(
                        (d, i) =>
                          `${d.run.label}: ${count(stats[i]?.links ?? 0)} links, mean ${show(d, stats[i]?.mean ?? NaN)}`,
                      )
                      .join('\n')}
                  </title>
                </text>
                <path d={bars(bins[0]!, most, width, y, BAR)} class="bars" />
                {bins.slice(1).map((counts, i) => (
                  <path
                    key={i}
                    d={outline(counts, most, width, y, BAR)}
                    class={`outline n${i}`}
                    data-test={`outline-${name}-${i}`}
                  />
                ))}
                <line x1={0} x2={width} y1={y + 0.5} y2={y + 0.5} class="base" />
              </g>
            )
          })}
          <HistogramAxis axis={base!.axis} unit={base!.measure.unit} width={width} y={height} />
        </svg>
      </div>
    </section>
  )
}
