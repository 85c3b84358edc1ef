/** Building blocks of pictures and export sheets: text, boxes, lines, tables, colour scales. */
import type { ColorScale } from '../data/scale'
import type { Box, Corners, Label } from '../layout/picture'
import { colorAt, type LookTable } from './look'
import { FONTS, type Pen } from './pen'

interface Words {
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

/** A bar of colours from left to right. */
export function drawColors(pen: Pen, x: number, width: number, colorOf: (share: number) => string): void {
  const steps = 60
  for (let i = 0; i < steps; i++) {
    const box = { x: x + (i * width) / steps, y: 16, width: width / steps + 0.1, height: 12 }
    fillBox(pen, box, colorOf(i / (steps - 1)))
  }
}

/** Colour scale with end and middle labels; 42 pixels high. */
export function drawRamp(
  pen: Pen,
  width: number,
  looks: LookTable,
  label: string,
  scale: ColorScale,
  text: (value: number) => string,
): void {
  drawColors(pen, 0, width, (share) => colorAt(looks, share))
  if (scale.diverging) fillBox(pen, { x: 0, y: 20, width: width * 0.48, height: 4 }, looks.palette.background)
  write(pen, label, 0, 10, looks, { size: 11 })
  ;(['left', 'center', 'right'] as const).forEach((align, i) =>
    write(pen, text(scale.value(i / 2)), (i / 2) * width, 42, looks, {
      size: 11,
      align,
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
  widths: readonly number[],
  rows: readonly (readonly Cell[])[],
  looks: LookTable,
  left: number,
): void {
  rows.forEach((row, i) => {
    let x = 0
    row.forEach(({ text, color = looks.palette.ink }, column) => {
      const width = widths[column]!
      const right = column >= left
      write(pen, text, right ? x + width - 8 : x, (i + 0.75) * ROW, looks, {
        size: 11,
        strong: i === 0,
        align: right ? 'right' : 'left',
        color,
      })
      x += width
    })
  })
}

/** Names and numbers of a picture. */
export function drawLabels(pen: Pen, labels: readonly Label[], looks: LookTable, color?: string): void {
  for (const { x, y, text, anchor, size, strong = false } of labels)
    write(pen, text, x, y, looks, { size, strong, align: ALIGN[anchor], color: color ?? looks.palette.ink })
}

const ALIGN = { start: 'left', middle: 'center', end: 'right' } as const

/** Colour legend in one line of 20 pixels. */
export function drawLegend(
  pen: Pen,
  x: number,
  names: readonly string[],
  colors: readonly string[],
  looks: LookTable,
): void {
  let left = x
  names.forEach((name, i) => {
    fillBox(pen, { x: left, y: 2, width: 11, height: 11 }, colors[i]!)
    write(pen, name, left + 16, 12, looks)
    left += 34 + name.length * 6.7
  })
}

/** Thin lines at these heights. */
export function drawRules(pen: Pen, { x, width }: Box, rules: readonly number[], looks: LookTable): void {
  for (const y of rules) fillBox(pen, { x, y, width, height: 0.7 }, looks.palette.line)
}

export function stroke(pen: Pen, color: string, width: number, path: () => void): void {
  pen.beginPath()
  path()
  pen.strokeStyle = color
  pen.lineWidth = width
  pen.stroke()
}

export const strokeLine = (pen: Pen, color: string, width: number, corners: Corners): void =>
  stroke(pen, color, width, () =>
    corners.forEach(([x, y], i) => (i === 0 ? pen.moveTo(x, y) : pen.lineTo(x, y))),
  )

/** Boxes per path: a path takes longer to fill than its parts. */
const PATH_BOXES = 1000

type AddBox = (color: string, x: number, y: number, width: number, height: number) => void

/** Fills many boxes, a few paths per colour. */
export function fillBoxes(pen: Pen, boxes: (add: AddBox) => void): void {
  const byColor = new Map<string, number[]>()
  boxes((color, ...box) => {
    const list = byColor.get(color)
    if (list) list.push(...box)
    else byColor.set(color, box)
  })
  for (const [color, list] of byColor)
    for (let from = 0; from < list.length; from += 4 * PATH_BOXES) {
      pen.beginPath()
      for (let i = from; i < Math.min(list.length, from + 4 * PATH_BOXES); i += 4)
        pen.rect(list[i]!, list[i + 1]!, list[i + 2]!, list[i + 3]!)
      pen.fillStyle = color
      pen.fill()
    }
}
