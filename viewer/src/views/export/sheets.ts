/** Exports: one drawing for SVG and PNG per view, and its values as CSV. */
import type { Theme } from '../../base/ramps'
import { quantity } from '../../base/format'
import type { DerivedRun } from '../../data/model'
import { isOpen } from '../../data/range'
import { markedRouters } from '../../data/communicators'
import { resolveFocus } from '../../data/focus'
import type { ViewState } from '../../data/state'
import { fillBox, write } from '../../draw/blocks'
import { looksFor, type LookTable } from '../../draw/look'
import type { MachineSheet, SheetPart } from '../../draw/sheet'
import { highlightOf, PictureContent, type Change } from '../picture/content'
import { geometryOf, type Session } from '../session/session'
import type { Settings } from '../session/settings'
import type { ViewContent } from '../session/viewcontent'

/** What is exported. */
export interface ExportRequest extends ViewContent {
  readonly session: Session
  readonly state: Settings
  readonly theme: Theme
}

export interface ExportSheet extends SheetPart {
  /** File name without extension. */
  readonly name: string
  csv(): string
}

const MARGIN = 20

export function machineOf(
  d: DerivedRun,
  state: ViewState,
  theme: Theme,
  change: Change | null = null,
  peers: readonly DerivedRun[] = [d],
): MachineSheet {
  const picture = geometryOf(d.run).picture(state.projection)
  return {
    derived: d,
    picture,
    data: new PictureContent().data(picture, d, state, false, change, peers),
    highlight: highlightOf(d.run, picture, null, d, state),
    looks: looksFor(theme, state.ramp, d.signed),
  }
}

/** The selected values as text; empty if all are selected. */
function rangeText(d: DerivedRun, { hottest, inverted }: ViewState): string {
  if (isOpen(d.range)) return ''
  if (hottest > 0) return `${inverted ? 'without ' : ''}the hottest ${hottest} % of each class`
  const [low, high] = d.range.ends ?? [-Infinity, Infinity]
  const end = (value: number, open: string): string =>
    Number.isFinite(value) ? quantity(value, d.measure.unit) : open
  return `${d.measure.label} ${inverted ? 'outside ' : ''}${end(low, 'min')} to ${end(high, 'max')}`
}

export function describeFilter(d: DerivedRun, state: ViewState): string {
  const without = state.classesOff.length > 0 ? `without ${state.classesOff.join(', ')}` : ''
  const focus = state.focus !== '' && resolveFocus(d.run, state.focus) ? state.focus.replace(':', ' ') : ''
  const ranks = markedRouters(d.run, state.communicator) ? `communicator ${state.communicator} marked` : ''
  return [rangeText(d, state), without, focus, ranks].filter((part) => part !== '').join(', ')
}

/** Content starts here, below title and facts. */
const TOP = 54
/** Space between parts. */
const GAP = 20

interface SheetContent {
  readonly name: string
  /** Below the name. */
  readonly facts: string
  /** Parts side by side, and in each column one below the other. */
  readonly columns: readonly (readonly SheetPart[])[]
  /** Parts below the columns. */
  readonly below?: readonly SheetPart[]
  readonly looks: LookTable
  csv(): string
}

/** A sheet of parts. */
export function sheetOf({ name, facts, columns, below = [], looks, csv }: SheetContent): ExportSheet {
  const placed: { part: SheetPart; x: number; y: number }[] = []
  const place = (parts: readonly SheetPart[], x: number, top: number): number =>
    parts.reduce((y, part) => {
      placed.push({ part, x, y })
      return y + part.height + GAP
    }, top)
  let [x, bottom] = [MARGIN, TOP]
  for (const parts of columns) {
    bottom = Math.max(bottom, place(parts, x, TOP))
    x += Math.max(0, ...parts.map(({ width }) => width)) + GAP
  }
  const height = place(below, MARGIN, bottom) - GAP + MARGIN
  const width = Math.max(x - GAP, ...below.map((part) => MARGIN + part.width)) + MARGIN
  return {
    name,
    width,
    height,
    draw: (pen) => {
      fillBox(pen, { x: 0, y: 0, width, height }, looks.palette.background)
      write(pen, name, MARGIN, 28, looks, { size: 18, strong: true })
      write(pen, facts, MARGIN, 46, looks)
      for (const { part, x, y } of placed) {
        pen.save()
        pen.translate(x, y)
        part.draw(pen)
        pen.restore()
      }
    },
    csv,
  }
}

/** Parts row by row in some columns. */
export const inColumns = (parts: readonly SheetPart[], columns: number): SheetPart[][] =>
  Array.from({ length: columns }, (_, column) => parts.filter((_, i) => i % columns === column))
