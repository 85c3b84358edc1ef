/** Export of the costs view. */
import { categoryColors } from '../../base/palette'
import { csvOf } from '../../data/csv'
import { drawBars } from '../../draw/bars'
import { drawLegend } from '../../draw/blocks'
import { looksFor } from '../../draw/look'
import { barsPicture } from '../../layout/bars'
import { costsIn, shownCosts } from './costs'
import { sheetOf, type ExportRequest, type ExportSheet } from '../export/sheets'

const WIDTH = 1100

export function costsExport({ session, derived: { run }, state, theme }: ExportRequest): ExportSheet | null {
  const costs = costsIn(session, run)
  if (costs === null || typeof costs === 'string') return null
  const { choice, bars, job } = shownCosts(costs, state)
  const picture = barsPicture(bars, WIDTH, state.costScale === 'share')
  const looks = looksFor(theme, state.ramp, false)
  const colors = categoryColors(bars.parts)
  const of = job < 0 ? 'all jobs' : costs.names.job[costs.jobs.indexOf(job)]!
  return sheetOf({
    name: `${run.label}, time of ${of}`,
    facts: `by ${choice.rows} and ${choice.parts}`,
    columns: [
      [
        { width: WIDTH, height: 14, draw: (pen) => drawLegend(pen, 0, bars.parts, colors, looks) },
        { ...picture, draw: (pen) => drawBars(pen, picture, colors, looks) },
      ],
    ],
    looks,
    csv: () =>
      csvOf(
        ['scenario', choice.rows, choice.parts, 'term_time_s'],
        bars.panels.flatMap(({ scenario, bars: all }) =>
          all.flatMap((bar, row) =>
            bar.map((seconds, part) => [scenario, bars.rows[row]!, bars.parts[part]!, seconds]),
          ),
        ),
      ),
  })
}
