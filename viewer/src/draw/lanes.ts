/** Draws rank activity over time, one lane per rank. */
import type { Theme } from '../base/ramps'
import { COMPUTING, COMMUNICATING, WAITING, type Lane } from '../data/lanes'
import { fillBox, type Box } from './blocks'
import type { Pen } from './pen'

export const STATE_NAMES = ['computing', 'communicating', 'waiting'] as const

/** Distinguishable with any colour vision and by lightness; waiting stands out. */
export const STATE_COLORS: Readonly<Record<Theme, readonly [string, string, string]>> = {
  light: ['#b9d3e8', '#2b7bba', '#d9541e'],
  dark: ['#27496b', '#5fa8e6', '#ff8c4b'],
}

/** `area` is the plot, `at` maps time to x. Spans below a pixel are merged. */
export function drawLanes(
  pen: Pen,
  lanes: readonly Lane[],
  area: Box,
  at: (time: number) => number,
  theme: Theme,
): void {
  const colors = STATE_COLORS[theme]
  const height = area.height / Math.max(1, lanes.length)
  const [left, right] = [area.x, area.x + area.width]
  const paths: number[][] = [[], [], []]
  lanes.forEach((lane, row) => {
    const [top, bottom] = [area.y + row * height, area.y + (row + 1) * height]
    const gap = height >= 6 ? 1 : 0
    const add = (state: number, from: number, until: number): void => {
      const [x0, x1] = [Math.max(left, at(from)), Math.min(right, at(until))]
      if (x1 > left && x0 < right && x1 > x0)
        paths[state]!.push(x0, top, x1 - x0, Math.max(0.5, bottom - top - gap))
    }
    add(COMPUTING, lane.start, lane.end)
    for (const call of lane.calls) add(COMMUNICATING, call.from, call.until)
    for (const wait of lane.waits) add(WAITING, wait.from, wait.until)
  })
  paths.forEach((list, state) => {
    for (let from = 0; from < list.length; from += 4000) {
      pen.beginPath()
      for (let i = from; i < Math.min(list.length, from + 4000); i += 4)
        pen.rect(list[i]!, list[i + 1]!, list[i + 2]!, list[i + 3]!)
      pen.fillStyle = colors[state]!
      pen.fill()
    }
  })
}

export function drawStateLegend(
  pen: Pen,
  x: number,
  y: number,
  theme: Theme,
  text: (state: number, x: number) => void,
): void {
  STATE_NAMES.forEach((_, state) => {
    fillBox(pen, { x: x + state * 110, y, width: 12, height: 12 }, STATE_COLORS[theme][state]!)
    text(state, x + state * 110 + 17)
  })
}
