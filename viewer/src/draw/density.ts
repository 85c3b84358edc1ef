/** Draws a density map in a box, on a canvas or in a file. */
import { minCellSize, type Density } from '../data/placement'
import type { ColorScale } from '../data/scale'
import type { Size } from '../layout/picture'
import { fillBoxes } from './blocks'
import type { LookTable } from './look'
import type { Pen } from './pen'

export function drawDensity(
  pen: Pen,
  { width, height }: Size,
  map: Density,
  scale: ColorScale,
  looks: LookTable,
): void {
  const at = (i: number, of: number, length: number): number => Math.round((i * length) / of)
  const least = minCellSize(map)
  fillBoxes(pen, (add) =>
    map.values.forEach((value, i) => {
      if (value === 0) return
      const [column, row] = [i % map.columns, Math.floor(i / map.columns)]
      const [x, y] = [at(column, map.columns, width), at(row, map.rows, height)]
      const [w, h] = [at(column + 1, map.columns, width) - x, at(row + 1, map.rows, height) - y]
      // Enlarged cells are centred on their position.
      const [wide, high] = [Math.max(least, w), Math.max(least, h)]
      const [left, top] = [x - Math.floor((wide - w) / 2), y - Math.floor((high - h) / 2)]
      add(looks.colors[scale.shade(value)]!, left, top, wide, high)
    }),
  )
}
