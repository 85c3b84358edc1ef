/** A sweep's result: a sentence, then a row per setting, best first, with dots for seeds. */
import { count, quantity } from '../../base/format'
import { wordsOf } from '../../data/headline'
import { partnerOf } from '../../data/pivot'
import { baseOf, longestOf, type Ranking, type Spread } from '../../data/ranking'
import { useSession } from '../session/session'

/** Jobs with a column of their own. */
const JOBS_MAX = 12
/** Heights of a row of few and of many settings. */
const HEIGHTS = [44, 26] as const
const FEW = 12

export function RankingView({ ranking }: { ranking: Ranking }) {
  const session = useSession()
  const { jobs, rows, label, unit } = ranking
  const base = baseOf(ranking)
  const shown = jobs.slice(0, JOBS_MAX)
  const longest = shown.map((_, job) => longestOf(ranking, job))
  const seeds = Math.max(...rows.map(({ points }) => points.length))
  const open = (points: readonly number[]): void => {
    const [run] = points
    const partner = partnerOf(session.index, run!, base.points)
    session.state.patch(
      points === base.points
        ? { view: 'overview', run: run! }
        : { view: 'compare', compared: [partner, run!], difference: true },
    )
  }
  return (
    <div class="ranking" data-test="ranking">
      <p class="headline" data-test="sweep-headline">
        {wordsOf(ranking.headline)}
      </p>
      <div class="table-frame">
        <table>
          <thead>
            <tr>
              <th scope="col">Setting, best first</th>
              {shown.map((job) => (
                <th key={job} scope="col">
                  {job}: {label.toLowerCase()}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.text} onClick={() => open(row.points)}>
                <th scope="row">
                  <button
                    title={row === base ? 'Open the base' : 'Compare with the base'}
                    onClick={(event) => {
                      event.stopPropagation()
                      open(row.points)
                    }}
                  >
                    {row.text || 'all runs'}
                  </button>
                  {row === base && <em> base</em>}
                </th>
                {shown.map((job, j) => (
                  <td key={job} data-job={`${job}: ${label.toLowerCase()}`}>
                    {row.jobs[j] ? (
                      <Dots
                        of={row.jobs[j]}
                        most={longest[j]!}
                        name={`${row.text}, ${job}`}
                        unit={unit}
                        height={HEIGHTS[rows.length > FEW ? 1 : 0]}
                      />
                    ) : (
                      '–'
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="reading" data-test="ranking-reading">
        {seeds > 2
          ? `Dot: a seed. Tick: mean of up to ${count(seeds)} seeds; line: its 95 % interval (Student’s t). `
          : seeds === 2
            ? 'Dot: a seed. Tick: mean of two seeds, which are too few for an interval. '
            : 'One run per setting. '}
        Less is better. Order: geometric mean over jobs, relative to the base.
        {jobs.length > JOBS_MAX && ` ${count(jobs.length - JOBS_MAX)} more jobs are in the map.`}
      </p>
    </div>
  )
}

interface DotsProps {
  readonly of: Spread
  readonly most: number
  readonly name: string
  readonly unit: Ranking['unit']
  readonly height: number
}

/** Values, mean and interval on an axis from zero. */
function Dots({ of: { values, mean, low, high }, most, name, unit, height }: DotsProps) {
  const x = (value: number): string => `${2 + (96 * Math.max(0, value)) / (most || 1)}%`
  const ends = (from: number, to: number): string => `${quantity(from, unit)} to ${quantity(to, unit)}`
  const interval =
    low !== null && high !== null
      ? `, 95 % ${ends(low, high)}`
      : values.length > 1
        ? `, seeds ${ends(Math.min(...values), Math.max(...values))}`
        : ''
  const said = `${name}: ${quantity(mean, unit)}${interval}`
  return (
    <div class="dots">
      <svg height={height} role="img" aria-label={said}>
        <title>{said}</title>
        <line class="axis" x1="2%" x2="98%" y1={height / 2} y2={height / 2} />
        {low !== null && high !== null && (
          <line class="interval" x1={x(low)} x2={x(high)} y1={height / 2} y2={height / 2} />
        )}
        {values.map((value, i) => (
          <circle key={i} cx={x(value)} cy={height / 2} r={3.2} />
        ))}
        <line class="mean" x1={x(mean)} x2={x(mean)} y1={4} y2={height - 4} />
      </svg>
      <span class="number">{quantity(mean, unit)}</span>
    </div>
  )
}
