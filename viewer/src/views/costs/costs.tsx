/** Times of a model run: bars by job, level, phase or term, split by another axis; one panel per scenario. */
import { useMemo } from 'preact/hooks'
import { categoryColors } from '../../base/palette'
import {
  costHeadline,
  COST_AXES,
  costBars,
  costChoice,
  CYCLE,
  CYCLE_COLUMNS,
  cycleCosts,
  hasCosts,
  hasCycle,
  rankCosts,
  slowestJob,
  type CostAxis,
  type CostBars,
  type CostChoice,
  type Costs,
} from '../../data/costs'
import { costRows } from '../../data/rows'
import type { Run } from '../../data/run'
import type { ViewState } from '../../data/state'
import { drawBars } from '../../draw/bars'
import { barAt, barsPicture, barTip } from '../../layout/bars'
import { Choice, SettingButtons } from '../controls/choice'
import { Legend } from '../canvas/legend'
import { Marks } from '../canvas/marks'
import { HeadlineText, useHeadline } from '../picture/headline'
import type { ViewContent } from '../session/viewcontent'
import { useSession, useStore, type Session } from '../session/session'
import { TableButton } from '../tables/tables'
import './costs.css'

const NOUNS: Readonly<Record<CostAxis, string>> = {
  job: 'job',
  level: 'level',
  phase: 'phase',
  term: 'term',
}

/** The costs, a message if unavailable, or null if the run has none. */
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

interface ShownCosts {
  readonly choice: CostChoice
  readonly bars: CostBars
  /** The job shown, -1 if an axis separates jobs. */
  readonly job: number
}

export function shownCosts(costs: Costs, state: ViewState): ShownCosts {
  const choice = costChoice(costs, state.costRows, state.costParts)
  const apart = choice.rows === 'job' || choice.parts === 'job'
  const asked = /^job:(\d+)$/.exec(state.focus)?.[1]
  const job = apart ? -1 : (costs.jobs.find((number) => String(number) === asked) ?? slowestJob(costs))
  return { choice, job, bars: costBars(costs, choice, job, (number) => state.jobs[number] === undefined) }
}

export function CostsView({ derived: { run } }: ViewContent) {
  const session = useSession()
  const state = useStore(session.state)
  const headline = useHeadline(run.id)
  const costs = costsIn(session, run)
  const shown = useMemo(
    () => (costs === null || typeof costs === 'string' ? null : shownCosts(costs, state)),
    [costs, state.costRows, state.costParts, state.focus, state.jobs],
  )
  if (costs === null || typeof costs === 'string' || !shown)
    return (
      <div class="centre wide">
        <p class="hint centred">
          {typeof costs === 'string' ? costs : 'This run has no costs; only the model engine computes them.'}
        </p>
      </div>
    )
  const { choice, bars } = shown
  const of = shown.job < 0 ? 'all jobs' : costs.names.job[costs.jobs.indexOf(shown.job)]!
  const label = `Time of ${of} by ${NOUNS[choice.rows]} and ${NOUNS[choice.parts]}`
  const colors = categoryColors(bars.parts)
  return (
    <div class="centre wide">
      <HeadlineText headline={headline} />
      <Pickers costs={costs} shown={shown} />
      {shown.job >= 0 && (
        <p class="reading job-sentence" role="status" data-test="costs-headline">
          {costHeadline(bars, of)}
        </p>
      )}
      <section class="costs" aria-label={label}>
        <header>
          <h2>{label}</h2>
          <Legend entries={bars.parts.map((name, i) => ({ name, color: colors[i]! }))} />
          <span class="spring" />
          <TableButton
            of={label}
            rows={() => costRows(bars, label, NOUNS[choice.rows], NOUNS[choice.parts])}
          />
        </header>
        <Bars run={run} bars={bars} colors={colors} label={label} share={state.costScale === 'share'} />
        <p class="reading" data-test="costs-reading">
          {hasCycle(run.info)
            ? 'The bars of a scenario sum to the time of one cycle.'
            : 'Terms of the slowest rank of each job; they sum to the time of the job.'}{' '}
          {state.costScale === 'share'
            ? 'All bars have full length; the number is the time.'
            : 'All panels share one scale.'}
        </p>
      </section>
    </div>
  )
}

function Pickers({ costs, shown: { choice, job } }: { costs: Costs; shown: ShownCosts }) {
  const session = useSession()
  const axes = COST_AXES.filter((axis) => costs.axes.includes(axis))
  return (
    <div class="pickers">
      <Choice
        label="Bars by"
        value={choice.rows}
        options={axes.map((value) => ({ value, label: NOUNS[value] }))}
        onChange={(rows) =>
          session.state.patch({
            costRows: rows as CostAxis,
            // Swaps both axes: rows and parts must differ.
            costParts: rows === choice.parts ? choice.rows : choice.parts,
          })
        }
        test="cost-rows"
      />
      <Choice
        label="split by"
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
      <SettingButtons setting="costScale" label="Length of bars" test="cost" />
    </div>
  )
}

interface BarsProps {
  readonly run: Run
  readonly bars: CostBars
  readonly colors: readonly string[]
  readonly label: string
  readonly share: boolean
}

function Bars({ run, bars, colors, label, share }: BarsProps) {
  return (
    <Marks
      label={`${label}; the keys . and , select the next and previous part`}
      test="cost-bars"
      run={run}
      of={[bars, share]}
      picture={({ width }) => barsPicture(bars, width, share)}
      draw={(pen, picture, looks) => drawBars(pen, picture, colors, looks)}
      markAt={barAt}
      text={({ marks }, i) => barTip(bars, marks[i]!)}
      order={({ marks }) => [...marks.keys()].sort((a, b) => marks[b]!.seconds - marks[a]!.seconds || a - b)}
      place={({ marks }, i) => ({
        x: marks[i]!.x + marks[i]!.width / 2,
        y: marks[i]!.y + marks[i]!.height / 2,
      })}
    />
  )
}
