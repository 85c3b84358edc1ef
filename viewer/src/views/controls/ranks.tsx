/** Router colours by rank: job, rank grid and legend. */
import { useContext, useMemo, useState } from 'preact/hooks'
import { count } from '../../base/format'
import type { DerivedRun } from '../../data/model'
import { PLACEMENT } from '../../data/placement'
import {
  gridProblem,
  hasRanks,
  keepPlaces,
  placesOf,
  placesText,
  rankPlaces,
  readGrid,
  readRanks,
  writeRanks,
  type RankPlaces,
} from '../../data/ranks'
import type { Run } from '../../data/run'
import { looksFor } from '../../draw/look'
import { FIRST_SHADE, SHADES } from '../../data/scale'
import { Choice, JobChoice } from './choice'
import { ThemeContext, useSession, useSettings, useStore } from '../session/session'

/** Loads the places of the chosen ranks; null if routers are not coloured by rank. */
export function useRankPlaces(run: Run): RankPlaces | null {
  const session = useSession()
  const { routers, ranks } = useSettings()
  useStore(session.loaded)
  const wanted = routers === 'rank' && hasRanks(run.info)
  const placement = wanted ? session.block(run.id, 'placement', PLACEMENT) : undefined
  return useMemo(() => {
    const choice = readRanks(ranks)
    if (!wanted || choice === null || typeof placement !== 'object') return null
    return placesOf(run, { routers, ranks }) ?? keepPlaces(run, rankPlaces(run, placement, choice))
  }, [run, placement, routers, ranks])
}

export function Ranks({ derived: { run, signed } }: { derived: DerivedRun }) {
  const session = useSession()
  const state = useSettings()
  const places = useRankPlaces(run)
  const looks = looksFor(useContext(ThemeContext), state.ramp, signed)
  const chosen = readRanks(state.ranks)
  if (state.routers !== 'rank' || !chosen) return null
  const { job, grid, axis } = chosen
  const ranks = run.jobs.find((one) => one.job === job)?.ranks ?? 0
  const set = (fields: Partial<typeof chosen>): void =>
    session.state.patch({ ranks: writeRanks({ ...chosen, ...fields }) })
  const colors = Array.from(
    { length: 11 },
    (_, i) => looks.ranks[FIRST_SHADE + Math.round((i * (SHADES - 1)) / 10)],
  )
  return (
    <>
      <JobChoice
        run={run}
        job={job}
        label="Job"
        test="ranks-job"
        // Another job has another number of ranks.
        onChange={(job) => set({ job, grid: [], axis: 0 })}
      />
      <div class="range">
        <Grid
          key={`${job} ${grid.join()}`}
          grid={grid}
          ranks={ranks}
          onChange={(sizes) => set({ grid: sizes, axis: 0 })}
        />
      </div>
      {grid.length > 0 && (
        <Choice
          label="Coordinate"
          test="ranks-axis"
          value={String(axis)}
          options={grid.map((size, i) => ({
            value: String(i),
            label: `${i}: 0 to ${size - 1}${i === grid.length - 1 ? ', fastest' : ''}`,
          }))}
          onChange={(value) => set({ axis: Number(value) })}
        />
      )}
      {places && (
        <>
          <div class="ramp" style={{ background: `linear-gradient(to right, ${colors.join(', ')})` }} />
          <div class="ramp-labels" data-test="ranks-labels">
            <span>0</span>
            <span>{placesText(run, places)}</span>
            <span>{count(places.most)}</span>
          </div>
          {places.ranks.some((n) => n > 1) && (
            <p class="hint">A router with several ranks has the colour of its lowest rank.</p>
          )}
        </>
      )}
    </>
  )
}

interface GridProps {
  readonly grid: readonly number[]
  readonly ranks: number
  onChange(sizes: number[]): void
}

/** The grid as text; an invalid grid is rejected. */
function Grid({ grid, ranks, onChange }: GridProps) {
  const [text, setText] = useState(grid.join(' x '))
  const wrong = text.trim() === '' ? '' : gridProblem(text, ranks)
  const commit = (): void => {
    if (wrong === '') onChange(text.trim() === '' ? [] : readGrid(text))
  }
  return (
    <label
      class={wrong === '' ? '' : 'wrong'}
      title={wrong || 'Sizes of a grid filled by the ranks in row-major order'}
    >
      grid
      <input
        data-test="ranks-grid"
        value={text}
        placeholder={`none (${count(ranks)} ranks)`}
        onInput={(event) => setText(event.currentTarget.value)}
        onBlur={commit}
        onKeyDown={(event) => {
          event.stopPropagation()
          if (event.key === 'Enter') commit()
          if (event.key === 'Escape') setText(grid.join(' x '))
        }}
      />
    </label>
  )
}
