/** A density map, such as bytes between ranks, in the chosen colours over its own range. */
import { useContext, useEffect, useMemo, useRef } from 'preact/hooks'
import { quantity, type Unit } from '../../base/format'
import type { Tip } from '../../data/describe'
import type { DerivedRun } from '../../data/model'
import { minCellSize, type Density } from '../../data/placement'
import { densityCells, ROWS_MAX, type Rows } from '../../data/rows'
import { colorScale, type ColorScale } from '../../data/scale'
import type { ScaleKind } from '../../data/state'
import { looksFor, type LookTable } from '../../draw/look'
import { ThemeContext, useSession, useStore } from '../session/session'
import { prepareCanvas, useSize, type Size } from './size'
import { useSteps } from './steps'
import { TableButton } from '../tables/tables'

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
  const session = useSession()
  const { ramp, scale: kind } = useStore(session.state)
  const looks = looksFor(useContext(ThemeContext), ramp, false)
  const frame = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const size = useSize(frame)
  const scale = useMemo(() => on ?? densityScale([map], kind), [map, kind, on])
  useEffect(() => {
    if (!canvas.current || size.width === 0) return
    const context = prepareCanvas(canvas.current, size)
    paintDensity(context, map, size, looks, scale)
  }, [map, looks, scale, size])
  const wordsOf = (i: number) => {
    const value = map.values[i]!
    const words = describe(i % map.columns, Math.floor(i / map.columns), value)
    const tip = { ...words, shares: [], note: value === 0 ? 'none' : '' }
    return { run, links: [], routers: [], groups: [], tip }
  }
  const hover = (event: PointerEvent): void => {
    const box = frame.current!.getBoundingClientRect()
    const column = Math.floor(((event.clientX - box.left) / box.width) * map.columns)
    const row = Math.floor(((event.clientY - box.top) / box.height) * map.rows)
    const value = map.values[row * map.columns + column]
    if (value === undefined || column < 0 || column >= map.columns) return session.hover.set(null)
    session.hover.set({ ...wordsOf(row * map.columns + column), x: event.clientX, y: event.clientY })
  }
  const steps = useSteps(
    () => densityCells(map),
    (i) => {
      const box = frame.current!.getBoundingClientRect()
      const [column, row] = [i % map.columns, Math.floor(i / map.columns)]
      return {
        hover: {
          ...wordsOf(i),
          x: box.left + ((column + 0.5) / map.columns) * box.width,
          y: box.top + ((row + 0.5) / map.rows) * box.height,
        },
        enter: () => undefined,
      }
    },
    [map],
  )
  const gradient = [0, 0.25, 0.5, 0.75, 1].map((share) => looks.colors[scale.shade(scale.value(share))]!)
  return (
    <div class="density-body">
      <div class="ends">
        <span>{down}</span>
        <span class="mini-ramp">
          {quantity(scale.low, unit)}
          <i style={{ background: `linear-gradient(to right, ${gradient.join(', ')})` }} />
          {quantity(scale.high, unit)}
        </span>
      </div>
      <div
        class="density-frame"
        ref={frame}
        onPointerMove={hover}
        onPointerLeave={() => session.hover.set(null)}
        tabIndex={0}
        role="application"
        aria-label={`${label}; the keys . and , select the next and previous cell`}
        onKeyDown={steps}
        data-test={test}
      >
        <canvas ref={canvas} />
      </div>
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

function paintDensity(
  context: CanvasRenderingContext2D,
  map: Density,
  size: Size,
  looks: LookTable,
  scale: ColorScale,
): void {
  const at = (i: number, of: number, length: number): number => Math.round((i * length) / of)
  const least = minCellSize(map)
  map.values.forEach((value, i) => {
    if (value === 0) return
    const [column, row] = [i % map.columns, Math.floor(i / map.columns)]
    const [x, y] = [at(column, map.columns, size.width), at(row, map.rows, size.height)]
    context.fillStyle = looks.colors[scale.shade(value)]!
    const [width, height] = [
      at(column + 1, map.columns, size.width) - x,
      at(row + 1, map.rows, size.height) - y,
    ]
    // Enlarged cells are centred on their position.
    const [wide, high] = [Math.max(least, width), Math.max(least, height)]
    context.fillRect(x - Math.floor((wide - width) / 2), y - Math.floor((high - height) / 2), wide, high)
  })
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
