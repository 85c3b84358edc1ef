/** One job: its figures, its ranks on the machine, and which of them talk. */
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { count, quantity } from '../base/format'
import type { Block } from '../data/block'
import type { Derived } from '../data/model'
import { communicationDensity, placementDensity, type Density } from '../data/placement'
import { measureLabel, unitOf, type Job } from '../data/run'
import { colorAt, looksFor } from '../draw/look'
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
  const figures = Object.entries(job.figures).filter(
    ([name, value]) => name !== 'job' && Number.isFinite(value),
  )
  return (
    <section class="card figures" aria-label="Figures">
      <dl>
        <dt>Pattern</dt>
        <dd>{job.pattern}</dd>
        <dt>Placement</dt>
        <dd>{job.placement}</dd>
        {figures.map(([name, value]) => (
          <>
            <dt>{measureLabel(name)}</dt>
            <dd data-test={`figure-${name}`}>{quantity(value, unitOf(name))}</dd>
          </>
        ))}
      </dl>
    </section>
  )
}

function useTable(run: Derived['run'], table: string, columns: readonly string[]): Block | string | null {
  const session = useSession()
  const [block, setBlock] = useState<Block | string | null>(null)
  const there = columns.every((column) => run.info.tables[table]?.columns[column] !== undefined)
  useEffect(() => {
    setBlock(null)
    if (!there) return
    let gone = false
    session.source.table(run.id, table, columns).then(
      (found) => !gone && setBlock(found),
      (error: unknown) => !gone && setBlock(error instanceof Error ? error.message : String(error)),
    )
    return () => void (gone = true)
  }, [run, there])
  return there ? (block ?? 'Loading …') : null
}

function Placement({ derived: d, job }: { derived: Derived; job: Job }) {
  const table = useTable(d.run, 'placement', ['job', 'rank', 'node'])
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
            describe={(column, row, value) => [
              `${span('Rank', column, map.perColumn)} on ${span('router', row, map.perRow)}`,
              `${count(value)} ranks`,
            ]}
            run={d.run}
            test="placement-map"
          />
          <p class="reading">
            Across: ranks{map.perColumn > 1 ? `, ${map.perColumn} a pixel` : ''}. Down: routers
            {map.perRow > 1 ? `, ${map.perRow} a pixel` : ''}. Up to {count(map.most)} ranks in one place.
          </p>
        </>
      )}
    </section>
  )
}

function Communication({ derived: d, job }: { derived: Derived; job: Job }) {
  const table = useTable(d.run, 'communication', ['job', 'source', 'target', 'bytes'])
  const map = useMemo(
    () => (table === null || typeof table === 'string' ? null : communicationDensity(table, job.job, GRID)),
    [table, job],
  )
  return (
    <section class="card density">
      <h2>Who talks to whom</h2>
      {map === null ? (
        <p class="hint">
          {typeof table === 'string'
            ? table
            : 'This run holds no communication table, so ranks cannot be shown talking.'}
        </p>
      ) : (
        <>
          <DensityView
            map={map}
            describe={(column, row, value) => [
              `${span('Rank', row, map.perRow)} to ${span('rank', column, map.perColumn)}`,
              quantity(value, 'bytes'),
            ]}
            run={d.run}
            test="communication-map"
          />
          <p class="reading">
            Down: sending rank. Across: receiving rank
            {map.perColumn > 1 ? `; ${map.perColumn} × ${map.perRow} ranks a pixel` : ''}. Up to{' '}
            {quantity(map.most, 'bytes')}, logarithmic.
          </p>
        </>
      )}
    </section>
  )
}

function span(noun: string, index: number, per: number): string {
  return per === 1 ? `${noun} ${index}` : `${noun}s ${count(index * per)} to ${count((index + 1) * per - 1)}`
}

interface DensityProps {
  readonly map: Density
  readonly run: Derived['run']
  readonly test: string
  describe(column: number, row: number, value: number): [string, string]
}

function DensityView({ map, run, test, describe }: DensityProps) {
  const session = useSession()
  const { ramp } = useStore(session.state)
  const looks = looksFor(useContext(ThemeContext), ramp, false)
  const frame = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const size = useSize(frame)
  useEffect(() => {
    if (!canvas.current || size.width === 0) return
    const context = prepareCanvas(canvas.current, size)
    const [w, h] = [size.width / map.columns, size.height / map.rows]
    const top = Math.log1p(map.most)
    map.values.forEach((value, i) => {
      if (value === 0) return
      context.fillStyle = colorAt(looks, Math.log1p(value) / top)
      context.fillRect((i % map.columns) * w, Math.floor(i / map.columns) * h, Math.max(1, w), Math.max(1, h))
    })
  }, [map, looks, size])
  const hover = (event: PointerEvent): void => {
    const box = frame.current!.getBoundingClientRect()
    const column = Math.floor(((event.clientX - box.left) / box.width) * map.columns)
    const row = Math.floor(((event.clientY - box.top) / box.height) * map.rows)
    const value = map.values[row * map.columns + column]
    if (value === undefined || column < 0 || column >= map.columns) return session.hover.set(null)
    const [title, text] = describe(column, row, value)
    session.hover.set({
      run,
      links: [],
      routers: [],
      groups: [],
      tip: { title, rows: [], shares: [], note: text },
      x: event.clientX,
      y: event.clientY,
    })
  }
  return (
    <div
      class="density-frame"
      ref={frame}
      onPointerMove={hover}
      onPointerLeave={() => session.hover.set(null)}
      data-test={test}
    >
      <canvas ref={canvas} />
    </div>
  )
}
