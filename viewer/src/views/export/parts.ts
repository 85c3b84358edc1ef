/** Parts that export sheets have in common. */
import { quantity, type Unit } from '../../base/format'
import type { DerivedRun } from '../../data/model'
import type { Density } from '../../data/placement'
import type { ColorScale } from '../../data/scale'
import { drawLegend, drawTable, fillBox, ROW, write, type Cell } from '../../draw/blocks'
import { drawDensity } from '../../draw/density'
import type { LookTable } from '../../draw/look'
import { drawMachine, drawScale, machineHeight, type MachineSheet, type SheetPart } from '../../draw/sheet'

const TITLE = 20

/** A picture with a title and a legend on one line above. */
export const titled = (
  title: string,
  { width, height, draw }: SheetPart,
  looks: LookTable,
  size = 13,
  legend?: { readonly names: readonly string[]; readonly colors: readonly string[] },
): SheetPart => ({
  width,
  height: height + TITLE,
  draw: (pen) => {
    write(pen, title, 0, 14, looks, { size, strong: true })
    if (legend) drawLegend(pen, 20 + title.length * 8, legend.names, legend.colors, looks)
    pen.translate(0, TITLE)
    draw(pen)
  },
})

export const machinePart = (machine: MachineSheet, width: number, title: string): SheetPart => ({
  width,
  height: machineHeight(machine.picture, width),
  draw: (pen) => drawMachine(pen, width, machine, title),
})

export const scalePart = (d: DerivedRun, looks: LookTable): SheetPart => ({
  width: 240,
  height: 42,
  draw: (pen) => drawScale(pen, d, looks),
})

export const tablePart = (
  widths: readonly number[],
  rows: readonly (readonly Cell[])[],
  looks: LookTable,
  left: number,
): SheetPart => ({
  width: widths.reduce((sum, width) => sum + width, 0),
  height: rows.length * ROW,
  draw: (pen) => drawTable(pen, widths, rows, looks, left),
})

/** The ends of a colour scale. */
export const endsText = ({ low, high }: ColorScale, unit: Unit): string =>
  `${quantity(low, unit)} to ${quantity(high, unit)}`

/** Side of a density map. */
export const MAP = 380

/** A density map with its range. */
export function mapPart(
  map: Density,
  title: string,
  unit: Unit,
  scale: ColorScale,
  looks: LookTable,
): SheetPart {
  const size = { width: MAP, height: MAP }
  const draw: SheetPart['draw'] = (pen) => {
    fillBox(pen, { x: 0, y: 0, ...size }, looks.palette.empty)
    drawDensity(pen, size, map, scale, looks)
  }
  return titled(`${title}, ${endsText(scale, unit)} per cell`, { ...size, draw }, looks, 12)
}
