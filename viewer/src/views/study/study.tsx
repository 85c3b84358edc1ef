/** Results of a study: trials with their Pareto front, or slowdowns between jobs; a click opens the runs. */
import { useMemo } from 'preact/hooks'
import { count, quantity } from '../../base/format'
import {
  fieldOf,
  findingsPanels,
  frontOf,
  frontSentences,
  slowdownSentence,
  runsToOpen,
  offeredFigures,
  type FieldInfo,
  type Finding,
  type FindingsChoice,
  type Findings,
  type FindingsPanels,
} from '../../data/findings'
import { pivotColors, type ColorRules } from '../../data/noise'
import type { ViewState } from '../../data/state'
import { drawFront } from '../../draw/front'
import { frontPicture } from '../../layout/front'
import { nearestMark } from '../../layout/pick'
import { Choice, KeyChoice } from '../controls/choice'
import { Marks, type MarkText } from '../canvas/marks'
import { PivotTable } from '../tables/pivot'
import { useSession, useStore, type Session } from '../session/session'
import { Table } from '../tables/table'
import './study.css'

export function StudyView() {
  const { findings } = useSession().index
  if (!findings) return <p class="hint centred">No study is open.</p>
  return findings.kind === 'front' ? <Front of={findings} /> : <Costs of={findings} />
}

/** Opens the runs of an entry. */
function openFinding(session: Session, finding: Finding): void {
  const found = runsToOpen(finding, session.index)
  if (!found) return
  if ('run' in found) session.state.patch({ view: 'overview', run: found.run })
  else session.state.patch({ view: 'compare', compared: found.compared, difference: true })
}

export const chosenOf = ({
  studyPanels,
  studyRows,
  studyColumns,
  studyFigure,
}: ViewState): FindingsChoice => ({
  panels: studyPanels,
  rows: studyRows,
  columns: studyColumns,
  figure: studyFigure,
})

function Costs({ of }: { of: Findings }) {
  const session = useSession()
  const state = useStore(session.state)
  const panels = useMemo(() => findingsPanels(of, chosenOf(state)), [of, state])
  const said = useMemo(() => slowdownSentence(of), [of])
  if (!panels || panels.tables.length === 0)
    return (
      <p class="hint centred">
        Nothing to compare: no job of this study finished both alone and with competing jobs.
      </p>
    )
  const { figure, rowKey, columnKey } = panels
  const rules = rulesOf(of, panels)
  const labelOf = (key: string): string => fieldOf(of.keys, key)?.label ?? ''
  return (
    <>
      {said !== '' && (
        <p class="headline" role="status" data-test="study-headline">
          {said}
        </p>
      )}
      <StudyPickers of={of} panels={panels} />
      <div class="panels">
        {panels.tables.map(({ panel, pivot, entries }) => (
          <section key={panel} aria-label={panel || 'all'}>
            {panel !== '' && (
              <h2>
                {labelOf(panels.panelKey)} {panel}
              </h2>
            )}
            <PivotTable
              pivot={pivot}
              rowKeys={[rowKey].filter(Boolean).map(labelOf)}
              columnKeys={[columnKey].filter(Boolean).map(labelOf)}
              unit={figure.unit}
              rules={rules}
              onOpen={(row, column) =>
                openFinding(session, of.entries[entries[pivot.cells[row]![column]!.runs[0]!]!]!)
              }
            />
          </section>
        ))}
      </div>
      <p class="reading" data-test="study-reading">
        {figure.meaning} Cell: mean over all other settings, with the range below. Click to compare the job
        alone with the job among competing jobs.
      </p>
    </>
  )
}

/** All tables of the page have one range of colours. */
export function rulesOf(of: Findings, { rowKey, columnKey, tables, figure }: FindingsPanels): ColorRules {
  const isSeed = (key: string): boolean => fieldOf(of.keys, key)?.seed === true
  const seeds = { rows: [isSeed(rowKey)], columns: [isSeed(columnKey)] }
  const ranges = tables.map(({ pivot }) => pivotColors(pivot, figure.unit, seeds).of.scale.high)
  return { ...seeds, least: Math.max(...ranges) }
}

function StudyPickers({ of, panels }: { of: Findings; panels: FindingsPanels }) {
  const { state } = useSession()
  const keys = of.keys.map(({ name, label }) => ({ value: name, label }))
  return (
    <div class="pickers">
      <KeyChoice
        setting="studyPanels"
        label="One table per"
        value={panels.panelKey}
        keys={keys}
        test="study-panels"
      />
      <KeyChoice setting="studyRows" label="Rows" value={panels.rowKey} keys={keys} test="study-rows" />
      <KeyChoice
        setting="studyColumns"
        label="Columns"
        value={panels.columnKey}
        keys={keys}
        test="study-columns"
      />
      <Choice
        label="Figure"
        value={panels.figure.name}
        options={offeredFigures(of).map(({ name, label }) => ({ value: name, label }))}
        onChange={(studyFigure) => state.patch({ studyFigure })}
        test="study-figure"
      />
    </div>
  )
}

/** Axes of the front: first objective vertical, second horizontal. */
export function axesOf(findings: Findings): { across: FieldInfo | null; up: FieldInfo } | null {
  const [up, across = null] = offeredFigures(findings).filter(({ name }) =>
    findings.objectives.includes(name),
  )
  return up ? { across, up } : null
}

function Front({ of }: { of: Findings }) {
  const session = useSession()
  const { points, front } = useMemo(() => frontOf(of), [of])
  const axes = axesOf(of)
  if (!axes || points.length === 0) return <p class="hint centred">No trial of this search could run.</p>
  const failed = of.entries.length - points.length
  return (
    <>
      <p class="headline" role="status" data-test="front-headline">
        {frontSentences(of).join(' ')}
      </p>
      <FrontChart of={of} {...axes} />
      <p class="reading" data-test="study-reading">
        {count(of.entries.length)} combinations, {count(front.length)} on the Pareto front (squares): no other
        trial is better in one objective without being worse in another. Dots: dominated. Crosses: violate a
        constraint. Ring: the file’s own values.{failed > 0 && ` ${count(failed)} could not run.`} Click to
        compare with the file’s own values.
      </p>
      <Trials of={of} front={front} onOpen={(entry) => openFinding(session, of.entries[entry]!)} />
    </>
  )
}

const HEIGHT = 420

function FrontChart({ of, across, up }: { of: Findings; across: FieldInfo | null; up: FieldInfo }) {
  const session = useSession()
  const { run } = useStore(session.state)
  return (
    <Marks
      label={`${up.label}${across ? ` against ${across.label}` : ''} of all trials; the keys . and , select the next and previous trial`}
      test="front"
      run={session.model(run)?.run}
      of={[of, across, up]}
      picture={({ width }) => frontPicture(of, across, up, width, HEIGHT)}
      draw={drawFront}
      markAt={({ marks }, x, y) => nearestMark(marks, x, y)}
      text={({ marks }, i) => trialTip(of, marks[i]!.entry)}
      order={({ marks }) => [...marks.keys()].sort((a, b) => marks[b]!.y - marks[a]!.y || a - b)}
      place={({ marks }, i) => marks[i]!}
      open={({ marks }, i) => openFinding(session, of.entries[marks[i]!.entry]!)}
    />
  )
}

/** Settings and results of a trial. */
function trialTip(of: Findings, trial: number): MarkText {
  const entry = of.entries[trial]!
  const rows = [
    ...of.keys.map(({ name, label }): [string, string] => [label, String(entry.keys[name])]),
    ...of.figures.flatMap(({ name, label, unit }): [string, string][] =>
      entry.values[name] === undefined ? [] : [[label, quantity(entry.values[name], unit)]],
    ),
  ]
  return { title: `Trial ${trial}`, rows, note: entry.front ? 'on the front' : '' }
}

interface TrialsProps {
  readonly of: Findings
  readonly front: readonly number[]
  onOpen(entry: number): void
}

function Trials({ of, front, onOpen }: TrialsProps) {
  const rest = [...of.entries.keys()].filter((i) => !front.includes(i))
  return (
    <div class="table-frame">
      <Table
        test="trials"
        heads={[
          'Trial',
          ...of.keys.map(({ label }) => label),
          ...of.figures.map(({ label, meaning }) => ({ text: label, number: true, title: meaning })),
          'Result',
        ]}
      >
        {[...front, ...rest].map((i) => {
          const entry = of.entries[i]!
          return (
            <tr key={i}>
              <td>
                <button onClick={() => onOpen(i)} disabled={entry.runs.length === 0} data-test={`trial-${i}`}>
                  {count(i)}
                </button>
              </td>
              {of.keys.map(({ name }) => (
                <td key={name}>{entry.keys[name]}</td>
              ))}
              {of.figures.map(({ name, unit }) => (
                <td key={name} class="number">
                  {entry.values[name] === undefined ? '–' : quantity(entry.values[name], unit)}
                </td>
              ))}
              <td>{outcome(entry)}</td>
            </tr>
          )
        })}
      </Table>
    </div>
  )
}

export function outcome({ front, allowed, reason }: Finding): string {
  if (reason) return reason
  return front ? 'on the front' : allowed === false ? 'violates a constraint' : 'dominated'
}
