/** The top bar: run, views, search, theme, export, help. */
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { count, counted } from '../../base/format'
import { hasCosts } from '../../data/costs'
import { resolveFocus, search, type SearchResult } from '../../data/focus'
import type { Run } from '../../data/run'
import type { Summary } from '../../data/source'
import type { View } from '../../data/state'
import { useSession, useSettings, useStore } from '../session/session'

export interface HeaderProps {
  readonly run: Run | undefined
  readonly views: readonly View[]
  onExport(kind: 'svg' | 'png' | 'csv'): void
  onHelp(): void
}

export const VIEW_NAMES: Readonly<Record<View, string>> = {
  overview: 'Overview',
  compare: 'Compare',
  time: 'Time',
  jobs: 'Jobs',
  latency: 'Latency',
  costs: 'Costs',
  sweep: 'Sweep',
  study: 'Study',
}

export function Header({ run, views, onExport, onHelp }: HeaderProps) {
  const session = useSession()
  const state = useSettings()
  const { runs } = session.index
  return (
    <header class="bar">
      <h1>Odonata</h1>
      {runs.length > 1 && (
        <select
          aria-label="Run"
          value={String(state.run)}
          onChange={(event) => session.state.patch({ run: Number(event.currentTarget.value) })}
          data-test="run"
        >
          {runs.map((info, id) => (
            <option key={id} value={String(id)}>
              {info.label}
            </option>
          ))}
        </select>
      )}
      {runs.length === 1 && <span class="run-name">{runs[0]!.label}</span>}
      <nav aria-label="Views">
        {views.map((view) => (
          <button
            key={view}
            aria-pressed={state.view === view}
            onClick={() => session.state.patch({ view })}
            data-test={`view-${view}`}
          >
            {VIEW_NAMES[view]}
          </button>
        ))}
      </nav>
      <span class="spring" />
      {run && <Search run={run} />}
      <Menu onExport={onExport} />
      <button
        title="Theme: auto, light or dark (T)"
        aria-label={`Theme: ${THEMES[state.theme]}`}
        onClick={() =>
          session.state.patch({
            theme: { auto: 'light', light: 'dark', dark: 'auto' }[state.theme] as typeof state.theme,
          })
        }
        data-test="theme"
      >
        {THEMES[state.theme]}
      </button>
      <button title="Keyboard shortcuts (?)" aria-label="Help" onClick={onHelp}>
        ?
      </button>
    </header>
  )
}

function Menu({ onExport }: { onExport(kind: 'svg' | 'png' | 'csv'): void }) {
  const menu = useRef<HTMLDetailsElement>(null)
  const choose = (kind: 'svg' | 'png' | 'csv') => () => {
    menu.current!.open = false
    onExport(kind)
  }
  return (
    <details
      class="menu"
      ref={menu}
      onKeyDown={(event) => event.key === 'Escape' && (menu.current!.open = false)}
    >
      <summary data-test="export">Export</summary>
      <div role="menu">
        <button role="menuitem" onClick={choose('svg')} data-test="export-svg">
          View as SVG
        </button>
        <button role="menuitem" onClick={choose('png')} data-test="export-png">
          View as PNG
        </button>
        <button role="menuitem" onClick={choose('csv')} data-test="export-csv">
          Values as CSV
        </button>
      </div>
    </details>
  )
}

const THEMES = { auto: 'Auto', light: 'Light', dark: 'Dark' } as const

function Search({ run }: { run: Run }) {
  const session = useSession()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const input = useRef<HTMLInputElement>(null)
  const found = search(run, text)
  const isOpen = text.trim() !== ''
  useEffect(() => setChosen(0), [text])
  const jump = (to: SearchResult | undefined): void => {
    if (!to) return
    session.state.patch({ focus: to.focus })
    setText('')
    input.current?.blur()
  }
  return (
    <div class="search">
      <input
        ref={input}
        type="search"
        role="combobox"
        aria-label="Find by name"
        aria-expanded={isOpen && found.length > 0}
        aria-controls={isOpen && found.length > 0 ? 'odonata-found' : undefined}
        aria-activedescendant={isOpen && found.length > 0 ? `odonata-found-${chosen}` : undefined}
        aria-autocomplete="list"
        id="odonata-search"
        placeholder="Find by name ( / )"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          event.stopPropagation()
          if (event.key === 'Enter') jump(found[chosen])
          else if (event.key === 'Escape') {
            setText('')
            input.current?.blur()
          } else if (event.key === 'ArrowDown') setChosen(Math.min(found.length - 1, chosen + 1))
          else if (event.key === 'ArrowUp') setChosen(Math.max(0, chosen - 1))
          else return
          event.preventDefault()
        }}
      />
      {isOpen && (
        <div class="found">
          {found.length > 0 ? (
            <ul role="listbox" id="odonata-found" aria-label="SearchResult by name">
              {found.map((item, i) => (
                <li
                  key={item.focus}
                  id={`odonata-found-${i}`}
                  role="option"
                  aria-selected={i === chosen}
                  onClick={() => jump(item)}
                >
                  <span>{item.label}</span>
                  <em>{item.kind}</em>
                </li>
              ))}
            </ul>
          ) : (
            <p class="hint" role="status">
              Nothing found. Example of a router name:{' '}
              {run.routers.count > 0 ? run.routers.names.at(0) : 'g0r0c0'}
            </p>
          )}
        </div>
      )}
    </div>
  )
}

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
      {focus.replace(':', ' ')}
      {known ? '' : ' (not in this run)'} ×
    </button>
  )
}

/** Rejected settings from the URL, shown until closed. */
export function RejectedSettings() {
  const session = useSession()
  const refused = useStore(session.refused)
  if (refused.length === 0) return null
  return (
    <div class="failures" role="alert" data-test="refused">
      <p>
        {refused.length === 1
          ? 'Ignored an invalid setting in the address:'
          : `Ignored ${count(refused.length)} invalid settings in the address:`}
      </p>
      <ul>
        {refused.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      <button onClick={() => session.refused.set([])}>close</button>
    </div>
  )
}

/** Only iterative engines report iterations. */
const after = (iterations: number | undefined): string =>
  iterations === undefined ? '' : ` after ${count(iterations)} iterations`

/** Explains an empty picture and links to another view. */
function NoTraffic({ run }: { run: Run }) {
  const session = useSession()
  const empty = useMemo(
    () => (run.whole ?? run).measures.every(({ total }) => total.every((value) => value === 0)),
    [run],
  )
  if (!empty) return null
  return (
    <p class="note" data-test="no-traffic">
      {run.summary.engine === 'model'
        ? 'The model engine computes times, not link traffic. Dots are the routers of the jobs. '
        : 'No link of this run has traffic. Dots are the routers of the jobs. '}
      <button onClick={() => session.state.patch({ view: hasCosts(run.info) ? 'costs' : 'jobs' })}>
        {hasCosts(run.info) ? 'Show costs' : 'Show jobs'}
      </button>
    </p>
  )
}

/** Machine and run in one line. */
export function FactsLine({
  summary: { machine, convergence, engine, routing },
  links,
  children,
}: {
  summary: Summary
  links: number
  children?: ComponentChildren
}) {
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
    summary.complete ? '' : 'this run is incomplete',
    // Only iterative engines report convergence.
    convergence?.converged === false ? `not converged${after(convergence.iterations)}` : '',
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
