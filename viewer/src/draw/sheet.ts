/**
 * The overview as an export sheet: title, picture, what stands beside it, colour scale, jobs. One code draws SVG and PNG.
 */
import { count, quantity } from '../base/format'
import { show, valueLabel } from '../data/describe'
import type { DerivedRun } from '../data/model'
import { placesText, type RankPlaces } from '../data/ranks'
import { FIRST_SHADE, SHADES } from '../data/scale'
import type { Picture } from '../layout/picture'
import { drawRamp, fillBox, write } from './blocks'
import type { LookTable } from './look'
import type { Pen } from './pen'
import { accountOf, accountText, type DrawnMarks } from './account'
import { drawHighlight, drawPicture, type Highlight, type PictureData } from './picture'

const MARGIN = 20
const HEAD = 54
const PICTURE = 820
const FOOT = 74

/** A machine as drawn. */
export interface MachineSheet {
  readonly derived: DerivedRun
  readonly picture: Picture
  readonly data: PictureData
  readonly highlight: Highlight
  readonly looks: LookTable
}

/** Space to the right of the picture; twice the height may be used. */
export const BESIDE = { width: 520, height: PICTURE }

export interface Beside {
  readonly height: number
  draw(pen: Pen): void
}

export interface Sheet extends MachineSheet {
  readonly beside: Beside | null
  readonly filter: string
}

export function sheetSize(sheet: Sheet): { width: number; height: number } {
  const { picture, beside } = sheet
  const body = Math.max((PICTURE * picture.height) / picture.width, beside?.height ?? 0)
  return {
    width: 2 * MARGIN + PICTURE + (beside ? MARGIN + BESIDE.width : 0),
    height: HEAD + body + FOOT + MARGIN,
  }
}

export function drawSheet(pen: Pen, sheet: Sheet): void {
  const { derived, looks, picture, beside } = sheet
  const { width, height } = sheetSize(sheet)
  fillBox(pen, { x: 0, y: 0, width, height }, looks.palette.background)
  const { summary } = derived.run
  write(pen, derived.run.label, MARGIN, 28, looks, { size: 18, strong: true })
  const facts = [
    summary.machine.name,
    `${count(derived.run.links.count)} links`,
    `${summary.engine}, ${summary.routing}`,
    sheet.filter,
  ].filter((part) => part !== '')
  write(pen, facts.join(' · '), MARGIN, 46, looks)

  const k = PICTURE / picture.width
  pen.save()
  pen.translate(MARGIN, HEAD)
  const drawn = drawScaled(pen, sheet, k)
  pen.restore()

  if (beside) {
    pen.save()
    pen.translate(2 * MARGIN + PICTURE, HEAD)
    beside.draw(pen)
    pen.restore()
  }
  const reading = `${count(drawn.drawn)} of ${count(picture.marks.count)} ${picture.markNoun} drawn${accountOfSheet(sheet, drawn, derived)}. ${picture.reading}`
  drawFoot(pen, sheet, height - FOOT, reading)
}

function drawFoot(pen: Pen, { derived: d, data, looks }: Sheet, top: number, reading: string): void {
  drawScale(pen, MARGIN, top, d, looks)
  let x = MARGIN + RAMP + 40
  for (const job of d.run.jobs) {
    const counted = d.counted[job.job] === 1
    pen.globalAlpha = counted ? 1 : 0.25
    fillBox(pen, { x, y: top + 16, width: 12, height: 12 }, job.color)
    pen.globalAlpha = 1
    const label = counted ? job.name : `${job.name} (hidden)`
    write(pen, label, x + 17, top + 26, looks, counted ? { color: looks.palette.ink } : {})
    x += 34 + label.length * 7
  }
  if (data.places) drawRanks(pen, x, top, data.places, d, looks)
  write(pen, reading, MARGIN, top + 64, looks, { size: 11 })
}

const RAMP = 240

/** Legend of the rank colours. */
function drawRanks(
  pen: Pen,
  x: number,
  y: number,
  places: RankPlaces,
  d: DerivedRun,
  looks: LookTable,
): void {
  const steps = 60
  for (let i = 0; i < steps; i++)
    fillBox(
      pen,
      { x: x + (i * RAMP) / steps, y: y + 16, width: RAMP / steps + 0.1, height: 12 },
      looks.ranks[FIRST_SHADE + Math.round((i * (SHADES - 1)) / (steps - 1))]!,
    )
  write(pen, `Routers: ${placesText(d.run, places)}`, x, y + 10, looks, { size: 11 })
  write(pen, '0', x, y + 42, looks, { size: 11, color: looks.palette.ink })
  write(pen, count(places.most), x + RAMP, y + 42, looks, {
    size: 11,
    align: 'right',
    color: looks.palette.ink,
  })
}

export function drawScale(pen: Pen, x: number, y: number, d: DerivedRun, looks: LookTable): void {
  const label = `${valueLabel(d)} (${d.scale.kind})`
  const text = (value: number): string => (d.signed ? show(d, value) : quantity(value, d.measure.unit))
  drawRamp(pen, { x, y, width: RAMP }, looks, label, d.scale, text)
}

/** One machine with a title above and its link counts below. */
export function drawMachine(pen: Pen, width: number, sheet: MachineSheet, title: string): void {
  const { picture, looks, derived } = sheet
  const k = width / picture.width
  write(pen, title, 0, 14, looks, { size: 13, strong: true })
  pen.save()
  pen.translate(0, 20)
  const drawn = drawScaled(pen, sheet, k)
  pen.restore()
  const counts = `${count(drawn.drawn)} of ${count(picture.marks.count)} ${picture.markNoun} drawn`
  const account = accountOfSheet(sheet, drawn, derived).replace(/^\. /, '')
  write(pen, counts, 0, 34 + k * picture.height, looks, { size: 11 })
  write(pen, account, 0, 48 + k * picture.height, looks, { size: 11 })
}

function drawScaled(pen: Pen, { picture, data, highlight, looks }: MachineSheet, k: number): DrawnMarks {
  pen.scale(k, k)
  const drawn = drawPicture(pen, picture, data, looks, 1 / k)
  drawHighlight(pen, picture, highlight, looks, 1 / k)
  return drawn
}

/** Height of `drawMachine`. */
export const machineHeight = (picture: Picture, width: number): number =>
  (width * picture.height) / picture.width + 56

function accountOfSheet({ picture, data }: MachineSheet, drawn: DrawnMarks, d: DerivedRun): string {
  const account = accountOf(picture, data.marks, drawn, { values: d.values, selected: d.selection.selected })
  return accountText(account, picture, d.signed)
}
