/** Building blocks of export sheets: titles, tables, charts, heat maps, grids. */
import { quantity, type Unit } from '../base/format'
import type { ColorScale } from '../data/scale'
import { axisTicks, valueAxis } from '../data/histogram'
import { colorAt, type LookTable } from './look'
import { FONTS, type Pen } from './pen'

export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface Words {
  readonly size?: number
  readonly strong?: boolean
  readonly align?: CanvasTextAlign
  readonly color?: string
}

export function write(
  pen: Pen,
  text: string,
  x: number,
  y: number,
  looks: LookTable,
  words: Words = {},
): void {
  const { size = 12, strong = false, align = 'left' } = words
  pen.textAlign = align
  pen.font = `${strong ? '600 ' : ''}${size}px ${FONTS}`
  pen.fillStyle = words.color ?? (strong ? looks.palette.ink : looks.palette.muted)
  pen.fillText(text, x, y)
}

export function fillBox(pen: Pen, { x, y, width, height }: Box, color: string): void {
  pen.beginPath()
  pen.rect(x, y, width, height)
  pen.fillStyle = color
  pen.fill()
}

/** Colour scale with end and middle labels; 42 pixels high. */
export function drawRamp(
  pen: Pen,
  box: Pick<Box, 'x' | 'y' | 'width'>,
  looks: LookTable,
  label: string,
  scale: ColorScale,
  text: (value: number) => string,
): void {
  const steps = 60
  for (let i = 0; i < steps; i++)
    fillBox(
      pen,
      { x: box.x + (i * box.width) / steps, y: box.y + 16, width: box.width / steps + 0.1, height: 12 },
      colorAt(looks, i / (steps - 1)),
    )
  if (scale.diverging)
    fillBox(pen, { x: box.x, y: box.y + 20, width: box.width * 0.48, height: 4 }, looks.palette.background)
  write(pen, label, box.x, box.y + 10, looks, { size: 11 })
  ;[0, 0.5, 1].forEach((share, i) =>
    write(pen, text(scale.value(share)), box.x + share * box.width, box.y + 42, looks, {
      size: 11,
      align: (['left', 'center', 'right'] as const)[i]!,
      color: looks.palette.ink,
    }),
  )
}

export interface Cell {
  readonly text: string
  readonly color?: string
}

export const ROW = 17

/**
 * Table rows; the first row is the head. The first `left` columns are left-aligned, the others right-aligned.
 */
export function drawTable(
  pen: Pen,
  box: Pick<Box, 'x' | 'y'>,
  widths: readonly number[],
  rows: readonly (readonly Cell[])[],
  looks: LookTable,
  left: number,
): void {
  rows.forEach((row, i) => {
    let x = box.x
    row.forEach(({ text, color }, column) => {
      const width = widths[column]!
      const right = column >= left
      write(pen, text, right ? x + width - 8 : x, box.y + (i + 0.75) * ROW, looks, {
        size: 11,
        strong: i === 0,
        align: right ? 'right' : 'left',
        color: color ?? looks.palette.ink,
      })
      x += width
    })
  })
}

export interface ChartLine {
  readonly name: string
  readonly color: string
  readonly times: Float64Array
  /** NaN if missing. */
  readonly values: Float64Array
}

export interface Chart {
  readonly label: string
  readonly unit: Unit
  readonly lines: readonly ChartLine[]
  readonly span: readonly [number, number]
}

/** Margins for names, values and the time axis. */
const PAD = { left: 92, right: 18, top: 26, bottom: 22 }

/** The plot area of a box, with its time axis. */
export function plotArea(
  box: Box,
  [first, last]: readonly [number, number],
): Box & { at(time: number): number } {
  const [x, width] = [box.x + PAD.left, box.width - PAD.left - PAD.right]
  return {
    x,
    y: box.y + PAD.top,
    width,
    height: box.height - PAD.top - PAD.bottom,
    at: (time) => x + Math.max(0, Math.min(1, (time - first) / (last - first || 1))) * width,
  }
}

export function drawTimes(pen: Pen, box: Box, span: readonly [number, number], looks: LookTable): void {
  const area = plotArea(box, span)
  const axis = valueAxis('linear', span[0], span[1], 1)
  for (const tick of axisTicks(axis, area.width / 130).filter((tick) => tick >= span[0]))
    write(pen, quantity(tick, 'ps'), area.at(tick), area.y + area.height + 15, looks, {
      size: 11,
      align: 'center',
    })
}

export function drawChart(pen: Pen, box: Box, { label, unit, lines, span }: Chart, looks: LookTable): void {
  const area = plotArea(box, span)
  const most = lines.reduce(
    (max, line) => line.values.reduce((m, v, i) => (v > m && inside(line.times[i]!, span) ? v : m), max),
    0,
  )
  const values = valueAxis('linear', 0, most, most)
  const y = (v: number): number => area.y + area.height * (1 - values.position(v))
  write(pen, label, box.x, box.y + 14, looks, { size: 13, strong: true })
  let legend = box.x + 20 + label.length * 8
  for (const { name, color } of lines.slice(0, 8)) {
    fillBox(pen, { x: legend, y: box.y + 5, width: 10, height: 10 }, color)
    write(pen, name, legend + 14, box.y + 14, looks, { size: 11 })
    legend += 30 + name.length * 6.5
  }
  for (const tick of axisTicks(values, Math.max(2, area.height / 40), unit === 'bytes' ? 2 : 10)) {
    fillBox(pen, { x: area.x, y: y(tick), width: area.width, height: 0.7 }, looks.palette.line)
    write(pen, quantity(tick, unit), area.x - 8, y(tick) + 4, looks, { size: 11, align: 'right' })
  }
  for (const line of lines) {
    pen.beginPath()
    let open = false
    line.values.forEach((v, i) => {
      if (Number.isNaN(v) || !inside(line.times[i]!, span)) return void (open = false)
      if (open) pen.lineTo(area.at(line.times[i]!), y(v))
      else pen.moveTo(area.at(line.times[i]!), y(v))
      open = true
    })
    pen.strokeStyle = line.color
    pen.lineWidth = 1.5
    pen.stroke()
  }
  drawTimes(pen, box, span, looks)
}

const inside = (time: number, [first, last]: readonly [number, number]): boolean =>
  time >= first && time <= last

/** Coloured cells, one path per colour. */
export function drawCells(pen: Pen, cells: readonly (Box & { readonly color: string })[]): void {
  const byColor = new Map<string, Box[]>()
  for (const cell of cells) {
    const list = byColor.get(cell.color)
    if (list) list.push(cell)
    else byColor.set(cell.color, [cell])
  }
  for (const [color, list] of byColor) {
    pen.beginPath()
    for (const { x, y, width, height } of list) pen.rect(x, y, width, height)
    pen.fillStyle = color
    pen.fill()
  }
}
