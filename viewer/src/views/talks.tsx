/** Who sends to whom in every job of a run, side by side on one scale: levels of a multigrid cycle, patterns, sizes. */
import { useMemo } from 'preact/hooks'
import { count, percent, quantity } from '../base/format'
import type { Derived } from '../data/model'
import { COMMUNICATION, communicationMatrix, type Communication } from '../data/placement'
import type { Job, Run } from '../data/run'
import type { ColorScale } from '../data/scale'
import { DensityView, densityScale } from './density'
import { useSession, useStore, useTable } from './session'

export const hasTalks = (run: Run): boolean => (run.info.tables['communication']?.rows ?? 0) > 0

export function Talks({ derived: { run } }: { derived: Derived }) {
  const session = useSession()
  const { scale: kind, jobs } = useStore(session.state)
  const table = useTable(run, 'communication', COMMUNICATION)
  const maps = useMemo(
    () =>
      table === null || typeof table === 'string'
        ? []
        : run.jobs
            .filter(({ job }) => jobs[job] === undefined)
            .map((job) => ({ job, map: communicationMatrix(table, job.job, job.ranks) })),
    [table, run, jobs],
  )
  const scale = useMemo(
    () =>
      densityScale(
        maps.map(({ map }) => map),
        kind,
      ),
    [maps, kind],
  )
  if (typeof table === 'string') return <p class="hint centred">{table}</p>
  return (
    <>
      <div class="talks" data-test="talks">
        {maps.map(({ job, map }) => (
          <section key={job.job} aria-label={`Who sends to whom in ${job.name}`}>
            <h2>
              <i class="swatch" style={{ background: job.color }} /> {job.name}
            </h2>
            <TalkMap
              run={run}
              job={job}
              map={map}
              on={scale}
              label={`Who sends to whom in ${job.name}`}
              test={`talk-${job.job}`}
            />
            <p class="hint">
              {quantity(total(map.values), 'bytes')} in {count(total(map.messages))} messages
            </p>
          </section>
        ))}
      </div>
      <p class="reading">All matrices have one scale of colours; ranks send down, receive across.</p>
    </>
  )
}

const total = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0)

interface TalkMapProps {
  readonly run: Run
  readonly job: Job
  readonly map: Communication
  readonly label: string
  readonly test: string
  readonly on?: ColorScale
}

export function TalkMap({ run, job, map, label, test, on }: TalkMapProps) {
  const bytes = useMemo(() => total(map.values), [map])
  return (
    <DensityView
      map={map}
      describe={(column, row, value) => ({
        title: `${span('Rank', row, map.perRow, job.ranks)} to ${span('', column, map.perColumn, job.ranks)}`,
        rows: [
          ['Messages', count(map.messages[row * map.columns + column]!)],
          ['Bytes', quantity(value, 'bytes')],
          ['Share of the job', percent(value / bytes)],
        ],
      })}
      run={run}
      unit="bytes"
      across={['to rank 0 →', `${count(job.ranks - 1)}`]}
      down="from rank 0 ↓"
      label={label}
      test={test}
      {...(on ? { on } : {})}
    />
  )
}

/** A cell of an axis in words: one thing, or from which to which. */
export function span(noun: string, index: number, per: number, total: number): string {
  const last = Math.min(total, (index + 1) * per) - 1
  const text = per === 1 ? count(index) : `${count(index * per)}–${count(last)}`
  return noun === '' ? text : `${noun}${per === 1 ? '' : 's'} ${text}`
}
