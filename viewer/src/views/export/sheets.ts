/** Exports: one drawing for SVG and PNG per view, and its values as CSV. */
import type { Theme } from '../../base/ramps'
import { quantity } from '../../base/format'
import { selectionCsv } from '../../data/csv'
import type { DerivedRun } from '../../data/model'
import { isOpen } from '../../data/range'
import { markedRouters } from '../../data/communicators'
import { resolveFocus } from '../../data/focus'
import type { ViewState } from '../../data/state'
import { fillBox, write } from '../../draw/blocks'
import { looksFor } from '../../draw/look'
import type { Pen } from '../../draw/pen'
import { drawSheet, sheetSize, type MachineSheet, type Sheet } from '../../draw/sheet'
import { highlightOf, PictureContent, type Change } from '../picture/content'
import { geometryOf } from '../session/session'

export interface ExportSheet {
  /** File name without extension. */
  readonly name: string
  readonly width: number
  readonly height: number
  draw(pen: Pen): void
  csv(): string
}

export const MARGIN = 20

/** The links or changes of one picture, with matrices. */
export function overviewExport(
  derived: DerivedRun,
  state: ViewState,
  theme: Theme,
  change: Change | null = null,
): ExportSheet {
  const sheet = sheetOf(derived, state, theme, change)
  return {
    name: derived.run.label,
    ...sheetSize(sheet),
    draw: (pen) => drawSheet(pen, sheet),
    csv: () => selectionCsv(derived),
  }
}

export function machineOf(
  d: DerivedRun,
  state: ViewState,
  theme: Theme,
  change: Change | null = null,
): MachineSheet {
  const picture = geometryOf(d.run).picture(state.projection)
  return {
    derived: d,
    picture,
    data: new PictureContent().data(picture, d, state, false, change),
    highlight: highlightOf(d.run, picture, null, d, state),
    looks: looksFor(theme, state.ramp, d.signed),
  }
}

function sheetOf(d: DerivedRun, state: ViewState, theme: Theme, change: Change | null): Sheet {
  const geometry = geometryOf(d.run)
  return {
    ...machineOf(d, state, theme, change),
    interior: geometry.interior,
    cells: {
      groupMarks: geometry.groupMarks,
      inside: geometry.interior,
      values: d.values,
      selected: d.selection.selected,
      looks: d.selection.looks,
      shades: d.shades,
      step: d.selection.step,
      changed: d.selection.changed,
      aggregate: state.aggregate,
      scale: d.scale,
    },
    filter: describeFilter(d, state),
  }
}

/** The selected values as text; empty if all are selected. */
export function rangeText(d: DerivedRun, { hottest, inverted }: ViewState): string {
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

/** Background and title; content starts at `TOP`. */
export const TOP = 54

export function drawHead(
  pen: Pen,
  size: { width: number; height: number },
  title: string,
  facts: string,
  looks: MachineSheet['looks'],
): void {
  fillBox(pen, { x: 0, y: 0, ...size }, looks.palette.background)
  write(pen, title, MARGIN, 28, looks, { size: 18, strong: true })
  write(pen, facts, MARGIN, 46, looks)
}
