/** The top bar: run, views, search, theme, export, help. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { count } from '../../base/format'
import { search, type SearchResult } from '../../data/focus'
import type { Run } from '../../data/run'
import { runsNamed, type Index } from '../../data/source'
import { choicesOf } from '../../data/state'
import { VIEWS, type View } from '../views'
import { cycle } from './keys'
import { useSession, useSettings, useStore } from '../session/session'
import './header.css'

interface HeaderProps {
  readonly run: Run | undefined
  readonly views: readonly View[]
  onExport(kind: 'svg' | 'png' | 'csv'): void
  onHelp(): void
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
      <ViewButtons views={views} view={state.view} onChoose={(view) => session.state.patch({ view })} />
      <span class="spring" />
      {run && <Search run={run} />}
      <Menu onExport={onExport} />
      <button
        title={`Theme: ${choicesOf('theme').join(', ')} (T)`}
        aria-label={`Theme: ${THEMES[state.theme]}`}
        onClick={() => session.state.patch({ theme: cycle(choicesOf('theme'), state.theme) })}
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

interface ViewButtonsProps {
  readonly views: readonly View[]
  readonly view: View
  onChoose(view: View): void
}

export function ViewButtons({ views, view, onChoose }: ViewButtonsProps) {
  return (
    <nav aria-label="Views">
      {views.map((name) => (
        <button
          key={name}
          aria-pressed={view === name}
          onClick={() => onChoose(name)}
          data-test={`view-${name}`}
        >
          {VIEWS[name].label}
        </button>
      ))}
    </nav>
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

/** Runs in the list of names found. */
const RUNS_FOUND = 6

interface FoundPlace extends SearchResult {
  readonly run?: number
}

function searchRuns(index: Index, text: string): FoundPlace[] {
  const { runs } = index
  return (runs.length > 1 ? runsNamed(index, text) : []).slice(0, RUNS_FOUND).map((run) => ({
    run,
    focus: '',
    label: runs[run]!.label,
    kind: `run on ${runs[run]!.summary.machine.name}`,
  }))
}

function Search({ run }: { run: Run }) {
  const session = useSession()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const input = useRef<HTMLInputElement>(null)
  const found = [...search(run, text), ...searchRuns(session.index, text)]
  const isOpen = text.trim() !== ''
  useEffect(() => setChosen(0), [text])
  const jump = (to: FoundPlace | undefined): void => {
    if (!to) return
    const { focus, run } = to
    session.state.patch(run === undefined ? { focus } : { run, view: 'overview', focus })
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
        // Preact's types require it of a search field that is a combobox.
        list={undefined}
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
            <ul role="listbox" id="odonata-found" aria-label="Names found">
              {found.map((item, i) => (
                <li
                  key={`${item.focus} ${item.label}`}
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
