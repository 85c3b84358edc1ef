/** The view as one sheet to keep: title, picture, matrices, colour scale, jobs. Drawn by one code into SVG and PNG. */
import { count, quantity } from '../base/format'
import { show } from '../data/describe'
import type { Derived } from '../data/model'
import { placeMatrices, type Interior } from '../layout/matrices'
import type { Picture } from '../layout/picture'
import { drawMatrices, type CellSource } from './cells'
import { colorAt, type Looks } from './look'
import type { Pen } from './pen'
import {
  accountOf,
  accountText,
  drawHighlight,
  drawPicture,
  type Highlight,
  type PictureData,
} from './picture'

const MARGIN = 20
const HEAD = 54
const PICTURE = 820
const MATRICES = 520
const FOOT = 74

export interface Sheet {
  readonly derived: Derived
  readonly picture: Picture
  readonly data: PictureData
  readonly highlight: Highlight
  readonly interior: Interior
  readonly cells: CellSource
  readonly looks: Looks
  readonly filter: string
}

export function sheetSize(sheet: Sheet): { width: number; height: number } {
  const panel = panelOf(sheet)
  const body = Math.max((PICTURE * sheet.picture.height) / sheet.picture.width, panel?.height ?? 0)
  return {
    width: 2 * MARGIN + PICTURE + (panel ? MARGIN + MATRICES : 0),
    height: HEAD + body + FOOT + MARGIN,
  }
}

/** Matrices of a small enough machine; a sheet of 241 groups would be ten metres long. */
function panelOf({ derived, interior }: Sheet): ReturnType<typeof placeMatrices> | null {
  const panel = placeMatrices(derived.run, interior, MATRICES, PICTURE)
  return panel.matrices.length > 0 && panel.height <= 2 * PICTURE ? panel : null
}

export function drawSheet(pen: Pen, sheet: Sheet): void {
  const { derived, looks, picture } = sheet
  const { width, height } = sheetSize(sheet)
  pen.beginPath()
  pen.rect(0, 0, width, height)
  pen.fillStyle = looks.palette.background
  pen.fill()
  const { summary } = derived.run
  text(pen, derived.run.label, MARGIN, 28, 18, looks.palette.ink, true)
  const facts = [
    summary.machine.name,
    `${count(derived.run.links.count)} links`,
    `${summary.engine}, ${summary.routing}`,
    sheet.filter,
  ].filter((part) => part !== '')
  text(pen, facts.join(' · '), MARGIN, 46, 12, looks.palette.muted, false)

  const k = PICTURE / picture.width
  pen.save()
  pen.translate(MARGIN, HEAD)
  pen.scale(k, k)
  const drawn = drawPicture(pen, picture, sheet.data, looks, 1 / k)
  drawHighlight(pen, picture, sheet.highlight, looks, 1 / k)
  pen.restore()

  const panel = panelOf(sheet)
  if (panel) {
    pen.save()
    pen.translate(2 * MARGIN + PICTURE, HEAD)
    drawMatrices(pen, panel, sheet.cells, looks)
    pen.restore()
  }
  const account = accountOf(picture, sheet.data.marks, drawn, {
    ...derived,
    selected: derived.selection.selected,
  })
  const reading = `${count(drawn.drawn)} of ${count(picture.marks.count)} ${picture.markNoun} drawn${accountText(account, picture, derived.signed)}. ${picture.reading}`
  drawFoot(pen, sheet, height - FOOT, reading)
}

function drawFoot(pen: Pen, { derived: d, looks }: Sheet, top: number, reading: string): void {
  const steps = 60
  for (let i = 0; i < steps; i++) {
    pen.beginPath()
    pen.rect(MARGIN + i * 4, top + 16, 4.1, 12)
    pen.fillStyle = colorAt(looks, i / (steps - 1))
    pen.fill()
  }
  text(
    pen,
    `${d.measure.label}${d.signed ? ', change' : ''} (${d.scale.kind})`,
    MARGIN,
    top + 10,
    11,
    looks.palette.muted,
    false,
  )
  ;[0, 0.5, 1].forEach((share, i) => {
    pen.textAlign = (['left', 'center', 'right'] as const)[i]!
    text(
      pen,
      d.signed ? show(d, d.scale.value(share)) : quantity(d.scale.value(share), d.measure.unit),
      MARGIN + share * steps * 4,
      top + 42,
      11,
      looks.palette.ink,
      false,
      true,
    )
  })
  let x = MARGIN + steps * 4 + 40
  for (const job of d.run.jobs) {
    const counted = d.counted[job.job] === 1
    pen.beginPath()
    pen.rect(x, top + 16, 12, 12)
    pen.fillStyle = job.color
    pen.globalAlpha = counted ? 1 : 0.25
    pen.fill()
    pen.globalAlpha = 1
    const label = counted ? job.name : `${job.name} (left out)`
    text(pen, label, x + 17, top + 26, 12, counted ? looks.palette.ink : looks.palette.muted, false)
    x += 34 + label.length * 7
  }
  text(pen, reading, MARGIN, top + 64, 11, looks.palette.muted, false)
}

function text(
  pen: Pen,
  words: string,
  x: number,
  y: number,
  size: number,
  color: string,
  strong: boolean,
  keepAlign = false,
): void {
  if (!keepAlign) pen.textAlign = 'left'
  pen.font = `${strong ? '600 ' : ''}${size}px system-ui, sans-serif`
  pen.fillStyle = color
  pen.fillText(words, x, y)
}
