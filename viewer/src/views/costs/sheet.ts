/** Export of the costs view. */
import { categoryColors } from '../../base/palette'
import { csvOf } from '../../data/csv'
import { drawBars, drawPartLegend } from '../../draw/bars'
import { looksFor } from '../../draw/look'
import { barsPicture } from '../../layout/bars'
import { costsIn, shownCosts } from './costs'
import { drawHead, MARGIN, TOP, type Exported, type ExportSheet } from '../export/sheets'

const WIDTH = 1100

export function costsExport({ session, derived: { run }, state, theme }: Exported): ExportSheet | null {
  const costs = costsIn(session, run)
  if (costs === null || typeof costs === 'string') return null
  const { choice, bars, job } = shownCosts(costs, state)
  const picture = barsPicture(bars, WIDTH, state.costScale === 'share')
  const looks = looksFor(theme, state.ramp, false)
  const colors = categoryColors(bars.parts)
  const of = job < 0 ? 'all jobs' : costs.names.job[costs.jobs.indexOf(job)]!
  const name = `${run.label}, time of ${of}`
  const size = { width: WIDTH + 2 * MARGIN, height: TOP + 34 + picture.height + MARGIN }
  return {
    name,
    ...size,
    draw: (pen) => {
      drawHead(pen, size, name, `by ${choice.rows} and ${choice.parts}`, looks)
      drawPartLegend(pen, { x: MARGIN, y: TOP + 4 }, bars.parts, colors, looks)
      drawBars(pen, { x: MARGIN, y: TOP + 34 }, picture, colors, looks)
    },
    csv: () =>
      csvOf(
        ['scenario', choice.rows, choice.parts, 'term_time_s'],
        bars.panels.flatMap(({ scenario, bars: all }) =>
          all.flatMap((bar, row) =>
            bar.map((seconds, part) => [scenario, bars.rows[row]!, bars.parts[part]!, seconds]),
          ),
        ),
      ),
  }
}
