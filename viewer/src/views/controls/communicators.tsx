/** Choose a communicator and mark its ranks in all machine pictures. */
import { useMemo, useState } from 'preact/hooks'
import { count, quantity } from '../../base/format'
import {
  communicatorsOf,
  MESSAGE_COLUMNS,
  markRouters,
  MESSAGES,
  ranksOf,
  readChoice,
  routersWith,
  writeChoice,
  type Communicator,
} from '../../data/communicators'
import type { DerivedRun } from '../../data/model'
import { PLACEMENT } from '../../data/placement'
import { hasRanks } from '../../data/ranks'
import type { Run } from '../../data/run'
import { Choice, JobChoice } from './choice'
import { useSession, useSettings, useStore } from '../session/session'

/** Maximum number of groups in the menu; a communicator may have as many groups as ranks. */
const GROUPS_MAX = 2000

const hasCommunicators = (run: Run): boolean =>
  (run.info.tables[MESSAGES]?.rows ?? 0) > 0 && hasRanks(run.info)

export function Communicators({ derived: { run } }: { derived: DerivedRun }) {
  const session = useSession()
  const { communicator } = useSettings()
  useStore(session.loaded)
  const [wanted, want] = useState(false)
  if (!hasCommunicators(run)) return null
  if (!wanted && communicator === '')
    return (
      <button onClick={() => want(true)} data-test="communicators">
        Mark the ranks of a communicator
      </button>
    )
  return <Picker run={run} />
}

function Picker({ run }: { run: Run }) {
  const session = useSession()
  const { communicator } = useSettings()
  const chosen = readChoice(communicator)
  const first = run.jobs[0]!.job
  const [ofJob, setJob] = useState(chosen?.job ?? first)
  const job = chosen?.job ?? ofJob
  const messages = session.block(run.id, MESSAGES, MESSAGE_COLUMNS)
  const found = typeof messages === 'object' ? communicatorsOf(messages, job) : []
  if (messages === undefined) return <p class="hint">Loading …</p>
  if (typeof messages === 'string') return <p class="note">{messages}</p>
  const mark = (text: string): void => session.state.patch({ communicator: text })
  const one = found.find(({ number }) => number === chosen?.communicator)
  return (
    <div class="communicators" data-test="communicators">
      <JobChoice
        run={run}
        job={job}
        label="Ranks of job"
        test="communicator-job"
        onChange={(chosen) => {
          setJob(chosen)
          mark('')
        }}
      />
      <Choice
        label="Communicator"
        test="communicator"
        value={chosen ? String(chosen.communicator) : ''}
        options={[{ value: '', label: 'none' }, ...found.map(communicatorOption)]}
        onChange={(value) =>
          mark(value === '' ? '' : writeChoice({ job, communicator: Number(value), group: -1 }))
        }
      />
      {one && one.groups.length > 1 && (
        <Choice
          label="Group"
          test="communicator-group"
          value={String(chosen!.group)}
          options={[
            { value: '-1', label: `all ${count(one.groups.length)}` },
            ...one.groups.slice(0, GROUPS_MAX).map((ranks, group) => ({
              value: String(group),
              label: groupLabel(group, ranks),
            })),
          ]}
          onChange={(value) => mark(writeChoice({ ...chosen!, group: Number(value) }))}
        />
      )}
      {one && (
        <p class="hint" data-test="communicator-facts">
          {count(ranksOf(found, chosen!).size)} ranks marked. {count(one.messages)} messages,{' '}
          {quantity(one.bytes, 'bytes')} in total. A group is a set of ranks that exchanged messages.
        </p>
      )}
      {found.length === 0 && <p class="hint">This job received no messages.</p>}
    </div>
  )
}

const communicatorOption = ({ number, groups }: Communicator): { value: string; label: string } => {
  const ranks = groups.reduce((sum, group) => sum + group.length, 0)
  const many = groups.length > 1 ? `, ${count(groups.length)} groups` : ''
  return { value: String(number), label: `${number}: ${count(ranks)} ranks${many}` }
}

function groupLabel(group: number, ranks: readonly number[]): string {
  const steps = ranks.slice(1).map((rank, i) => rank - ranks[i]!)
  const [step] = steps
  const even = step !== undefined && step > 1 && steps.every((other) => other === step)
  return `${group}: ${count(ranks.length)} ranks, ${ranks[0]} to ${ranks.at(-1)}${even ? ` step ${step}` : ''}`
}

/** Loads and marks the routers with the chosen ranks; null if nothing is marked. */
export function useMarkedRouters(run: Run): Uint8Array | null {
  const session = useSession()
  const { communicator } = useSettings()
  useStore(session.loaded)
  const choice = readChoice(communicator)
  const wanted = choice !== null && hasCommunicators(run)
  const messages = wanted ? session.block(run.id, MESSAGES, MESSAGE_COLUMNS) : undefined
  const placement = wanted ? session.block(run.id, 'placement', PLACEMENT) : undefined
  return useMemo(() => {
    if (choice === null || typeof messages !== 'object' || typeof placement !== 'object') return null
    const ranks = ranksOf(communicatorsOf(messages, choice.job), choice)
    return markRouters(run, communicator, routersWith(run, placement, choice.job, ranks))
  }, [messages, placement, communicator, run])
}
