/** A thumbnail per run on one scale, in any order; a click opens the run. */
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { quantity } from '../../base/format'
import { RunModel } from '../../data/model'
import { ALL_VALUES } from '../../data/range'
import { loadRun } from '../../data/run'
import type { RunInfo, SweepKey } from '../../data/source'
import { looksFor } from '../../draw/look'
import { drawPicture } from '../../draw/picture'
import { Choice } from '../controls/choice'
import { PictureContent } from '../picture/content'
import { fit } from '../picture/drawing'
import { geometryOf, ThemeContext, useSession, useStore, type Session } from '../session/session'
import { prepareCanvas } from '../canvas/size'

const THUMBNAIL = { width: 190, height: 190 }

export function Thumbnails() {
  const session = useSession()
  const state = useStore(session.state)
  const { runs } = session.index
  const { keys } = session.index
  const key = keys.find(({ name }) => name === state.sweepKey)
  const order = useMemo(() => orderBy(runs, key?.name ?? ''), [runs, key])
  // From the summaries, so that all thumbnails share the scale before runs are loaded.
  const largest = Math.max(...runs.map((run) => run.summary.classes[0]?.bytes_max ?? 0))
  return (
    <>
      <div class="pickers">
        <Choice
          label="Order by"
          value={key?.name ?? ''}
          options={[
            { value: '', label: 'as given' },
            ...keys.map(({ name }) => ({ value: name, label: name })),
          ]}
          onChange={(sweepKey) => session.state.patch({ sweepKey })}
          test="sweep-key"
        />
        <span class="hint">
          {runs.length} runs on one colour scale: traffic from 0 to {quantity(largest, 'bytes')}
        </span>
      </div>
      <ul class="thumbnails">
        {order.map((id) => (
          <Thumbnail key={id} id={id} info={runs[id]!} high={largest} sortKey={key} />
        ))}
      </ul>
    </>
  )
}

function orderBy(runs: readonly RunInfo[], key: string): number[] {
  const ids = runs.map((_, id) => id)
  if (key === '') return ids
  return ids.sort((a, b) => {
    const [x, y] = [runs[a]!.keys[key] ?? '', runs[b]!.keys[key] ?? '']
    if (typeof x === 'number' && typeof y === 'number') return x - y || a - b
    return String(x).localeCompare(String(y), 'en', { numeric: true }) || a - b
  })
}

interface ThumbnailProps {
  readonly id: number
  readonly info: RunInfo
  readonly high: number
  readonly sortKey: SweepKey | undefined
}

/** Loaded when it scrolls into view, then released: a large sweep does not fit into memory. */
function Thumbnail({ id, info, high, sortKey }: ThumbnailProps) {
  const session = useSession()
  const theme = useContext(ThemeContext)
  const { ramp } = useStore(session.state)
  const canvas = useRef<HTMLCanvasElement>(null)
  const [problem, setProblem] = useState('')
  useEffect(() => {
    const element = canvas.current!
    let gone = false
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return
      observer.disconnect()
      void queue(() =>
        gone ? Promise.resolve() : drawThumbnail(session, id, element, theme, ramp, high),
      ).catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)))
    })
    observer.observe(element)
    return () => {
      gone = true
      observer.disconnect()
    }
  }, [id, theme, ramp, high])
  const { summary } = info
  return (
    <li>
      <button
        class="thumbnail"
        onClick={() => session.state.patch({ run: id, view: 'overview' })}
        title={`Open ${info.label}`}
        data-test={`thumbnail-${id}`}
      >
        <canvas ref={canvas} style={{ width: `${THUMBNAIL.width}px`, height: `${THUMBNAIL.height}px` }} />
        {/* A zero-width space after each comma lets long labels wrap between keys. */}
        <b>{info.label.replaceAll(',', ',\u200b')}</b>
        <span>
          {summary.machine.name}, {summary.routing}
        </span>
        {sortKey && (
          <span>
            {sortKey.name}: {valueOf(info, sortKey)}
          </span>
        )}
        {problem !== '' && <em class="alarm">{problem}</em>}
      </button>
    </li>
  )
}

/** As formatted; a number without a unit as the user wrote it. */
function valueOf(info: RunInfo, { name, unit }: SweepKey): string {
  const value = info.keys[name]
  return typeof value === 'number' && unit !== 'none' ? quantity(value, unit) : String(value ?? '')
}

/** Two at a time: each may need 100 MB while it is drawn. */
let running = 0
const waiting: (() => void)[] = []
async function queue(task: () => Promise<void>): Promise<void> {
  if (running >= 2) await new Promise<void>((resolve) => waiting.push(resolve))
  running++
  try {
    await task()
  } finally {
    running--
    waiting.shift()?.()
  }
}

async function drawThumbnail(
  session: Session,
  id: number,
  canvas: HTMLCanvasElement,
  theme: 'light' | 'dark',
  ramp: string,
  high: number,
): Promise<void> {
  const run = await loadRun(session.source, id, session.index.runs[id]!)
  const state = {
    ...session.state.get(),
    ...ALL_VALUES,
    focus: '',
    classesOff: [],
    jobs: {},
    measure: 'bytes',
    scale: 'linear' as const,
    frozen: [0, high] as const,
  }
  const derived = new RunModel(run).derive(state)
  const picture = geometryOf(run).picture('')
  const context = prepareCanvas(canvas, THUMBNAIL)
  const view = fit(picture, THUMBNAIL, [1, 0, 0])
  context.translate(view.x, view.y)
  context.scale(view.k, view.k)
  drawPicture(
    context,
    { ...picture, labels: [], taper: [5, 2] },
    new PictureContent().data(picture, derived, state),
    looksFor(theme, ramp, false),
    1 / view.k,
  )
}
