/** Shared geometry of torus and mesh pictures: steps, strokes and panes. */
import type { Axis } from '../data/run'
import type { Box, Label } from './picture'

export const SCENE = 1000
/** Room for the label of the vertical axis, also with enlarged labels. */
export const MARGIN = 62

/** A segment, shifted to the right of its direction and clear of the dots. */
export function segment(
  sx: number,
  sy: number,
  tx: number,
  ty: number,
  step: number,
  from: number,
): number[] {
  const length = Math.hypot(tx - sx, ty - sy) || 1
  const [dx, dy] = [(tx - sx) / length, (ty - sy) / length]
  const [ox, oy] = [-dy * step * 0.1, dx * step * 0.1]
  const clear = step * from
  const [ax, ay, bx, by] = [
    sx + dx * clear + ox,
    sy + dy * clear + oy,
    tx - dx * clear + ox,
    ty - dy * clear + oy,
  ]
  return [
    ax,
    ay,
    ax + (bx - ax) / 3,
    ay + (by - ay) / 3,
    ax + (2 * (bx - ax)) / 3,
    ay + (2 * (by - ay)) / 3,
    bx,
    by,
  ]
}

/** A stub from a router, to the right of its direction. */
export function stubTo(
  sx: number,
  sy: number,
  angle: number,
  step: number,
  from: number,
  to: number,
): number[] {
  const [dx, dy] = [Math.cos(angle), Math.sin(angle)]
  const [ox, oy] = [-dy * step * 0.1, dx * step * 0.1]
  const point = (d: number): [number, number] => [sx + dx * d * step + ox, sy + dy * d * step + oy]
  return [
    ...point(from),
    ...point(from + (to - from) / 3),
    ...point(from + (2 * (to - from)) / 3),
    ...point(to),
  ]
}

/** Shifts parallel cables side by side. */
export function shiftParallel(curve: number[], parallel: number, step: number): number[] {
  if (parallel === 0) return curve
  const [dx, dy] = [curve[6]! - curve[0]!, curve[7]! - curve[1]!]
  const length = Math.hypot(dx, dy) || 1
  const [ox, oy] = [(-dy / length) * step * 0.12 * parallel, (dx / length) * step * 0.12 * parallel]
  return curve.map((value, i) => value + (i % 2 === 0 ? ox : oy))
}

export const at = (positions: Float32Array, r: number): [number, number] => [
  positions[2 * r]!,
  positions[2 * r + 1]!,
]

/** Pane of each router: index among combinations of the other axes, the last fastest. */
export const paneOf =
  (others: readonly Axis[]) =>
  (r: number): number =>
    others.reduce((index, axis) => index * axis.size + axis.values[r]!, 0)

export interface PaneGrid {
  readonly step: number
  readonly height: number
  readonly columns: number
  readonly frames: readonly Box[]
  corner(pane: number): [number, number]
}

/** Letter width of enlarged labels in small pictures. */
const LETTER = 10
/** Room above a pane for its label. */
const LABEL_GAP = 20

/** Chooses the number of pane columns that gives the largest router step in a square scene. */
export function placePanes(panes: number, across: number, down: number): PaneGrid {
  let best = { step: 0, columns: 1 }
  for (let columns = 1; columns <= panes; columns++) {
    const rows = Math.ceil(panes / columns)
    const step = Math.min(
      (SCENE - 2 * MARGIN - (rows - 1) * LABEL_GAP) / (rows * down),
      (SCENE - 2 * MARGIN) / (columns * (across + 1) - 1),
      (SCENE - 2 * MARGIN) / (rows * (down + 1.4) - 1),
    )
    if (step > best.step) best = { step, columns }
  }
  const { step, columns } = best
  const rowHeight = down * step + Math.max(1.4 * step, LABEL_GAP)
  const corner = (pane: number): [number, number] => [
    MARGIN + (pane % columns) * (across + 1) * step,
    MARGIN + Math.floor(pane / columns) * rowHeight + (panes > 1 ? 6 : 0),
  ]
  const frames = Array.from({ length: panes }, (_, pane) => {
    const [x, y] = corner(pane)
    return { x, y, width: across * step, height: down * step }
  })
  const last = frames[frames.length - 1]!
  return { step, columns, corner, frames, height: last.y + last.height + MARGIN }
}

export function paneLabels(
  place: PaneGrid,
  others: readonly { name: string; size: number }[],
  across: string,
  down: string,
): Label[] {
  // If panes are narrower than their labels, only every n-th pane in a row has one.
  const letters = others.reduce((n, { size }) => n + String(size - 1).length + 2, 0)
  const stride = Math.max(1, Math.ceil((LETTER * letters) / (place.frames[0]!.width + place.step)))
  const shown = place.frames.flatMap((frame, pane) =>
    (pane % place.columns) % stride === 0 ? [{ frame, pane }] : [],
  )
  const labels: Label[] = shown.map(({ frame, pane }) => {
    let rest = pane
    const parts = [...others].reverse().map((axis) => {
      const value = rest % axis.size
      rest = Math.floor(rest / axis.size)
      // With several axes, the sentence below the picture names them.
      return others.length === 1 ? `${axis.name} ${value}` : String(value)
    })
    return {
      x: frame.x,
      y: frame.y - 5,
      text: parts.reverse().join(', '),
      anchor: 'start',
      size: Math.max(9, Math.min(14, place.step * 0.5)),
    }
  })
  const first = place.frames[0]!
  // Above the label of the first pane, if any.
  const y = first.y - (others.length > 0 ? 32 : 5)
  labels.push({ x: first.x + first.width, y, text: `${across} →`, anchor: 'end', size: 13 })
  if (down !== '')
    labels.push({ x: first.x - 6, y: first.y + 12, text: `${down} ↓`, anchor: 'end', size: 13 })
  return labels.filter((label) => label.text !== '')
}
