/** Downloads the current view as SVG, PNG or CSV. */
import { SvgPen } from '../../draw/pen'
import type { ExportSheet } from './sheets'

type ExportKind = 'svg' | 'png' | 'csv'

export async function exportView(kind: ExportKind, sheet: ExportSheet): Promise<void> {
  const name = sheet.name.replace(/[^\w.-]+/g, '-') || 'run'
  if (kind === 'csv') return download(`${name}.csv`, new Blob([sheet.csv()], { type: 'text/csv' }))
  if (kind === 'svg') return download(`${name}.svg`, new Blob([svgOf(sheet)], { type: 'image/svg+xml' }))
  download(`${name}.png`, await pngOf(sheet))
}

function svgOf({ width, height, draw }: ExportSheet): string {
  const pen = new SvgPen(width, height)
  draw(pen)
  return pen.toString()
}

/** At double resolution, for papers and slides. */
async function pngOf({ width, height, draw }: ExportSheet): Promise<Blob> {
  const canvas = new OffscreenCanvas(2 * width, 2 * height)
  const context = canvas.getContext('2d')!
  context.scale(2, 2)
  draw(context)
  return canvas.convertToBlob({ type: 'image/png' })
}

function download(name: string, content: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  // The browser reads the content before the next task.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
