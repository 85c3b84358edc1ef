/** Draws trials and their Pareto front, on a canvas or in a file. */
import { VERMILLION } from '../base/palette'
import type { FrontPicture, TrialMark } from '../layout/front'
import { drawLabels, stroke, strokeLine } from './blocks'
import type { LookTable } from './look'
import type { Pen } from './pen'

export function drawFront(pen: Pen, picture: FrontPicture, looks: LookTable): void {
  const { ink, line, muted } = looks.palette
  for (const [x0, y0, x1, y1] of picture.lines)
    stroke(pen, line, 0.8, () => {
      pen.moveTo(x0, y0)
      pen.lineTo(x1, y1)
    })
  strokeLine(pen, VERMILLION, 2, picture.steps)
  // Front marks last, on top: other trials may have the same objectives.
  const last = (mark: TrialMark): number => Number(mark.kind === 'front')
  for (const mark of [...picture.marks].sort((a, b) => last(a) - last(b))) drawMark(pen, mark, { ink, muted })
  drawLabels(pen, picture.labels, looks)
}

/** Square: on the front. Dot: dominated. Ring: the file's own values. Cross: violates a constraint. */
function drawMark(pen: Pen, { x, y, kind }: TrialMark, { ink, muted }: { ink: string; muted: string }): void {
  if (kind === 'refused')
    return stroke(pen, muted, 1.4, () => {
      for (const slope of [-4, 4]) {
        pen.moveTo(x - 4, y - slope)
        pen.lineTo(x + 4, y + slope)
      }
    })
  if (kind === 'first') return stroke(pen, ink, 2, () => pen.arc(x, y, 5, 0, 2 * Math.PI))
  pen.beginPath()
  if (kind === 'front') pen.rect(x - 5, y - 5, 10, 10)
  else pen.arc(x, y, 3.5, 0, 2 * Math.PI)
  // The square shape says the same without colour.
  pen.fillStyle = kind === 'front' ? VERMILLION : muted
  pen.fill()
}
