/** The view as SVG or PNG, the selected links as CSV, as a download. */
import type { Theme } from '../base/ramps'
import { quantity } from '../base/format'
import { selectionCsv } from '../data/csv'
import type { Derived } from '../data/model'
import type { ViewState } from '../data/state'
import { looksFor } from '../draw/look'
import { SvgPen } from '../draw/pen'
import { drawSheet, sheetSize, type Sheet } from '../draw/sheet'
import { highlightOf, PictureContent } from './content'
import { geometryOf } from './session'

export type ExportKind = 'svg' | 'png' | 'csv'

export async function exportView(
  kind: ExportKind,
  derived: Derived,
  state: ViewState,
  theme: Theme,
): Promise<void> {
  const name = derived.run.label.replace(/[^\w.-]+/g, '-') || 'run'
  if (kind === 'csv')
    return download(`${name}-links.csv`, new Blob([selectionCsv(derived)], { type: 'text/csv' }))
  const sheet = makeSheet(derived, state, theme)
  if (kind === 'svg') return download(`${name}.svg`, new Blob([sheetSvg(sheet)], { type: 'image/svg+xml' }))
  download(`${name}.png`, await sheetPng(sheet))
}

export function makeSheet(derived: Derived, state: ViewState, theme: Theme): Sheet {
  const geometry = geometryOf(derived.run)
  const picture = geometry.picture(state.projection)
  return {
    derived,
    picture,
    data: new PictureContent().data(picture, derived, state),
    highlight: highlightOf(derived.run, picture, null, derived),
    interior: geometry.interior,
    cells: {
      groupMarks: geometry.groupMarks,
      inside: geometry.interior,
      values: derived.values,
      selected: derived.selection.selected,
      looks: derived.selection.looks,
      aggregate: state.aggregate,
      scale: derived.scale,
    },
    looks: looksFor(theme, state.ramp, derived.signed),
    filter: describeFilter(derived, state),
  }
}

function describeFilter(d: Derived, state: ViewState): string {
  const range =
    state.low === null && state.high === null
      ? ''
      : `${d.measure.label} from ${state.low === null ? 'least' : quantity(state.low, d.measure.unit)} to ${state.high === null ? 'most' : quantity(state.high, d.measure.unit)}`
  const without = state.classesOff.length > 0 ? `without ${state.classesOff.join(', ')}` : ''
  return [range, without, state.focus.replace(':', ' ')].filter((part) => part !== '').join(', ')
}

function sheetSvg(sheet: Sheet): string {
  const { width, height } = sheetSize(sheet)
  const pen = new SvgPen(width, height)
  drawSheet(pen, sheet)
  return pen.toString()
}

/** At twice the screen's resolution, for papers and slides. */
async function sheetPng(sheet: Sheet): Promise<Blob> {
  const { width, height } = sheetSize(sheet)
  const canvas = new OffscreenCanvas(2 * width, 2 * height)
  const context = canvas.getContext('2d')!
  context.scale(2, 2)
  drawSheet(context, sheet)
  return canvas.convertToBlob({ type: 'image/png' })
}

function download(name: string, content: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  // The browser has taken the content by the next task.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
