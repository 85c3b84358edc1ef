/**
 * Layout of cost bars in parts: one panel per scenario, side by side, on one scale. Pure geometry in pixels.
 */
import { percent, quantity, shorten } from '../base/format'
import { total, type CostBars } from '../data/costs'
import type { Box, Label, Size } from './picture'

interface BarMark extends Box {
  readonly panel: number
  readonly row: number
  readonly part: number
  readonly seconds: number
}

export interface BarsPicture extends Size {
  readonly marks: readonly BarMark[]
  readonly labels: readonly Label[]
}

const ROW = 28
const BAR = 20
const HEAD = 26
/** Approximate letter width of a heading. */
const HEAD_LETTER = 7.4
const GAP = 24
/** Room for a bar's total. */
const TOTAL = 68
/** Minimum readable panel width. */
const PANEL_MIN = 300
const LETTER = 6.7

/** `share`: draw every bar at full length. */
export function barsPicture(bars: CostBars, width: number, share: boolean): BarsPicture {
  const names = Math.min(150, 14 + LETTER * Math.max(0, ...bars.rows.map((name) => name.length)))
  const columns = Math.max(1, Math.min(bars.panels.length, Math.floor((width + GAP) / (PANEL_MIN + GAP))))
  const panelWidth = (width - (columns - 1) * GAP) / columns
  const panelHeight = HEAD + bars.rows.length * ROW + 10
  const length = Math.max(20, panelWidth - names - TOTAL)
  const marks: BarMark[] = []
  const labels: Label[] = []
  bars.panels.forEach((panel, p) => {
    const left = (p % columns) * (panelWidth + GAP)
    const top = Math.floor(p / columns) * panelHeight
    const text = headOf(panel.scenario, quantity(panel.total, 's'), Math.floor(panelWidth / HEAD_LETTER))
    labels.push({ x: left, y: top + 15, text, anchor: 'start', size: 13, strong: true })
    panel.bars.forEach((bar, row) => {
      const y = top + HEAD + row * ROW
      const whole = total(bar)
      const scale = share ? whole : bars.most
      labels.push({
        x: left + names - 8,
        y: y + 14,
        text: shorten(bars.rows[row]!, 20),
        anchor: 'end',
        size: 12,
      })
      let x = left + names
      bar.forEach((seconds, part) => {
        if (seconds === 0) return
        const wide = (seconds / scale) * length
        marks.push({ panel: p, row, part, seconds, x, y, width: wide, height: BAR })
        x += wide
      })
      labels.push({ x: x + 6, y: y + 14, text: quantity(whole, 's'), anchor: 'start', size: 11 })
    })
  })
  const lines = Math.ceil(bars.panels.length / columns)
  return { width, height: lines * panelHeight, marks, labels }
}

/** Shortens the scenario to fit; keeps the total. */
function headOf(scenario: string, total: string, letters: number): string {
  const whole = `${scenario}, total ${total}`
  if (whole.length <= letters) return whole
  const room = Math.max(6, letters - total.length - 2)
  return `${shorten(scenario, room)}, ${total}`
}

/** The mark at a point, null for none. Thin marks are still reachable by keyboard. */
export function barAt({ marks }: BarsPicture, x: number, y: number): number | null {
  const found = marks.findIndex(
    (mark) => x >= mark.x && x < mark.x + mark.width && y >= mark.y && y < mark.y + mark.height,
  )
  return found < 0 ? null : found
}

/** Tooltip of a mark. */
export function barTip(bars: CostBars, mark: BarMark): { title: string; rows: [string, string][] } {
  const { scenario, bars: all, total: sum } = bars.panels[mark.panel]!
  const whole = total(all[mark.row]!)
  return {
    title: `${bars.rows[mark.row]}, ${bars.parts[mark.part]}`,
    rows: [
      ['Scenario', scenario],
      ['Time', quantity(mark.seconds, 's')],
      ['Share of the bar', percent(mark.seconds / whole)],
      ['Share of the scenario', percent(mark.seconds / sum)],
    ],
  }
}
