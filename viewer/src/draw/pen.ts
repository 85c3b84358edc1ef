/** The subset of the canvas API used for drawing, so that one code draws on screen and into SVG. */

export interface Pen {
  fillStyle: string | CanvasGradient | CanvasPattern
  strokeStyle: string | CanvasGradient | CanvasPattern
  lineWidth: number
  globalAlpha: number
  font: string
  textAlign: CanvasTextAlign
  beginPath(): void
  moveTo(x: number, y: number): void
  lineTo(x: number, y: number): void
  bezierCurveTo(x1: number, y1: number, x2: number, y2: number, x: number, y: number): void
  arc(x: number, y: number, radius: number, start: number, end: number, anticlockwise?: boolean): void
  rect(x: number, y: number, width: number, height: number): void
  closePath(): void
  fill(): void
  stroke(): void
  fillText(text: string, x: number, y: number): void
  drawImage(image: HTMLCanvasElement, x: number, y: number, width: number, height: number): void
  setLineDash(dash: number[]): void
  save(): void
  restore(): void
  translate(x: number, y: number): void
  scale(x: number, y: number): void
}

/** Fonts of all labels. */
export const FONTS = 'system-ui, sans-serif'

const round = (value: number): string => String(Math.round(value * 100) / 100)

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Records drawing calls as SVG elements. */
export class SvgPen implements Pen {
  fillStyle = '#000'
  strokeStyle = '#000'
  lineWidth = 1
  globalAlpha = 1
  font = '12px sans-serif'
  textAlign: CanvasTextAlign = 'left'
  private dash: number[] = []
  private path: string[] = []
  private readonly elements: string[] = []
  private readonly stack: { open: number; fill: string; stroke: string; alpha: number }[] = []
  private open = 0

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {}

  beginPath(): void {
    this.path = []
  }

  moveTo(x: number, y: number): void {
    this.path.push(`M${round(x)} ${round(y)}`)
  }

  lineTo(x: number, y: number): void {
    this.path.push(`L${round(x)} ${round(y)}`)
  }

  bezierCurveTo(x1: number, y1: number, x2: number, y2: number, x: number, y: number): void {
    this.path.push(`C${[x1, y1, x2, y2, x, y].map(round).join(' ')}`)
  }

  arc(x: number, y: number, radius: number, start: number, end: number, anticlockwise = false): void {
    const turn = anticlockwise ? start - end : end - start
    const at = (angle: number): string =>
      `${round(x + radius * Math.cos(angle))} ${round(y + radius * Math.sin(angle))}`
    const join = this.path.length > 0 && !this.path[this.path.length - 1]!.endsWith('Z') ? 'L' : 'M'
    this.path.push(`${join}${at(start)}`)
    const sweep = anticlockwise ? 0 : 1
    // An SVG arc cannot be a full circle, and is ambiguous at half of one: split it in two.
    const middle = anticlockwise ? start - turn / 2 : start + turn / 2
    for (const angle of [middle, end])
      this.path.push(`A${round(radius)} ${round(radius)} 0 0 ${sweep} ${at(angle)}`)
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.path.push(`M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}Z`)
  }

  closePath(): void {
    this.path.push('Z')
  }

  fill(): void {
    this.add(`fill="${this.fillStyle}"`)
  }

  stroke(): void {
    const dash = this.dash.length > 0 ? ` stroke-dasharray="${this.dash.map(round).join(' ')}"` : ''
    this.add(`fill="none" stroke="${this.strokeStyle}" stroke-width="${round(this.lineWidth)}"${dash}`)
  }

  fillText(text: string, x: number, y: number): void {
    const anchor = { left: 'start', start: 'start', center: 'middle', right: 'end', end: 'end' }[
      this.textAlign
    ]
    const [, weight, size] = /^(bold |600 )?([\d.]+)px/.exec(this.font) ?? ['', undefined, '12']
    this.elements.push(
      `<text x="${round(x)}" y="${round(y)}" font-size="${size}"${weight ? ' font-weight="600"' : ''} text-anchor="${anchor}" fill="${this.fillStyle}">${escapeXml(text)}</text>`,
    )
  }

  /** Embedded as pixels. */
  drawImage(image: HTMLCanvasElement, x: number, y: number, width: number, height: number): void {
    const box = `x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"`
    this.elements.push(`<image ${box} href="${image.toDataURL('image/png')}"/>`)
  }

  setLineDash(dash: number[]): void {
    this.dash = dash
  }

  save(): void {
    this.stack.push({
      open: this.open,
      fill: this.fillStyle,
      stroke: this.strokeStyle,
      alpha: this.globalAlpha,
    })
  }

  restore(): void {
    const saved = this.stack.pop()
    if (!saved) return
    ;[this.fillStyle, this.strokeStyle, this.globalAlpha] = [saved.fill, saved.stroke, saved.alpha]
    for (; this.open > saved.open; this.open--) this.elements.push('</g>')
  }

  translate(x: number, y: number): void {
    this.group(`translate(${round(x)} ${round(y)})`)
  }

  scale(x: number, y: number): void {
    this.group(`scale(${x} ${y})`)
  }

  toString(): string {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}" font-family="${FONTS}">\n${this.elements.join('\n')}\n</svg>\n`
  }

  private group(transform: string): void {
    this.elements.push(`<g transform="${transform}">`)
    this.open++
  }

  private add(attributes: string): void {
    if (this.path.length === 0) return
    const alpha = this.globalAlpha < 1 ? ` opacity="${round(this.globalAlpha)}"` : ''
    this.elements.push(`<path d="${this.path.join('')}" ${attributes}${alpha}/>`)
  }
}
