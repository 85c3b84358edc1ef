/** What a model run costs: bars by job, level, phase or term, put together from another of these, scenarios side by side. */
import { useContext, useEffect, useMemo, useRef } from 'preact/hooks'
import {
  COST_AXES,
  costBars,
  costChoice,
  CYCLE,
  CYCLE_COLUMNS,
  cycleCosts,
  hasCosts,
  hasCycle,
  rankCosts,
  type CostAxis,
  type CostBars,
  type CostChoice,
  type Costs,
} from '../data/costs'
import { costRows } from '../data/rows'
import type { Run } from '../data/run'
import type { ViewState } from '../data/state'
import { drawBars, partColors } from '../draw/bars'
import { looksFor } from '../draw/look'
import { barAt, barsPicture, barWords } from '../layout/bars'
import { Choice } from './controls'
import { ThemeContext, useSession, useStore, type Session } from './session'
import { prepareCanvas, useSize } from './size'
import { useSteps } from './steps'
import { TableButton } from './tables'

const NOUNS: Readonly<Record<CostAxis, string>> = {
  job: 'job',
  level: 'level',
  phase: 'phase',
  term: 'term',
}

/** The costs, a message where they cannot be had, or null where the run has none. */
export function costsIn(session: Session, run: Run): Costs | string | null {
  if (!hasCosts(run.info)) return null
  if (!hasCycle(run.info)) return costsOf(run, null)
  const block = session.block(run.id, CYCLE, CYCLE_COLUMNS)
  if (block === undefined) return 'Loading …'
  return typeof block === 'string' ? block : costsOf(run, block)
}

const known = new WeakMap<Run, Costs>()

function costsOf(run: Run, block: Parameters<typeof cycleCosts>[1] | null): Costs {
  let costs = known.get(run)
  if (!costs) known.set(run, (costs = block ? cycleCosts(run, block) : rankCosts(run)))
  return costs
}

export interface ShownCosts {
  readonly choice: CostChoice
  readonly bars: CostBars
  /** The job that is told of, -1 where the bars tell jobs apart. */
  readonly job: number
}

export function shownCosts(costs: Costs, state: ViewState): ShownCosts {
  const choice = costChoice(costs, state.costRows, state.costParts)
  const apart = choice.rows === 'job' || choice.parts === 'job'
  const asked = /^job:(\d+)$/.exec(state.focus)?.[1]
  const job = apart ? -1 : (costs.jobs.find((number) => String(number) === asked) ?? costs.jobs[0] ?? -1)
  return { choice, job, bars: costBars(costs, choice, job, (number) => state.jobs[number] === undefined) }
}

export function CostsView({ run }: { run: Run }) {
  const session = useSession()
  const state = useStore(session.state)
  const costs = costsIn(session, run)
  const shown = useMemo(
    () => (costs === null || typeof costs === 'string' ? null : shownCosts(costs, state)),
    [costs, state.costRows, state.costParts, state.focus, state.jobs],
  )
  if (costs === null || typeof costs === 'string' || !shown)
    return (
      <div class="centre wide">
        <p class="hint centred">
          {typeof costs === 'string' ? costs : 'This run prices nothing: only the model engine does.'}
        </p>
      </div>
    )
  const { choice, bars } = shown
  const of = shown.job < 0 ? 'jobs' : `“${costs.names.job[costs.jobs.indexOf(shown.job)]}”`
  const label = `What ${of} cost${shown.job < 0 ? '' : 's'}, by ${NOUNS[choice.rows]} and ${NOUNS[choice.parts]}`
  return (
    <div class="centre wide">
      <Pickers costs={costs} shown={shown} />
      <section class="costs" aria-label={label}>
        <header>
          <h2>{label}</h2>
          <ul class="legend">
            {bars.parts.map((part, i) => (
              <li key={part}>
                <i class="swatch" style={{ background: partColors(bars.parts)[i]! }} /> {part}
              </li>
            ))}
          </ul>
          <span class="spring" />
          <TableButton
            of={label}
            rows={() => costRows(bars, label, NOUNS[choice.rows], NOUNS[choice.parts])}
          />
        </header>
        <Bars run={run} bars={bars} label={label} share={state.costScale === 'share'} />
        <p class="reading" data-test="costs-reading">
          {hasCycle(run.info)
            ? 'Bars of a scenario add up to the time of one cycle.'
            : 'Of every job its slowest rank, whose terms add up to its time.'}{' '}
          {state.costScale === 'share'
            ? 'Every bar is drawn at full length; its time stands beside it.'
            : 'All panels have one scale.'}
        </p>
      </section>
    </div>
  )
}

function Pickers({ costs, shown: { choice, job } }: { costs: Costs; shown: ShownCosts }) {
  const session = useSession()
  const { costScale } = useStore(session.state)
  const axes = COST_AXES.filter((axis) => costs.axes.includes(axis))
  return (
    <div class="pickers">
      <Choice
        label="A bar for each"
        value={choice.rows}
        options={axes.map((value) => ({ value, label: NOUNS[value] }))}
        onChange={(rows) =>
          session.state.patch({
            costRows: rows as CostAxis,
            // What was the rows' becomes the parts': none is both.
            costParts: rows === choice.parts ? choice.rows : choice.parts,
          })
        }
        test="cost-rows"
      />
      <Choice
        label="in parts by"
        value={choice.parts}
        options={axes.filter((axis) => axis !== choice.rows).map((value) => ({ value, label: NOUNS[value] }))}
        onChange={(parts) => session.state.patch({ costRows: choice.rows, costParts: parts as CostAxis })}
        test="cost-parts"
      />
      {job >= 0 && costs.jobs.length > 1 && (
        <Choice
          label="of"
          value={String(job)}
          options={costs.jobs.map((number, i) => ({ value: String(number), label: costs.names.job[i]! }))}
          onChange={(number) => session.state.patch({ focus: `job:${number}` })}
          test="cost-job"
        />
      )}
      <div class="segmented" role="group" aria-label="Length of bars">
        {(['time', 'share'] as const).map((scale) => (
          <button
            key={scale}
            aria-pressed={costScale === scale}
            onClick={() => session.state.patch({ costScale: scale })}
            data-test={`cost-${scale}`}
          >
            {scale}
          </button>
        ))}
      </div>
    </div>
  )
}

function Bars({ run, bars, label, share }: { run: Run; bars: CostBars; label: string; share: boolean }) {
  const session = useSession()
  const { ramp } = useStore(session.state)
  const looks = looksFor(useContext(ThemeContext), ramp, false)
  const frame = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const { width } = useSize(frame)
  const picture = useMemo(() => barsPicture(bars, width, share), [bars, width, share])
  useEffect(() => {
    if (!canvas.current || width === 0) return
    const context = prepareCanvas(canvas.current, picture)
    drawBars(context, { x: 0, y: 0 }, picture, partColors(bars.parts), looks)
  }, [picture, bars, looks, width])
  const wordsOf = (i: number) => {
    const tip = { ...barWords(bars, picture.marks[i]!), shares: [], note: '' }
    return { run, links: [], routers: [], groups: [], tip }
  }
  const hover = (event: PointerEvent): void => {
    const box = frame.current!.getBoundingClientRect()
    const i = barAt(picture, event.clientX - box.left, event.clientY - box.top)
    session.hover.set(i < 0 ? null : { ...wordsOf(i), x: event.clientX, y: event.clientY })
  }
  const steps = useSteps(
    () =>
      [...picture.marks.keys()].sort(
        (a, b) => picture.marks[b]!.seconds - picture.marks[a]!.seconds || a - b,
      ),
    (i) => {
      const box = frame.current!.getBoundingClientRect()
      const { x, y, width, height } = picture.marks[i]!
      return {
        hover: { ...wordsOf(i), x: box.left + x + width / 2, y: box.top + y + height / 2 },
        enter: () => undefined,
      }
    },
    [picture],
  )
  return (
    <div
      class="cost-bars"
      ref={frame}
      style={{ height: `${picture.height}px` }}
      onPointerMove={hover}
      onPointerLeave={() => session.hover.set(null)}
      tabIndex={0}
      role="application"
      aria-label={`${label}; the keys . and , go from part to part`}
      onKeyDown={steps}
      data-test="cost-bars"
    >
      <canvas ref={canvas} aria-hidden="true" />
    </div>
  )
}
