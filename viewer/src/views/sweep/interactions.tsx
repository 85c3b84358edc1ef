/** A figure over one setting, one line per value of a second: parallel lines mean no interaction. */
import { useRef } from 'preact/hooks'
import { quantity } from '../../base/format'
import { categoryColors } from '../../base/palette'
import { axisTicks, valueAxis } from '../../data/histogram'
import { cellText } from '../tables/pivot'
import { type SweepTable } from './sweep'
import { useSize } from '../canvas/size'

const PAD = { left: 92, right: 24, top: 12, bottom: 44 }

/** A colour per value, independent of drawing order. */
export function levelColors(levels: readonly string[]): string[] {
  const sorted = [...levels].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  const colors = categoryColors(sorted)
  return levels.map((level) => colors[sorted.indexOf(level)]!)
}

export function Interactions({ table: { pivot, figure, columnKey } }: { table: SweepTable }) {
  const frame = useRef<HTMLDivElement>(null)
  const { width, height } = useSize(frame)
  const colors = levelColors(pivot.columns)
  const spread = pivot.cells.flat().flatMap((cell) => (cell ? [cell.least, cell.most] : []))
  const axis = valueAxis('linear', Math.min(0, ...spread), Math.max(...spread), 1)
  const inner = Math.max(1, width - PAD.left - PAD.right)
  const x = (row: number): number => PAD.left + ((row + 0.5) * inner) / pivot.rows.length
  const y = (v: number): number =>
    height - PAD.bottom - axis.position(v) * Math.max(0, height - PAD.top - PAD.bottom)
  return (
    <div class="interactions">
      <ul class="legend">
        {pivot.columns.map((column, c) => (
          <li key={column}>
            <i class="swatch" style={{ background: colors[c]! }} /> {columnKey} {column}
          </li>
        ))}
      </ul>
      <div class="chart" ref={frame} data-test="interactions">
        <svg width={width} height={height} role="img" aria-label={`${figure.label}; see the map for numbers`}>
          <g class="axis">
            {axisTicks(axis, Math.max(2, height / 50), figure.unit === 'bytes' ? 2 : 10).map((tick) => (
              <g key={tick}>
                <line class="rule" x1={PAD.left} x2={width - PAD.right} y1={y(tick)} y2={y(tick)} />
                <text x={PAD.left - 8} y={y(tick) + 4} text-anchor="end">
                  {quantity(tick, figure.unit)}
                </text>
              </g>
            ))}
            {pivot.rows.map((row, r) => (
              <text key={row} x={x(r)} y={height - PAD.bottom + 18} text-anchor="middle">
                {row}
              </text>
            ))}
          </g>
          {pivot.columns.map((column, c) => {
            const points = pivot.rows.flatMap((_, r) => {
              const cell = pivot.cells[r]![c]
              return cell ? [{ cell, at: x(r) + (c - (pivot.columns.length - 1) / 2) * 5 }] : []
            })
            return (
              <g key={column} stroke={colors[c]} fill={colors[c]}>
                <path
                  class="series"
                  d={points
                    .map(
                      ({ cell, at }, i) =>
                        `${i === 0 ? 'M' : 'L'}${at.toFixed(1)} ${y(cell.mean).toFixed(1)}`,
                    )
                    .join('')}
                />
                {points.map(({ cell, at }) => (
                  <g key={at}>
                    <line x1={at} x2={at} y1={y(cell.least)} y2={y(cell.most)} stroke-width={2} />
                    <circle cx={at} cy={y(cell.mean)} r={4}>
                      <title>{`${columnKey} ${column}: ${cellText(cell, figure.unit).filter(Boolean).join(', ')}`}</title>
                    </circle>
                  </g>
                ))}
              </g>
            )
          })}
        </svg>
      </div>
    </div>
  )
}
