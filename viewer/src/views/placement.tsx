/** One job: its figures, its ranks on the machine, and which of them talk. */
import { useContext, useEffect, useMemo, useRef } from 'preact/hooks'
import { count, percent, quantity, type Unit } from '../base/format'
import type { Block } from '../data/block'
import type { Tip } from '../data/describe'
import type { Derived } from '../data/model'
import {
  COMMUNICATION,
  communicationMatrix,
  PLACEMENT,
  placementDensity,
  type Density,
} from '../data/placement'
import type { Job } from '../data/run'
import { colorScale } from '../data/scale'
import { looksFor } from '../draw/look'
import { PictureView } from './picture'
import { ThemeContext, useSession, useStore } from './session'
import { prepareCanvas, useSize } from './size'

const GRID = 256

export function JobsView({ derived: d }: { derived: Derived }) {
  const session = useSession()
  const { run } = d
  const focused = run.jobs.find((job) => job.job === d.focus?.job)
  const job = focused ?? run.jobs[0]
  useEffect(() => {
    if (!focused && job) session.state.patch({ focus: `job:${job.job}` })
  }, [focused === undefined, run])
  if (!job)
    return (
      <div class="centre">
        <p class="hint centred">This run has no jobs.</p>
      </div>
    )
  return (
    <>
      <div class="centre">
        <nav class="pickers" aria-label="Job">
          {run.jobs.map((other) => (
            <button
              key={other.job}
              aria-pressed={other === job}
              onClick={() => session.state.patch({ focus: `job:${other.job}` })}
              data-test={`pick-job-${other.job}`}
            >
              <i class="swatch" style={{ background: other.color }} /> {other.name}
            </button>
          ))}
        </nav>
        <PictureView derived={d} title={`Routers of ${job.name}`} compact />
        <Figures job={job} />
      </div>
      <aside class="right">
        <Placement derived={d} job={job} />
        <Communication derived={d} job={job} />
      </aside>
    </>
  )
}

function Figures({ job }: { job: Job }) {
  const figures = job.figures.filter(({ value }) => Number.isFinite(value))
  return (
    <section class="card figures" aria-label="Figures">
      <dl>
        <dt>Pattern</dt>
        <dd>{job.pattern}</dd>
        <dt>Placement</dt>
        <dd>{job.placement}</dd>
        {figures.map(({ id, label, unit, meaning, value }) => (
          <>
            <dt title={meaning}>{label}</dt>
            <dd data-test={`figure-${id}`}>{quantity(value, unit)}</dd>
          </>
        ))}
      </dl>
    </section>
  )
}

/** The table, a message where it cannot be had, or null where the run has none. */
function useTable(run: Derived['run'], table: string, columns: readonly string[]): Block | string | null {
  const session = useSession()
  const there = columns.every((column) => run.info.tables[table]?.columns[column] !== undefined)
  return there && run.info.tables[table]!.rows > 0
    ? (session.block(run.id, table, columns) ?? 'Loading …')
    : null
}

function Placement({ derived: d, job }: { derived: Derived; job: Job }) {
  const table = useTable(d.run, 'placement', PLACEMENT)
  const map = useMemo(
    () =>
      table === null || typeof table === 'string'
        ? null
        : placementDensity(d.run, table, job.job, GRID, GRID),
    [table, job, d.run],
  )
  return (
    <section class="card density">
      <h2>Ranks on routers</h2>
      {map === null ? (
        <p class="hint">{typeof table === 'string' ? table : 'This run does not say where ranks are.'}</p>
      ) : (
        <>
          <DensityView
            map={map}
            describe={(column, row, value) => ({
              title: `${span('Rank', column, map.perColumn, job.ranks)} on ${span('router', row, map.perRow, d.run.routers.count)}`,
              rows: [['Ranks', count(value)]],
            })}
            run={d.run}
            unit="count"
            across={['rank 0 →', count(job.ranks - 1)]}
            down={`router 0 to ${count(d.run.routers.count - 1)} ↓`}
            test="placement-map"
          />
          <p class="reading">
            {map.perColumn > 1 ? `${count(map.perColumn)} ranks` : 'One rank'} across and{' '}
            {map.perRow > 1 ? `${count(map.perRow)} routers` : 'one router'} down a cell.
          </p>
        </>
      )}
    </section>
  )
}

function Communication({ derived: d, job }: { derived: Derived; job: Job }) {
  const table = useTable(d.run, 'communication', COMMUNICATION)
  const map = useMemo(
    () =>
      table === null || typeof table === 'string' ? null : communicationMatrix(table, job.job, job.ranks),
    [table, job],
  )
  const total = useMemo(() => map?.values.reduce((sum, v) => sum + v, 0) ?? 0, [map])
  return (
    <section class="card density" aria-label="Communication">
      <h2>Who sends to whom</h2>
      {map === null ? (
        <p class="hint">
          {typeof table === 'string' ? table : 'This run does not say how much which rank sends to whom.'}
        </p>
      ) : (
        <>
          <DensityView
            map={map}
            describe={(column, row, value) => ({
              title: `${span('Rank', row, map.perRow, job.ranks)} to ${span('', column, map.perColumn, job.ranks)}`,
              rows: [
                ['Messages', count(map.messages[row * map.columns + column]!)],
                ['Bytes', quantity(value, 'bytes')],
                ['Share of the job', percent(value / total)],
              ],
            })}
            run={d.run}
            unit="bytes"
            across={['to rank 0 →', `${count(job.ranks - 1)}`]}
            down="from rank 0 ↓"
            test="communication-map"
          />
          <p class="reading" data-test="communication-reading">
            {count(map.rows)} × {count(map.columns)} cells
            {map.perColumn > 1
              ? ` of ${count(map.perRow)} × ${count(map.perColumn)} ranks`
              : ', one per pair of ranks'}
            ; {quantity(total, 'bytes')} in all, all that the job sends.
          </p>
        </>
      )}
    </section>
  )
}

function span(noun: string, index: number, per: number, total: number): string {
  const last = Math.min(total, (index + 1) * per) - 1
  const text = per === 1 ? count(index) : `${count(index * per)}–${count(last)}`
  return noun === '' ? text : `${noun}${per === 1 ? '' : 's'} ${text}`
}

interface DensityProps {
  readonly map: Density
  readonly run: Derived['run']
  readonly unit: Unit
  readonly across: readonly [string, string]
  readonly down: string
  readonly test: string
  describe(column: number, row: number, value: number): Pick<Tip, 'title' | 'rows'>
}

/** In the colours and on the kind of scale that are chosen, over its own range. */
function DensityView({ map, run, unit, across, down, test, describe }: DensityProps) {
  const session = useSession()
  const { ramp, scale: kind } = useStore(session.state)
  const looks = looksFor(useContext(ThemeContext), ramp, false)
  const frame = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const size = useSize(frame)
  const scale = useMemo(
    () => colorScale(kind, map.values.filter((value) => value > 0).sort(), false, null),
    [map, kind],
  )
  useEffect(() => {
    if (!canvas.current || size.width === 0) return
    const context = prepareCanvas(canvas.current, size)
    const at = (i: number, of: number, length: number): number => Math.round((i * length) / of)
    map.values.forEach((value, i) => {
      if (value === 0) return
      const [column, row] = [i % map.columns, Math.floor(i / map.columns)]
      const [x, y] = [at(column, map.columns, size.width), at(row, map.rows, size.height)]
      context.fillStyle = looks.colors[scale.shade(value)]!
      context.fillRect(
        x,
        y,
        Math.max(1, at(column + 1, map.columns, size.width) - x),
        Math.max(1, at(row + 1, map.rows, size.height) - y),
      )
    })
  }, [map, looks, scale, size])
  const hover = (event: PointerEvent): void => {
    const box = frame.current!.getBoundingClientRect()
    const column = Math.floor(((event.clientX - box.left) / box.width) * map.columns)
    const row = Math.floor(((event.clientY - box.top) / box.height) * map.rows)
    const value = map.values[row * map.columns + column]
    if (value === undefined || column < 0 || column >= map.columns) return session.hover.set(null)
    session.hover.set({
      run,
      links: [],
      routers: [],
      groups: [],
      tip: { ...describe(column, row, value), shares: [], note: value === 0 ? 'nothing' : '' },
      x: event.clientX,
      y: event.clientY,
    })
  }
  const gradient = [0, 0.25, 0.5, 0.75, 1].map((share) => looks.colors[scale.shade(scale.value(share))]!)
  return (
    <div class="density-body">
      <div class="ends">
        <span>{down}</span>
        <span class="mini-ramp">
          {quantity(scale.low, unit)}
          <i style={{ background: `linear-gradient(to right, ${gradient.join(', ')})` }} />
          {quantity(scale.high, unit)}
        </span>
      </div>
      <div
        class="density-frame"
        ref={frame}
        onPointerMove={hover}
        onPointerLeave={() => session.hover.set(null)}
        data-test={test}
      >
        <canvas ref={canvas} />
      </div>
      <div class="ends">
        <span>{across[0]}</span>
        <span>{across[1]}</span>
      </div>
    </div>
  )
}
