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
import { drawSheet, sheetSize, type MachineSheet } from '../../draw/sheet'
import { highlightOf, PictureContent, type Change } from '../picture/content'
import { besideOf } from '../panels/panels'
import { geometryOf, type Session } from '../session/session'
import type { Settings } from '../session/settings'
import type { Shown } from '../session/shown'

/** What is exported. */
export interface Exported extends Shown {
  readonly session: Session
  readonly state: Settings
  readonly theme: Theme
}

export interface ExportSheet {
  /** File name without extension. */
  readonly name: string
  readonly width: number
  readonly height: number
  draw(pen: Pen): void
  csv(): string
}

export const MARGIN = 20

/** The links or changes of one picture, and what stands beside it. */
export function overviewExport(
  { derived, state, theme }: Exported,
  change: Change | null = null,
): ExportSheet {
  const machine = machineOf(derived, state, theme, change)
  const beside = besideOf(state.panel)(derived, state, machine.looks)
  const sheet = { ...machine, beside, filter: describeFilter(derived, state) }
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
