/** Histogram paths: filled bars, outline and axis. */
import { quantity, type Unit } from '../../base/format'
import { axisTicks, type ValueAxis } from '../../data/histogram'

/** Largest bin of all histograms in a row. */
export const mostOf = (rows: readonly Uint32Array[]): number =>
  rows.reduce((most, counts) => counts.reduce((max, n) => Math.max(max, n), most), 1)

// Square root scale keeps small bins visible; at least one pixel.
const rise = (n: number, most: number, height: number): number =>
  n === 0 ? 0 : Math.max(1, Math.sqrt(n / most) * height)

export function bars(counts: Uint32Array, most: number, width: number, base: number, height: number): string {
  const step = width / counts.length
  const wide = Math.max(0.5, step - 0.6).toFixed(1)
  let path = ''
  counts.forEach((n, bin) => {
    if (n > 0)
      path += `M${(bin * step).toFixed(1)} ${base}h${wide}v${(-rise(n, most, height)).toFixed(1)}h-${wide}Z`
  })
  return path
}

export function outline(
  counts: Uint32Array,
  most: number,
  width: number,
  base: number,
  height: number,
): string {
  const step = width / counts.length
  let path = `M0 ${base}`
  counts.forEach((n, bin) => {
    path += `V${(base - rise(n, most, height)).toFixed(1)}H${((bin + 1) * step).toFixed(1)}`
  })
  return `${path}V${base}`
}

interface HistogramAxisProps {
  readonly axis: ValueAxis
  readonly unit: Unit
  readonly width: number
  readonly y: number
}

export function HistogramAxis({ axis, unit, width, y }: HistogramAxisProps) {
  const ticks = axisTicks(axis, width / 70, unit === 'bytes' ? 2 : 10)
  return (
    <g class="axis">
      {ticks.map((tick) => {
        const at = axis.position(tick) * width
        const anchor = at < 18 ? 'start' : at > width - 18 ? 'end' : 'middle'
        return (
          <g key={tick}>
            <line x1={at} x2={at} y1={y - 1} y2={y + 3} />
            <text x={at} y={y + 14} text-anchor={anchor}>
              {quantity(tick, unit, 2)}
            </text>
          </g>
        )
      })}
    </g>
  )
}
