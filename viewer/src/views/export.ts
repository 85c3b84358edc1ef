/** What is seen as SVG, PNG or CSV, as a download. */
import { SvgPen } from '../draw/pen'
import type { Exhibit } from './exhibits'

export type ExportKind = 'svg' | 'png' | 'csv'

export async function exportView(kind: ExportKind, exhibit: Exhibit): Promise<void> {
  const name = exhibit.name.replace(/[^\w.-]+/g, '-') || 'run'
  if (kind === 'csv') return download(`${name}.csv`, new Blob([exhibit.csv()], { type: 'text/csv' }))
  if (kind === 'svg') return download(`${name}.svg`, new Blob([svgOf(exhibit)], { type: 'image/svg+xml' }))
  download(`${name}.png`, await pngOf(exhibit))
}

function svgOf({ width, height, draw }: Exhibit): string {
  const pen = new SvgPen(width, height)
  draw(pen)
  return pen.toString()
}

/** At twice the screen's resolution, for papers and slides. */
async function pngOf({ width, height, draw }: Exhibit): Promise<Blob> {
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
  // The browser has taken the content by the next task.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
