/** Load-duration curves by job: all links of a class, most loaded first. */
import { useMemo } from 'preact/hooks'
import { count } from '../../../base/format'
import { jobOf, show } from '../../../data/describe'
import { jobTotals } from '../../../data/jobbars'
import { loadCurves, type LoadCurve, type LoadCurves as Curves } from '../../../data/load'
import type { DerivedRun } from '../../../data/model'
import './load.css'

const [WIDTH, HEIGHT] = [120, 84]

export function LoadCurves({ derived: d }: { derived: DerivedRun }) {
  const totals = useMemo(() => jobTotals(d), [d.run, d.measure])
  const found = useMemo(() => loadCurves(d, totals), [d.run, d.values, d.counted, d.classOn])
  // The same elements again while a range is dragged, which selects links and changes no curve.
  return useMemo(() => section(d, found), [found, d.measure, d.signed])
}

function section(d: DerivedRun, { curves, layers }: Curves) {
  const most = Math.max(...curves.map(({ max }) => max), 0)
  if (d.signed || !(most > 0)) return null
  const colors = layers.map((job) => (job < 0 ? 'var(--bar)' : jobOf(d.run, job).color))
  return (
    <section class="load" aria-label="Links by load" data-test="load">
      <h3>{d.measure.label} of the links, most loaded first, by job</h3>
      <div class="load-curves">
        {curves.map((curve) => (
          <Curve key={curve.name} derived={d} curve={curve} most={most} colors={colors} />
        ))}
      </div>
    </section>
  )
}

interface CurveProps {
  readonly derived: DerivedRun
  readonly curve: LoadCurve
  readonly most: number
  readonly colors: readonly string[]
}

function Curve({ derived: d, curve: { name, links, mean, max, steps }, most, colors }: CurveProps) {
  const y = (value: number): number => HEIGHT - (HEIGHT * value) / most
  const said = `${name}: ${count(links)} links, max ${show(d, max)}, mean ${show(d, mean)}`
  return (
    <figure>
      <figcaption>
        <b>{name}</b> <span>{count(links)} links</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={said}>
        <title>{said}</title>
        {colors.map((color, layer) => (
          <path key={layer} d={layerPath(steps, layer, y)} fill={color} />
        ))}
        <line x1={0} x2={WIDTH} y1={y(mean)} y2={y(mean)} class="mean" />
      </svg>
      <p class="hint">
        <span>max {show(d, max)}</span>
        <span>
          <i class="mean-mark" /> mean {show(d, mean)}
        </span>
      </p>
    </figure>
  )
}

/** The layer above those below it, as one closed path. */
function layerPath(steps: LoadCurve['steps'], layer: number, y: (value: number) => number): string {
  const below = (parts: Float64Array, layers: number): number =>
    parts.subarray(0, layers).reduce((sum, v) => sum + v, 0)
  let [over, back] = ['', '']
  for (const { from, to, parts } of steps) {
    const [low, high] = [y(below(parts, layer)).toFixed(2), y(below(parts, layer + 1)).toFixed(2)]
    const [left, right] = [(from * WIDTH).toFixed(2), (to * WIDTH).toFixed(2)]
    over += `L${left} ${high}L${right} ${high}`
    back = `L${right} ${low}L${left} ${low}${back}`
  }
  return over === '' ? '' : `M${over.slice(1)}${back}Z`
}
