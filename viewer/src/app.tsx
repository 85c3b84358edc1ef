/** The page: loads runs, syncs settings with the URL and composes the views. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Theme } from './base/ramps'
import type { View, ViewState } from './data/state'
import { writeUrl } from './data/state'
import { RunHistograms } from './views/controls/runhistograms'
import { CompareView } from './views/compare/compare'
import { CostsView } from './views/costs/costs'
import { costsExport } from './views/costs/sheet'
import { Controls, ScaleLegend } from './views/controls/controls'
import { Directions } from './views/controls/directions'
import { Distribution } from './views/controls/distribution'
import { compareExport } from './views/compare/sheet'
import { overviewExport, type ExportSheet } from './views/export/sheets'
import { exportView } from './views/export/export'
import { jobsExport } from './views/jobs/sheet'
import { timeExport } from './views/time/sheet'
import { LatencyView } from './views/latency/latency'
import { latencyExport } from './views/latency/sheet'
import { Header, RejectedSettings } from './views/frame/header'
import { Jobs } from './views/controls/jobs'
import { JobsView } from './views/jobs/jobs'
import { Help, useKeys } from './views/frame/keys'
import { Overview } from './views/overview/overview'
import { Ranks } from './views/controls/ranks'
import {
  SessionContext,
  ThemeContext,
  useFrozenDuringDrag,
  useSession,
  useStore,
  type Session,
} from './views/session/session'
import { StudyView } from './views/study/study'
import { studyExport } from './views/study/sheet'
import { SweepView } from './views/sweep/sweep'
import { sweepExport } from './views/sweep/sheet'
import { hasCosts } from './data/costs'
import { hasLanes } from './data/lanes'
import { hasGroupTraffic, hasLatency } from './data/latency'
import { hasSeries } from './data/series'
import { runAtTime } from './views/time/moment'
import { TableDialog } from './views/tables/tables'
import { TimeView } from './views/time/time'
import { Minimaps } from './views/controls/minimaps'
import { Tooltip } from './views/frame/tooltip'
import { useFirstPicture, usePrepared, LoadingPage } from './views/frame/loading'
import { comparison, type Comparison } from './views/session/comparison'
import type { DerivedRun } from './data/model'
import { themeVariables } from './draw/look'

export function App({ session }: { session: Session }) {
  const state = useStore(session.state)
  useStore(session.loaded)
  const failures = useStore(session.failures)
  const [help, setHelp] = useState(false)
  const theme = useTheme(state.theme)
  useUrl(session)
  const runs = session.index.runs
  const views = useMemo(() => availableViews(session), [session])
  const view = views.includes(state.view) ? state.view : 'overview'
  const model = session.model(Math.min(state.run, runs.length - 1))
  const compared = view === 'compare' ? comparison(session, state) : null
  const moment = view === 'time' && model ? runAtTime(session, model.run, state) : null
  const derived: DerivedRun | undefined = compared ? compared.lead : (moment ?? model?.derive(state))
  const dragging = useStore(session.dragging)
  const seen = useStore(session.pictureVisible) || view !== 'overview'
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
                  const sheet = derived && exportOf(session, view, derived, compared, moment, state, theme)
                  if (sheet) void exportView(kind, sheet)
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
            {derived ? (
              <Body view={view} derived={derived} compared={compared} moment={moment} seen={seen} />
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

/** The SVG, PNG and CSV export of the current view. */
function exportOf(
  session: Session,
  view: View,
  derived: DerivedRun,
  compared: Comparison | null,
  moment: DerivedRun | null,
  state: ViewState,
  theme: Theme,
): ExportSheet | null {
  if (view === 'compare' && compared) return compareExport(compared, state, theme)
  if (view === 'time') return timeExport(session, derived.run, moment, state, theme)
  if (view === 'study') return studyExport(session, state, theme)
  if (view === 'sweep') return sweepExport(session, state, theme)
  if (view === 'costs') return costsExport(session, derived.run, state, theme)
  if (view === 'latency') return latencyExport(session, derived.run, state, theme)
  if (view === 'jobs') return jobsExport(session, derived, state, theme)
  return overviewExport(derived, state, theme)
}

function Body({
  view,
  derived,
  compared,
  moment,
  seen,
}: {
  view: View
  derived: DerivedRun
  compared: Comparison | null
  moment: DerivedRun | null
  seen: boolean
}) {
  if (view === 'study') return <StudyView />
  if (view === 'sweep') return <SweepView />
  if (view === 'latency')
    return (
      <main class="body view-latency">
        <LatencyView run={derived.run} />
      </main>
    )
  if (view === 'costs')
    return (
      <main class="body view-costs">
        <CostsView run={derived.run} />
      </main>
    )
  return (
    <main class={`body view-${view}`}>
      <aside class="left" aria-label="Controls">
        {seen && <Panels view={view} derived={derived} compared={compared} />}
      </aside>
      {view === 'overview' && <Overview derived={derived} seen={seen} />}
      {view === 'compare' && compared && <CompareView compared={compared} />}
      {view === 'time' && <TimeView run={derived.run} moment={moment} />}
      {view === 'jobs' && <JobsView derived={derived} />}
    </main>
  )
}

/** The left column. While a range is dragged, only the distribution is updated. */
function Panels({
  view,
  derived,
  compared,
}: {
  view: View
  derived: DerivedRun
  compared: Comparison | null
}) {
  const dragging = useStore(useSession().dragging)
  const controls = useFrozenDuringDrag(dragging, () => (
    <Controls derived={derived}>
      <Ranks derived={derived} />
    </Controls>
  ))
  const scale = useFrozenDuringDrag(dragging, () => (
    <ScaleLegend derived={derived} cables={compared?.change?.difference.cables} />
  ))
  const last = useFrozenDuringDrag(dragging, () => <Jobs derived={derived} />)
  return (
    <>
      {controls}
      <Distribution derived={derived} />
      {compared && <RunHistograms runs={compared.pair} />}
      {scale}
      {view === 'overview' && <Directions derived={derived} />}
      {view === 'overview' && <Minimaps derived={derived} />}
      {last}
    </>
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

/** The URL fragment of the settings. An empty fragment means the default first picture. */
const addressOf = (state: ViewState): string => writeUrl(state) || 'hottest=0'

/**
 * Syncs the settings with the URL. Each settled change is one history entry, so the browser's back button
 * undoes it. Playback time is not.
 */
function useUrl(session: Session): void {
  useEffect(() => {
    if (!session.ownsUrl) return
    let waiting = 0
    let known = location.hash
    let last = session.state.get()
    const keep = (step: boolean): void => {
      const text = `#${addressOf(session.state.get())}`
      if (text !== location.hash) history[step ? 'pushState' : 'replaceState'](null, '', text)
      last = session.state.get()
      known = location.hash
    }
    const write = (): void => {
      clearTimeout(waiting)
      waiting = window.setTimeout(() => {
        // The user typed an address that has not been read yet: do not overwrite it.
        if (location.hash !== known) return
        if (session.dragging.get()) return write()
        keep(addressOf({ ...session.state.get(), time: last.time }) !== addressOf(last))
      }, 150)
    }
    const read = (): void => {
      clearTimeout(waiting)
      session.readAddress(location.hash.slice(1))
      keep(false)
      clearTimeout(waiting)
    }
    // The initial state is not a history entry.
    keep(false)
    const stop = session.state.subscribe(write)
    addEventListener('hashchange', read)
    return () => {
      stop()
      clearTimeout(waiting)
      removeEventListener('hashchange', read)
    }
  }, [session])
}

function availableViews(session: Session): View[] {
  const { runs } = session.index
  const views: View[] = ['overview']
  if (runs.length > 1) views.push('compare')
  if (runs.some((run) => hasSeries(run) || hasLanes(run))) views.push('time')
  views.push('jobs')
  if (runs.some((run) => hasLatency(run) || hasGroupTraffic(run))) views.push('latency')
  if (runs.some(hasCosts)) views.push('costs')
  if (runs.length > 2) views.push('sweep')
  if (session.index.findings) views.push('study')
  return views
}
