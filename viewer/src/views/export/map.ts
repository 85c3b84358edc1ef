/** A density map in an export. */
import { quantity, type Unit } from '../../base/format'
import { minCellSize, type Density } from '../../data/placement'
import { colorScale, type ColorScale } from '../../data/scale'
import type { ViewState } from '../../data/state'
import { drawCells, fillBox, write, type Box } from '../../draw/blocks'
import { type LookTable } from '../../draw/look'
import type { Pen } from '../../draw/pen'

/** A density map with title and range, drawn 20 pixels below `box.y`. */
export function drawMap(
  pen: Pen,
  box: Box,
  map: Density,
  title: string,
  unit: Unit,
  state: ViewState,
  looks: LookTable,
  on?: ColorScale,
): void {
  const scale = on ?? colorScale(state.scale, map.values.filter((value) => value > 0).sort(), false, null)
  const ends = `${title}, ${quantity(scale.low, unit)} to ${quantity(scale.high, unit)} per cell`
  write(pen, ends, box.x, box.y + 14, looks, { size: 12, strong: true })
  const least = minCellSize(map)
  const [width, height] = [box.width / map.columns, box.height / map.rows]
  const [wide, high] = [Math.max(least, width), Math.max(least, height)]
  fillBox(pen, { ...box, y: box.y + 20 }, looks.palette.empty)
  drawCells(
    pen,
    Array.from(map.values, (value, i) => ({ value, i }))
      .filter(({ value }) => value > 0)
      .map(({ value, i }) => ({
        x: box.x + (i % map.columns) * width - (wide - width) / 2,
        y: box.y + 20 + Math.floor(i / map.columns) * height - (high - height) / 2,
        width: wide,
        height: high,
        color: looks.colors[scale.shade(value)]!,
      })),
  )
}
