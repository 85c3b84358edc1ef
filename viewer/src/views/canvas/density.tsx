/** A density map, such as bytes between ranks, in the chosen colours over its own range. */
import { useMemo } from 'preact/hooks'
import type { Unit } from '../../base/format'
import type { Tip } from '../../data/describe'
import type { DerivedRun } from '../../data/model'
import type { Density } from '../../data/placement'
import { densityCells, ROWS_MAX, type Rows } from '../../data/rows'
import { colorScale, type ColorScale } from '../../data/scale'
import type { ScaleKind } from '../../data/state'
import { drawDensity } from '../../draw/density'
import { useSession, useStore } from '../session/session'
import { TableButton } from '../tables/tables'
import { Marks } from './marks'
import { MiniRamp } from './miniramp'
import './canvas.css'

interface DensityProps {
  readonly map: Density
  readonly label: string
  readonly run: DerivedRun['run']
  readonly unit: Unit
  readonly across: readonly [string, string]
  readonly down: string
  readonly test: string
  /** Scale shared with other maps; default: own values. */
  readonly on?: ColorScale
  describe(column: number, row: number, value: number): Pick<Tip, 'title' | 'rows'>
}

export function DensityView({ map, label, run, unit, across, down, test, on, describe }: DensityProps) {
  const { scale: kind } = useStore(useSession().state)
  const scale = useMemo(() => on ?? densityScale([map], kind), [map, kind, on])
  const placeOf = (i: number): [column: number, row: number] => [i % map.columns, Math.floor(i / map.columns)]
  return (
    <div class="density-body">
      <div class="ends">
        <span>{down}</span>
        <MiniRamp scale={scale} unit={unit} />
      </div>
      <Marks
        label={`${label}; the keys . and , select the next and previous cell`}
        test={test}
        run={run}
        frame="density-frame"
        of={[map, scale]}
        picture={(size) => size}
        draw={(pen, size, looks) => drawDensity(pen, size, map, scale, looks)}
        markAt={({ width, height }, x, y) => {
          const [column, row] = [Math.floor((x / width) * map.columns), Math.floor((y / height) * map.rows)]
          const inside = column >= 0 && column < map.columns && row >= 0 && row < map.rows
          return inside ? row * map.columns + column : null
        }}
        text={(_, i) => ({
          ...describe(...placeOf(i), map.values[i]!),
          note: map.values[i] === 0 ? 'none' : '',
        })}
        order={() => densityCells(map)}
        place={({ width, height }, i) => {
          const [column, row] = placeOf(i)
          return { x: ((column + 0.5) / map.columns) * width, y: ((row + 0.5) / map.rows) * height }
        }}
      />
      <div class="ends">
        <span>{across[0]}</span>
        <TableButton of={label} rows={() => densityRows(map, label, describe)} />
        <span>{across[1]}</span>
      </div>
    </div>
  )
}

/** Scale over all values of these maps. */
export function densityScale(maps: readonly Density[], kind: ScaleKind): ColorScale {
  const values = maps.flatMap((map) => [...map.values.filter((value) => value > 0)])
  return colorScale(kind, Float64Array.from(values).sort(), false, null)
}

function densityRows(map: Density, title: string, describe: DensityProps['describe']): Rows {
  const cells = densityCells(map)
  const words = cells
    .slice(0, ROWS_MAX)
    .map((i) => describe(i % map.columns, Math.floor(i / map.columns), map.values[i]!))
  const head = ['Cell', ...(words[0]?.rows.map(([name]) => name) ?? [])]
  const rows = words.map(({ title, rows }) => [title, ...rows.map(([, text]) => text)])
  return { title, head, rows, all: cells.length }
}
