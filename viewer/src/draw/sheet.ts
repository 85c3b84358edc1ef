/** Machines in export sheets, with their legends. */
import { count, quantity } from '../base/format'
import { show, valueLabel } from '../data/describe'
import type { DerivedRun } from '../data/model'
import { placesText } from '../data/ranks'
import { FIRST_SHADE, SHADES } from '../data/scale'
import type { Picture, Size } from '../layout/picture'
import { drawColors, drawRamp, fillBox, write } from './blocks'
import type { LookTable } from './look'
import type { Pen } from './pen'
import { accountOf, accountText } from './account'
import { drawHighlight, drawPicture, type Highlight, type PictureData } from './picture'

/** A part of a sheet, drawn at the origin. */
export interface SheetPart extends Size {
  draw(pen: Pen): void
}

/** A machine as drawn. */
export interface MachineSheet {
  readonly derived: DerivedRun
  readonly picture: Picture
  readonly data: PictureData
  readonly highlight: Highlight
  readonly looks: LookTable
}

/** Colours of the jobs, and of the ranks of one. */
export function drawJobs(pen: Pen, { derived: d, data, looks }: MachineSheet): void {
  let x = 0
  for (const job of d.run.jobs) {
    const counted = d.counted[job.job] === 1
    pen.globalAlpha = counted ? 1 : 0.25
    fillBox(pen, { x, y: 16, width: 12, height: 12 }, job.color)
    pen.globalAlpha = 1
    const label = counted ? job.name : `${job.name} (hidden)`
    write(pen, label, x + 17, 26, looks, counted ? { color: looks.palette.ink } : {})
    x += 34 + label.length * 7
  }
  if (!data.places) return
  const { ink } = looks.palette
  drawColors(pen, x, RAMP, (share) => looks.ranks[FIRST_SHADE + Math.round(share * (SHADES - 1))]!)
  write(pen, `Routers: ${placesText(d.run, data.places)}`, x, 10, looks, { size: 11 })
  write(pen, '0', x, 42, looks, { size: 11, color: ink })
  write(pen, count(data.places.most), x + RAMP, 42, looks, { size: 11, align: 'right', color: ink })
}

const RAMP = 240

export function drawScale(pen: Pen, d: DerivedRun, looks: LookTable): void {
  const label = `${valueLabel(d)} (${d.scale.kind})`
  const text = (value: number): string => (d.signed ? show(d, value) : quantity(value, d.measure.unit))
  drawRamp(pen, RAMP, looks, label, d.scale, text)
}

/** Returns what is drawn, and where the other links are. */
export function drawWhole(pen: Pen, sheet: MachineSheet, width: number): [drawn: string, others: string] {
  const { picture, data, highlight, looks, derived: d } = sheet
  const k = width / picture.width
  pen.save()
  pen.scale(k, k)
  const drawn = drawPicture(pen, picture, data, looks, 1 / k)
  drawHighlight(pen, picture, highlight, looks, 1 / k)
  pen.restore()
  const account = accountOf(picture, data.marks, drawn, { values: d.values, selected: d.selection.selected })
  return [
    `${count(drawn.drawn)} of ${count(picture.marks.count)} ${picture.markNoun} drawn`,
    accountText(account, picture, d.signed),
  ]
}

/** One machine with a title above and its link counts below. */
export function drawMachine(pen: Pen, width: number, sheet: MachineSheet, title: string): void {
  const { looks, picture } = sheet
  write(pen, title, 0, 14, looks, { size: 13, strong: true })
  pen.translate(0, 20)
  const [drawn, others] = drawWhole(pen, sheet, width)
  const bottom = (width * picture.height) / picture.width
  write(pen, drawn, 0, bottom + 14, looks, { size: 11 })
  write(pen, others.replace(/^\. /, ''), 0, bottom + 28, looks, { size: 11 })
}

/** Height of `drawMachine`. */
export const machineHeight = (picture: Picture, width: number): number =>
  (width * picture.height) / picture.width + 56
