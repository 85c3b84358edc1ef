/** A sweep as a map of settings, interaction lines, or thumbnails. */
import { useMemo } from 'preact/hooks'
import { count } from '../../base/format'
import { textAt, type Block } from '../../data/block'
import {
  classFigure,
  fitsWords,
  figureOptions,
  partnerOf,
  partsOf,
  pivotOf,
  seedKeys,
  settingKeys,
  defaultFigure,
  defaultKeys,
  type FigureOption,
  type Pivot,
} from '../../data/pivot'
import type { ColorRules } from '../../data/noise'
import { choicesOf, type ViewState } from '../../data/state'
import { Choice, NestedKeys, SettingButtons, SettingChoice } from '../controls/choice'
import { Interactions } from './interactions'
import { PivotTable } from '../tables/pivot'
import { useSession, useStore, type Session } from '../session/session'
import { RankingView } from './ranking'
import { Thumbnails } from './thumbnails'
import './sweep.css'

export interface SweepTable {
  /** Outermost first. */
  readonly rowKeys: readonly string[]
  readonly columnKeys: readonly string[]
  readonly figure: FigureOption
  readonly pivot: Pivot
  /** Whether the figure is still loading. */
  readonly isLoading: boolean
}

/** The table for the current settings. */
export function sweepTable(session: Session, state: ViewState): SweepTable | null {
  const { index } = session
  const options = figureOptions(index)
  const figure =
    options.find(({ id }) => id === (state.sweepFigure || defaultFigure(options, index.runs))) ?? options[0]
  if (!figure) return null
  const usual = defaultKeys(index)
  const chosen = (keys: readonly string[], otherwise: readonly string[]): readonly string[] =>
    (keys.length === 0 ? otherwise : keys).filter((key, i, all) => key !== '-' && all.indexOf(key) === i)
  const rowKeys = chosen(state.sweepRows, usual.rows)
  const columnKeys = chosen(state.sweepColumns, usual.columns).filter((key) => !rowKeys.includes(key))
  const values = figuresOf(session, figure.id)
  const known = index.runs.map((run, id) => (fitsWords(run, state.sweepFilter) ? (values?.[id] ?? NaN) : NaN))
  return {
    rowKeys,
    columnKeys,
    figure,
    pivot: pivotOf(index.runs, known, rowKeys, columnKeys, state.sweepOrder),
    isLoading: values === undefined,
  }
}

/** By run, NaN if it is not complete, or has no such class, job or column; undefined while loading. */
function figuresOf(session: Session, id: string): number[] | undefined {
  const { runs } = session.index
  const [of, column, name] = partsOf(id)
  const blocks = of === 'class' ? new Map<number, Block>() : session.blocksOfAll('jobs', ['name', column])
  if (blocks === undefined) return undefined
  return runs.map((info, run) => {
    if (!info.summary.complete || info.added) return NaN
    if (of === 'class') return classFigure(info, id)
    const block = typeof blocks === 'string' ? undefined : blocks.get(run)
    return block ? valueOfJob(block, column, name) : NaN
  })
}

function valueOfJob(block: Block, column: string, name: string): number {
  for (let row = 0; row < block.rows; row++) {
    if (textAt(block, 'name', row) === name) return block.numbers.get(column)?.[row] ?? NaN
  }
  return NaN
}

export function SweepView() {
  const session = useSession()
  const { sweepShow } = useStore(session.state)
  const { ranking } = session.index
  const show = sweepShow === 'ranking' && !ranking ? 'map' : sweepShow
  return (
    <>
      <SettingButtons
        setting="sweepShow"
        label="Sweep display"
        words={{ ranking: 'Ranking', map: 'Map', lines: 'Lines', runs: 'Runs' }}
        offered={ranking ? choicesOf('sweepShow') : choicesOf('sweepShow').slice(1)}
        chosen={show}
        test="sweep"
        tabs
      />
      {show === 'ranking' ? <RankingView ranking={ranking!} /> : show === 'runs' ? <Thumbnails /> : <Table />}
    </>
  )
}

function Table() {
  const session = useSession()
  const state = useStore(session.state)
  const table = sweepTable(session, state)
  if (!table) return <p class="hint centred">These runs have no figures to compare.</p>
  const { pivot, figure, rowKeys, columnKeys, isLoading } = table
  return (
    <>
      <SweepPickers table={table} />
      {isLoading && <p class="loading">Loading {count(session.index.runs.length)} runs …</p>}
      {pivot.rows.length === 0 && !isLoading && (
        <p class="hint centred">
          {state.sweepFilter === ''
            ? `No run has the figure “${figure.label}”.`
            : `No run has “${state.sweepFilter}” in its settings.`}
        </p>
      )}
      {pivot.rows.length > 0 &&
        (state.sweepShow === 'lines' ? <Interactions table={table} /> : <PivotMap table={table} />)}
      <p class="reading" data-test="sweep-reading">
        {figure.label} by {[...rowKeys, ...columnKeys].join(', ') || 'all runs'}. Cell: mean over its runs,
        with min and max; {count(session.index.runs.length)} runs.
      </p>
    </>
  )
}

function SweepPickers({ table: { rowKeys, columnKeys, figure } }: { table: SweepTable }) {
  const session = useSession()
  const state = useStore(session.state)
  const keys = settingKeys(session.index).map((name) => ({ value: name, label: name }))
  const options = useMemo(() => figureOptions(session.index), [session.index])
  const lines = state.sweepShow === 'lines'
  return (
    <div class="pickers">
      <NestedKeys
        setting="sweepRows"
        label={lines ? 'Horizontal axis' : 'Rows'}
        values={rowKeys}
        keys={keys}
        none="all runs"
        test="sweep-rows"
      />
      <NestedKeys
        setting="sweepColumns"
        label={lines ? 'One line per' : 'Columns'}
        values={columnKeys}
        keys={keys}
        none="none"
        test="sweep-columns"
      />
      <Choice
        label="Figure"
        value={figure.id}
        options={options.map(({ id, label }) => ({ value: id, label }))}
        onChange={(sweepFigure) => session.state.patch({ sweepFigure })}
        test="sweep-figure"
      />
      <SettingChoice
        setting="sweepOrder"
        label="Order by"
        words={{ key: 'setting', value: 'value' }}
        test="sweep-order"
      />
      <input
        type="search"
        aria-label="Filter by settings"
        placeholder="Filter, such as par 32"
        value={state.sweepFilter}
        onInput={(event) => session.state.patch({ sweepFilter: event.currentTarget.value })}
        onKeyDown={(event) => event.stopPropagation()}
        data-test="sweep-filter"
      />
      {!lines && (
        <SettingChoice
          setting="sweepBase"
          label="Compare a cell with"
          words={{ row: 'the first of its row', column: 'the first of its column' }}
          test="sweep-base"
        />
      )}
    </div>
  )
}

/** Whether rows and columns are seeds. */
export function seedsOf({ index }: Session, { rowKeys, columnKeys }: SweepTable): ColorRules {
  const seeds = seedKeys(index)
  const areSeeds = (keys: readonly string[]): boolean[] => keys.map((key) => seeds.includes(key))
  return { rows: areSeeds(rowKeys), columns: areSeeds(columnKeys) }
}

function PivotMap({ table }: { table: SweepTable }) {
  const session = useSession()
  const { sweepBase } = useStore(session.state)
  const { pivot, rowKeys, columnKeys, figure } = table
  const open = (row: number, column: number): void => {
    const cell = pivot.cells[row]![column]!
    const base = sweepBase === 'row' ? pivot.cells[row]![0] : pivot.cells[0]![column]
    const run = cell.runs[0]!
    if (!base || base === cell) return session.state.patch({ view: 'overview', run })
    session.state.patch({
      view: 'compare',
      compared: [partnerOf(session.index, run, base.runs), run],
      difference: true,
    })
  }
  return (
    <PivotTable
      pivot={pivot}
      rowKeys={rowKeys}
      columnKeys={columnKeys}
      unit={figure.unit}
      rules={seedsOf(session, table)}
      onOpen={open}
    />
  )
}
