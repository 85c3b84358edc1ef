/** The page: loads runs, syncs settings with the address and shows the chosen view. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Theme } from './base/ramps'
import type { ViewState } from './data/state'
import { themeVariables } from './draw/look'
import { ControlColumn } from './views/controls/column'
import { exportView } from './views/export/export'
import { useUrl } from './views/frame/address'
import { Header, RejectedSettings } from './views/frame/header'
import { Help, useKeys } from './views/frame/keys'
import { LoadingPage, useFirstPicture, usePrepared } from './views/frame/loading'
import { Strip } from './views/frame/strip'
import { Tooltip } from './views/frame/tooltip'
import {
  SessionContext,
  ThemeContext,
  useFrozenDuringDrag,
  useStore,
  type Session,
} from './views/session/session'
import { TableDialog } from './views/tables/tables'
import { availableViews, VIEWS } from './views/views'
import './views/frame/frame.css'
import './views/frame/media.css'

export function App({ session }: { session: Session }) {
  const state = useStore(session.state)
  useStore(session.loaded)
  const failures = useStore(session.failures)
  const [help, setHelp] = useState(false)
  const theme = useTheme(state.theme)
  useUrl(session)
  const runs = session.index.runs
  const info = runs[Math.min(state.run, runs.length - 1)]
  const views = useMemo(() => availableViews(session.index, info), [session, info])
  const view = views.includes(state.view) ? state.view : 'overview'
  const model = session.model(Math.min(state.run, runs.length - 1))
  const { controls, Body, Head, sheet, shown: shownBy } = VIEWS[view]
  const seen = useStore(session.pictureVisible) || view !== 'overview'
  const shown = shownBy?.(session, state, model) ?? (model && { derived: model.derive(state) })
  const derived = shown?.derived
  const dragging = useStore(session.dragging)
  const isOfOneRun = !['compare', 'sweep', 'study'].includes(view)
  useFirstPicture(session, derived !== undefined)
  usePrepared(session, view === 'overview' ? model : undefined, seen)
  useKeys(session, derived, views, help, setHelp)

  return (
    <SessionContext.Provider value={session}>
      <ThemeContext.Provider value={theme}>
        <div
          class={`odonata ${theme}`}
          style={themeVariables(theme)}
          data-test="app"
          data-ready={derived && seen ? 'yes' : 'no'}
        >
          <div class="frame">
            {useFrozenDuringDrag(dragging, () => (
              <Header
                run={derived?.run}
                views={views}
                onExport={(kind) => {
                  const exported = shown && sheet({ session, ...shown, state, theme })
                  if (exported) void exportView(kind, exported)
                }}
                onHelp={() => setHelp(true)}
              />
            ))}
            {failures.length > 0 && (
              <ul class="failures" role="alert">
                {failures.map((text) => (
                  <li key={text}>{text}</li>
                ))}
              </ul>
            )}
            <RejectedSettings />
            {model && seen && isOfOneRun && <Strip run={model.run} />}
            {shown && Head && <Head {...shown} seen={seen} />}
            {shown ? (
              <main class={`${controls ? 'body' : 'page'} view-${view}`}>
                {controls && (
                  <aside class="left" aria-label="Controls">
                    {seen && <ControlColumn view={view} {...shown} />}
                  </aside>
                )}
                <Body {...shown} seen={seen} />
              </main>
            ) : (
              failures.length === 0 &&
              (view === 'overview' ? (
                <LoadingPage info={runs[Math.min(state.run, runs.length - 1)]!} />
              ) : (
                <p class="loading">Loading {runs[state.run]?.label} …</p>
              ))
            )}
          </div>
          <Tooltip />
          <TableDialog />
          {help && <Help onClose={() => setHelp(false)} />}
        </div>
      </ThemeContext.Provider>
    </SessionContext.Provider>
  )
}

/** Resolves the theme 'auto' with the system setting. */
function useTheme(setting: ViewState['theme']): Theme {
  const query = useMemo(() => matchMedia('(prefers-color-scheme: dark)'), [])
  const [dark, setDark] = useState(query.matches)
  useEffect(() => {
    const update = (): void => setDark(query.matches)
    query.addEventListener('change', update)
    return () => query.removeEventListener('change', update)
  }, [query])
  return setting === 'auto' ? (dark ? 'dark' : 'light') : setting
}
