/** Two to four runs side by side on one scale, or the difference of two. */
import { useMemo } from 'preact/hooks'
import { count, quantity } from '../../base/format'
import { against, classChanges, jobChanges, tone } from '../../data/changes'
import type { DerivedRun } from '../../data/model'
import { NO_ENDS } from '../../data/range'
import { Answers } from './answer'
import { SettingButtons } from '../controls/choice'
import { FocusChip } from '../picture/facts'
import { choicesOf, COMPARED_MAX } from '../../data/state'
import type { Comparison } from '../session/comparison'
import { HotLinks } from '../tables/links'
import { SidePanel } from '../panels/panels'
import { PictureView } from '../picture/picture'
import type { Settings } from '../session/settings'
import type { ViewContent } from '../session/viewcontent'
import { useSession, useStore } from '../session/session'
import { numbers, Table } from '../tables/table'
import './compare.css'

export function CompareView({ compared }: ViewContent) {
  if (!compared)
    return (
      <div class="centre wide">
        <p class="loading">Loading the runs …</p>
      </div>
    )
  const { runs, change } = compared
  return (
    <>
      <div class="centre compare">
        <Pickers compared={compared} />
        <Answers runs={compared.pair.map((d) => d.run.whole ?? d.run)} />
        {change ? (
          <>
            <ClassBars runs={compared.pair} />
            <PairingNote compared={compared} />
            <PictureView derived={change.derived} change={change} />
            <HotLinks derived={change.derived} />
          </>
        ) : (
          <div class={`pictures n${runs.length}`}>
            {runs.map((derived, i) => (
              <PictureView
                key={compared.ids[i]}
                derived={derived}
                peers={runs}
                title={derived.run.label}
                compact
              />
            ))}
          </div>
        )}
        {!change && <Changes runs={runs} />}
      </div>
      {change ? <SidePanel derived={change.derived} /> : null}
    </>
  )
}

/** What changed, by class: a bar each; a click shows only this class. */
function ClassBars({ runs }: { runs: readonly DerivedRun[] }) {
  const session = useSession()
  const { classesOff } = useStore(session.state)
  const rows = useMemo(
    () => classChanges(runs).filter(({ name, statistic }) => statistic === 'mean' && name !== 'all'),
    runs.map((d) => d.stats),
  )
  const { unit, label } = runs[0]!.measure
  const changeOf = ({ values: [before, after] }: (typeof rows)[0]): number => (after ?? 0) - (before ?? 0)
  const most = Math.max(...rows.map((row) => Math.abs(changeOf(row))), Number.MIN_VALUE)
  const names = rows.map(({ name }) => name)
  return (
    <section class="class-bars" aria-label={`Change of ${label.toLowerCase()} by class`}>
      {rows.map((row) => {
        const { name, values } = row
        const change = changeOf(row)
        const alone = names.every((other) => (other === name) !== classesOff.includes(other))
        const width = (50 * Math.abs(change)) / most
        return (
          <button
            key={name}
            aria-pressed={alone}
            title={`Show only the ${name} links`}
            onClick={() =>
              session.state.patch({ classesOff: alone ? [] : names.filter((other) => other !== name) })
            }
            data-test={`class-change-${name}`}
          >
            <b>{name}</b>
            <span class="track">
              <i
                class={change < 0 ? 'less' : 'more'}
                style={{ width: `${width}%`, left: `${change < 0 ? 50 - width : 50}%` }}
              />
            </span>
            <span class="number">
              ⌀ {values[0] === null ? '–' : quantity(values[0]!, unit)} →{' '}
              {values[1] === null ? '–' : quantity(values[1]!, unit)} <em>{against(row, 1)}</em>
            </span>
          </button>
        )
      })}
    </section>
  )
}

function Pickers({ compared }: { compared: Comparison }) {
  const session = useSession()
  const state = useStore(session.state)
  const { runs } = session.index
  const set = (ids: number[]): void => session.state.patch({ compared: ids, ...NO_ENDS })
  // A traffic range makes no sense for differences.
  const how = (fields: Partial<Settings>): void =>
    session.state.patch({ ...fields, ...NO_ENDS, frozen: null })
  const { ids } = compared
  const free = runs.findIndex((_, id) => !ids.includes(id))
  return (
    <div class="pickers">
      {ids.map((id, i) => (
        <label key={i}>
          {i === 0 ? 'base' : 'compared with'}
          <select
            value={String(id)}
            onChange={(event) =>
              set(ids.map((old, j) => (j === i ? Number(event.currentTarget.value) : old)))
            }
          >
            {runs.map((info, r) => (
              <option key={r} value={String(r)} disabled={r !== id && ids.includes(r)}>
                {info.label}
              </option>
            ))}
          </select>
          {ids.length > 2 && (
            <button
              title="Remove this run"
              aria-label={`Remove ${runs[id]!.label}`}
              onClick={() => set(ids.filter((_, j) => j !== i))}
            >
              ×
            </button>
          )}
        </label>
      ))}
      {ids.length < COMPARED_MAX && free >= 0 && (
        <button
          onClick={() => session.state.patch({ compared: [...ids, free], difference: false, ...NO_ENDS })}
          title="Show the runs side by side with another one"
          data-test="compare-add"
        >
          + add run
        </button>
      )}
      <span class="spring" />
      <FocusChip />
      <div class="segmented" role="group" aria-label="Comparison">
        <button
          aria-pressed={!state.difference}
          onClick={() => how({ difference: false })}
          data-test="side-by-side"
        >
          side by side
        </button>
        {choicesOf('change').map((change) => (
          <button
            key={change}
            aria-pressed={state.difference && state.change === change}
            onClick={() => how({ difference: true, change })}
            data-test={change}
          >
            {change}
          </button>
        ))}
      </div>
    </div>
  )
}

/** What was paired, and the traffic of unpaired cables. */
function PairingNote({ compared }: { compared: Comparison }) {
  const session = useSession()
  const state = useStore(session.state)
  const { difference, derived, cableValues } = compared.change!
  const [base, other] = compared.ids.map((id) => session.index.runs[id]!.label)
  const { removed, added } = difference.cables
  const noun = state.pairing === 'bundle' ? 'bundles' : 'links'
  const mean = (from: number, to: number): string => {
    const total = cableValues.subarray(from, to).reduce((sum, v) => sum + v, 0)
    return quantity(total / (to - from), derived.sides[0]!.unit)
  }
  const notes = [
    removed > 0 ? `${count(removed)} only in ${base} (removed), mean ${mean(0, removed)}` : '',
    added > 0 ? `${count(added)} only in ${other} (added), mean ${mean(removed, removed + added)}` : '',
    difference.unplaced > 0
      ? `${count(difference.unplaced)} of ${other} are not shown: ${base} lacks their routers`
      : '',
  ].filter((note) => note !== '')
  return (
    <div class="facts">
      <p data-test="pairing">
        {other} {state.change === 'ratio' ? '/' : 'minus'} {base}: {count(derived.run.links.count)} {noun} in
        both
        {notes.length > 0 && `; ${notes.join('; ')}`}
        {compared.ids.length > 2 && '; a difference uses only the first two runs'}
      </p>
      <SettingButtons
        setting="pairing"
        label="Pairing"
        words={{ cable: 'per cable', bundle: 'per bundle' }}
        titles={{
          cable: 'Compare single cables',
          bundle: 'Compare the total of all cables between two routers',
        }}
        also={{ ...NO_ENDS, frozen: null }}
      />
    </div>
  )
}

function Changes({ runs }: { runs: readonly DerivedRun[] }) {
  const rows = useMemo(
    () => [...classChanges(runs), ...jobChanges(runs)],
    [runs.map((d) => d.stats).flat().length, ...runs.map((d) => d.stats)],
  )
  const { unit, label } = runs[0]!.measure
  return (
    <section class="card changes" aria-label="Changes">
      <div class="table-frame" tabIndex={0} role="region" aria-label="Changes by class and job">
        <Table heads={[`${label} per link`, '', ...numbers(...runs.map((d) => d.run.label))]}>
          {rows.map((row) => (
            <tr key={`${row.name} ${row.statistic}`}>
              <td>
                {row.statistic === 'mean' && (
                  <>
                    {row.color && <i class="swatch" style={{ background: row.color }} />}
                    {row.name}
                  </>
                )}
              </td>
              <td>{row.statistic}</td>
              {row.values.map((value, i) => (
                <td class="number" key={i} data-test={`change-${row.name}-${row.statistic}-${i}`}>
                  {value === null ? '–' : quantity(value, unit)}
                  {i > 0 && value !== null && <em class={tone(row, i)}>{against(row, i)}</em>}
                </td>
              ))}
            </tr>
          ))}
        </Table>
      </div>
    </section>
  )
}
