/** Exports: one drawing for SVG and PNG per view, and its values as CSV. */
import type { Theme } from '../../base/ramps'
import { quantity } from '../../base/format'
import { against, classChanges, jobChanges } from '../../data/changes'
import { selectionCsv, selectionsCsv } from '../../data/csv'
import type { DerivedRun } from '../../data/model'
import { isOpen } from '../../data/range'
import { markedRouters } from '../../data/communicators'
import { resolveFocus } from '../../data/focus'
import { COMPARED_MAX, type ViewState } from '../../data/state'
import { drawTable, fillBox, ROW, write, type Cell } from '../../draw/blocks'
import { looksFor } from '../../draw/look'
import type { Pen } from '../../draw/pen'
import {
  drawMachine,
  drawScale,
  drawSheet,
  machineHeight,
  sheetSize,
  type MachineSheet,
  type Sheet,
} from '../../draw/sheet'
import type { Comparison } from '../session/comparison'
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

/** Machines side by side on one scale, and the table of changes. */
export function compareExport({ runs }: Comparison, state: ViewState, theme: Theme): ExportSheet {
  const machines = runs.map((d) => machineOf(d, state, theme))
  const side = runs.length > 2 ? 460 : 620
  const [lead] = machines
  const tallest = Math.max(...machines.map(({ picture }) => machineHeight(picture, side)))
  const { rows, widths } = changeTable(runs)
  const width = Math.max(
    2 * MARGIN + runs.length * (side + MARGIN),
    2 * MARGIN + widths.reduce((a, b) => a + b, 0),
  )
  const size = { width, height: TOP + tallest + 60 + rows.length * ROW + MARGIN }
  const { looks } = lead!
  return {
    name: runs.map((d) => d.run.label).join(' and '),
    ...size,
    draw: (pen) => {
      drawHead(pen, size, runs.map((d) => d.run.label).join(' and '), describeFilter(runs[0]!, state), looks)
      machines.forEach((machine, i) =>
        drawMachine(
          pen,
          { x: MARGIN + i * (side + MARGIN), y: TOP, width: side },
          machine,
          runs[i]!.run.label,
        ),
      )
      drawScale(pen, MARGIN, TOP + tallest, runs[0]!, looks)
      drawTable(pen, { x: MARGIN, y: TOP + tallest + 60 }, widths, rows, looks, 2)
    },
    csv: () => selectionsCsv(runs),
  }
}

function changeTable(runs: readonly DerivedRun[]): { rows: Cell[][]; widths: number[] } {
  const { unit, label } = runs[0]!.measure
  const changes = [...classChanges(runs), ...jobChanges(runs)]
  const head: Cell[] = [
    { text: `${label} per link` },
    { text: '' },
    ...runs.map((d) => ({ text: d.run.label })),
  ]
  const body = changes.map((row): Cell[] => [
    { text: row.statistic === 'mean' ? row.name : '', ...(row.color ? { color: row.color } : {}) },
    { text: row.statistic },
    ...row.values.map((value, i) => ({
      text: value === null ? '–' : `${quantity(value, unit)}${i > 0 ? `  ${against(row, i)}` : ''}`,
    })),
  ])
  const longest = Math.max(...changes.map((row) => row.name.length), 12)
  return {
    rows: [head, ...body],
    widths: [longest * 7 + 20, 60, ...runs.slice(0, COMPARED_MAX).map(() => 170)],
  }
}
