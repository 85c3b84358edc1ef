/** Changes of the machine in the picture, and their run on the server. */
import { useState } from 'preact/hooks'
import { count } from '../../base/format'
import { classEdits, editedClass, EDITS_MAX, removals, type EditOffer } from '../../data/edits'
import { resolveFocus } from '../../data/focus'
import type { Run } from '../../data/run'
import { useSession, useSettings, useStore } from '../session/session'
import './edits.css'

/** The engine that the server runs for a page. */
const ENGINE = 'flow'
/** Edits with a button of their own. */
const NAMED_MAX = 4

export function MachineEdits({ run }: { run: Run }) {
  const session = useSession()
  const { edits, focus: chosenFocus } = useSettings()
  const rerun = useStore(session.rerun)
  const [chosen, setChosen] = useState('')
  if (!session.index.allows_runs || run.summary.engine !== ENGINE) return null
  const focus = resolveFocus(run, chosenFocus)
  const name = editedClass(run, focus, chosen)
  const isRunning = rerun instanceof AbortController
  const set = (to: readonly string[]): void => {
    if (!isRunning) session.rerun.set(null)
    session.state.patch({ edits: to })
  }
  const Offer = ({ label, edits: offered }: EditOffer) => {
    const added = [...edits, ...offered.filter((edit) => !edits.includes(edit) || !edit.startsWith('fail'))]
    return (
      <button
        disabled={isRunning || added.length === edits.length || added.length > EDITS_MAX}
        title={offered.slice(0, 3).join(', ') + (offered.length > 3 ? ' …' : '')}
        onClick={() => set(added)}
      >
        {label}
      </button>
    )
  }
  const offers = removals(run, focus)
  return (
    <section class="edits" aria-label="Change the machine" data-test="edits">
      <b>What if</b>
      {offers.map((offer) => (
        <Offer key={offer.label} {...offer} />
      ))}
      {offers.length === 0 && <span class="hint">Click a link or router to remove it, or change</span>}
      <span class="class-edits" role="group" aria-label="All links of a class">
        <select aria-label="Class" value={name} onChange={(event) => setChosen(event.currentTarget.value)}>
          {run.links.classes.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        {classEdits(name).map((offer) => (
          <Offer key={offer.label} {...offer} />
        ))}
      </span>
      {edits.length > 0 && <Pending run={run} edits={edits} onChange={set} />}
      {typeof rerun === 'string' && (
        <p class="alarm" role="alert">
          {rerun}
        </p>
      )}
    </section>
  )
}

interface PendingProps {
  readonly run: Run
  readonly edits: readonly string[]
  onChange(edits: readonly string[]): void
}

/** The edits that are not run yet, and their run. */
function Pending({ run, edits, onChange }: PendingProps) {
  const session = useSession()
  const rerun = useStore(session.rerun)
  const isRunning = rerun instanceof AbortController
  return (
    <span class="pending">
      {edits.slice(0, NAMED_MAX).map((edit, i) => (
        <button
          key={`${edit} ${i}`}
          class="chip"
          disabled={isRunning}
          aria-label={`Take back ${edit}`}
          title="Take back"
          onClick={() => onChange(edits.filter((_, other) => other !== i))}
        >
          {edit} ×
        </button>
      ))}
      {edits.length > NAMED_MAX && (
        <button
          class="chip"
          disabled={isRunning}
          title={edits.slice(NAMED_MAX).join(', ')}
          onClick={() => onChange(edits.slice(0, NAMED_MAX))}
        >
          {count(edits.length - NAMED_MAX)} more ×
        </button>
      )}
      {isRunning ? (
        <>
          <span role="status">Running …</span>
          <button onClick={() => rerun.abort()}>Cancel</button>
        </>
      ) : (
        <button class="run" onClick={() => void session.runEdited(run.id)} data-test="edits-run">
          Run
        </button>
      )}
    </span>
  )
}
