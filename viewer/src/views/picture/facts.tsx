/** The machine, the run and the focus in one line, with warnings. */
import type { ComponentChildren } from 'preact'
import { count, counted } from '../../base/format'
import { hasCosts } from '../../data/costs'
import { focusText, resolveFocus } from '../../data/focus'
import { hasTraffic } from '../../data/source'
import type { Run } from '../../data/run'
import type { Summary } from '../../data/source'
import { useSession, useSettings } from '../session/session'
import './facts.css'

/** The current focus, with a button to clear it. */
export function FocusChip({ run }: { run?: Run }) {
  const session = useSession()
  const { focus } = useSettings()
  if (focus === '') return null
  const known = run === undefined || resolveFocus(run, focus) !== null
  return (
    <button
      class={known ? 'focus' : 'focus unknown'}
      onClick={() => session.state.patch({ focus: '' })}
      title="Clear the focus (Esc)"
      data-test="focus"
    >
      {focusText(focus)}
      {known ? '' : ' (not in this run)'} ×
    </button>
  )
}

/** Only iterative engines report iterations. */
const after = (iterations: number | undefined): string =>
  iterations === undefined ? '' : ` after ${count(iterations)} iterations`

/** Explains an empty picture and links to another view. */
function NoTraffic({ run }: { run: Run }) {
  const session = useSession()
  if (hasTraffic(run.info)) return null
  const { engine } = run.summary
  return (
    <p class="note" data-test="no-traffic">
      {engine === 'model' || engine === 'loggops'
        ? `The ${engine} engine computes times, not link traffic.`
        : 'No link of this run has traffic.'}{' '}
      Dots are the routers of the jobs.{' '}
      <button onClick={() => session.state.patch({ view: hasCosts(run.info) ? 'costs' : 'jobs' })}>
        {hasCosts(run.info) ? 'Show costs' : 'Show jobs'}
      </button>
    </p>
  )
}

interface FactsLineProps {
  readonly summary: Summary
  readonly links: number
  readonly children?: ComponentChildren
}

/** Machine and run in one line. */
export function FactsLine({
  summary: { machine, convergence, engine, routing },
  links,
  children,
}: FactsLineProps) {
  const parts = [
    machine.name,
    machine.groups > 1 ? `${count(machine.groups)} groups` : '',
    counted(machine.routers, 'router'),
    counted(machine.nodes, 'node'),
    counted(links, 'link'),
    `${engine}, ${routing}`,
    convergence?.converged ? `converged${after(convergence.iterations)}` : '',
  ].filter((part) => part !== '')
  return (
    <div class="facts">
      <span>{parts.join(' · ')}</span>
      {children}
    </div>
  )
}

export function Facts({ run }: { run: Run }) {
  const { summary } = run
  const { convergence } = summary
  const alarms = [
    summary.complete ? '' : `this run is not complete${summary.ending ? `: ${summary.ending}` : ''}`,
    // Only iterative engines report convergence.
    convergence?.converged === false ? `not converged${after(convergence.iterations)}` : '',
    ...run.mistakes,
    ...summary.warnings,
  ].filter((text) => text !== '')
  return (
    <>
      <FactsLine summary={summary} links={run.links.count}>
        <FocusChip run={run} />
      </FactsLine>
      <NoTraffic run={run} />
      {alarms.length === 1 && (
        <p class="alarm" data-test="alarm">
          {alarms[0]}
        </p>
      )}
      {alarms.length > 1 && (
        <details class="alarm" data-test="alarm">
          <summary>
            {count(alarms.length)} warnings: {alarms[0]} …
          </summary>
          <ul>
            {alarms.map((alarm) => (
              <li key={alarm}>{alarm}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
