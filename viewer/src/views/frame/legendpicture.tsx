/** How to read the picture of a machine: its parts with their names. */

import { BLUE, ORANGE } from '../../base/palette'
import { RAMPS, SEQUENTIAL_DEFAULT } from '../../base/ramps'

const RAMP = RAMPS[SEQUENTIAL_DEFAULT]!.light

/** The part of a ring that is drawn, around a centre below it. */
const CENTRE = { x: 150, y: 330 }
const GROUPS = [-0.46, 0.02] as const
const SPAN = 0.42
const COLUMNS = 6

const at = (angle: number, radius: number): [number, number] => [
  CENTRE.x + radius * Math.sin(angle),
  CENTRE.y - radius * Math.cos(angle),
]

/** A piece of a ring. */
function piece(start: number, end: number, inner: number, outer: number): string {
  const point = (angle: number, radius: number): string => at(angle, radius).join(' ')
  const [a, b] = [point(start, inner), point(start, outer)]
  const [c, d] = [point(end, outer), point(end, inner)]
  return `M${a}L${b}A${outer} ${outer} 0 0 1 ${c}L${d}A${inner} ${inner} 0 0 0 ${a}Z`
}

/** Part, where it is, and where its name is. */
const NAMES: readonly (readonly [string, readonly [number, number], number])[] = [
  ['band: traffic of each job that leaves the group', at(0.4, 283), 22],
  ['tick: a node', at(0.43, 264), 50],
  ['dot: a router, in the colour of its job', at(0.4, 238), 78],
  ['sector: a group', at(0.435, 216), 106],
  ['arc: a link between groups, wide at its source', [178, 186], 134],
  ['colour: the measure; the histogram is its legend', [140, 196], 162],
]

export function LegendPicture() {
  const columns = Array.from({ length: COLUMNS }, (_, i) => ((i + 0.5) * SPAN) / COLUMNS)
  const color = (group: number, column: number): string =>
    column === COLUMNS - 1 ? 'var(--idle)' : group === 0 ? BLUE : column < 3 ? ORANGE : BLUE
  return (
    <svg class="legend-picture" viewBox="0 0 640 250" role="img" aria-label="The parts of the picture">
      {GROUPS.map((start, group) => (
        <g key={start}>
          <path d={piece(start, start + SPAN, 206, 258)} fill="var(--panel)" stroke="var(--line)" />
          {columns.map((angle, column) =>
            [216, 232, 248].map((radius) => {
              const [cx, cy] = at(start + angle, radius)
              return (
                <circle key={`${column} ${radius}`} cx={cx} cy={cy} r={4.4} fill={color(group, column)} />
              )
            }),
          )}
          {columns.map((angle, column) => (
            <path
              key={column}
              d={piece(start + angle - 0.026, start + angle + 0.026, 261, 267)}
              fill={color(group, column)}
            />
          ))}
          <path d={piece(start, start + 0.2, 271, 281)} fill={group === 0 ? BLUE : ORANGE} />
          <path d={piece(start + 0.2, start + SPAN, 271, 281)} fill={BLUE} />
        </g>
      ))}
      <path d="M84 150Q120 232 196 142L204 146Q120 244 84 150Z" fill={RAMP[3]} />
      {NAMES.map(([name, [x, y], line]) => (
        <g key={name}>
          <path d={`M${x} ${y}L292 ${line}H302`} fill="none" stroke="var(--muted)" />
          <circle cx={x} cy={y} r={1.8} fill="var(--muted)" />
          <text x={307} y={line + 4}>
            {name}
          </text>
        </g>
      ))}
      {Array.from({ length: 16 }, (_, i) => (
        <rect
          key={i}
          x={307 + (i % 4) * 12}
          y={186 + Math.floor(i / 4) * 12}
          width={11}
          height={11}
          fill={RAMP[(i * 7 + (i >> 2)) % 5]}
        />
      ))}
      <text x={366} y={206}>
        matrix: traffic between groups;
      </text>
      <text x={366} y={223}>
        rows send, columns receive
      </text>
    </svg>
  )
}
