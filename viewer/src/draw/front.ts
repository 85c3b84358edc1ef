/** Draws trials and their Pareto front, on a canvas or in a file. */
import { VERMILLION } from '../base/palette'
import type { FrontPicture, TrialMark } from '../layout/front'
import { write } from './blocks'
import type { LookTable } from './look'
import type { Pen } from './pen'

export function drawFront(
  pen: Pen,
  { x, y }: { x: number; y: number },
  picture: FrontPicture,
  looks: LookTable,
): void {
  const { ink, line, muted } = looks.palette
  stroke(pen, line, 0.8, () => {
    for (const [x0, y0, x1, y1] of picture.lines) {
      pen.moveTo(x + x0, y + y0)
      pen.lineTo(x + x1, y + y1)
    }
  })
  stroke(pen, VERMILLION, 2, () => {
    for (let i = 0; i < picture.steps.length; i += 2) {
      const [at, height] = [x + picture.steps[i]!, y + picture.steps[i + 1]!]
      if (i === 0) pen.moveTo(at, height)
      else pen.lineTo(at, height)
    }
  })
  // Front marks last, on top: other trials may have the same objectives.
  const last = (mark: TrialMark): number => Number(mark.kind === 'front')
  for (const mark of [...picture.marks].sort((a, b) => last(a) - last(b)))
    drawMark(pen, x, y, mark, { ink, muted })
  for (const { x: left, y: base, text, anchor, size, strong } of picture.labels)
    write(pen, text, x + left, y + base, looks, {
      size,
      strong: strong === true,
      align: anchor === 'end' ? 'right' : anchor === 'middle' ? 'center' : 'left',
      color: ink,
    })
}

function stroke(pen: Pen, color: string, width: number, path: () => void): void {
  pen.beginPath()
  path()
  pen.strokeStyle = color
  pen.lineWidth = width
  pen.stroke()
}

/** Square: on the front. Dot: dominated. Ring: the file's own values. Cross: violates a constraint. */
function drawMark(
  pen: Pen,
  left: number,
  top: number,
  mark: TrialMark,
  { ink, muted }: { ink: string; muted: string },
): void {
  const [x, y] = [left + mark.x, top + mark.y]
  if (mark.kind === 'refused')
    return stroke(pen, muted, 1.4, () => {
      for (const slope of [-4, 4]) {
        pen.moveTo(x - 4, y - slope)
        pen.lineTo(x + 4, y + slope)
      }
    })
  if (mark.kind === 'first') return stroke(pen, ink, 2, () => pen.arc(x, y, 5, 0, 2 * Math.PI))
  pen.beginPath()
  if (mark.kind === 'front') pen.rect(x - 5, y - 5, 10, 10)
  else pen.arc(x, y, 3.5, 0, 2 * Math.PI)
  // The square shape says the same without colour.
  pen.fillStyle = mark.kind === 'front' ? VERMILLION : muted
  pen.fill()
}
