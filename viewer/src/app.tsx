/** The page: loads what is asked for, keeps the address, and puts the views together. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Theme } from './base/ramps'
import type { View, ViewState } from './data/state'
import { writeUrl } from './data/state'
import { BothRuns } from './views/both'
import { CompareView } from './views/compare'
import { CostsView } from './views/costs'
import { costsExhibit } from './views/costsheet'
import { Controls, ScaleLegend } from './views/controls'
import { Directions } from './views/directions'
import { Distribution } from './views/distribution'
import { compareExhibit, overviewExhibit, type Exhibit } from './views/exhibits'
import { exportView } from './views/export'
import { jobsExhibit } from './views/jobsheet'
import { timeExhibit } from './views/timesheet'
import { LatencyView } from './views/latency'
import { latencyExhibit } from './views/latencysheet'
import { Header, Refused } from './views/header'
import { Jobs } from './views/jobs'
import { JobsView } from './views/placement'
import { Help, useKeys } from './views/keys'
import { Overview } from './views/overview'
import { Ranks } from './views/ranks'
import { SessionContext, ThemeContext, useHeld, useSession, useStore, type Session } from './views/session'
import { StudyView } from './views/study'
import { studyExhibit } from './views/studysheet'
import { SweepView } from './views/sweep'
import { sweepExhibit } from './views/sweepsheet'
import { hasCosts } from './data/costs'
import { hasLanes } from './data/lanes'
import { hasGroupTraffic, hasLatency } from './data/latency'
import { hasSeries } from './data/series'
import { momentOf } from './views/moment'
import { TableDialog } from './views/tables'
import { TimeView } from './views/time'
import { Minimaps } from './views/minimaps'
import { Tooltip } from './views/tooltip'
import { useFirstSeen, usePrepared, Waiting } from './views/waiting'
import { comparison, type Compared } from './views/compared'
import type { Derived } from './data/model'

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
  const moment = view === 'time' && model ? momentOf(session, model.run, state) : null
  const derived: Derived | undefined = compared ? compared.lead : (moment ?? model?.derive(state))
  const dragging = useStore(session.dragging)
  const seen = useStore(session.pictureSeen) || view !== 'overview'
  useFirstSeen(session, derived !== undefined)
  usePrepared(session, view === 'overview' ? model : undefined, seen)
  useKeys(session, derived, views, help, setHelp)

  return (
    <SessionContext.Provider value={session}>
      <ThemeContext.Provider value={theme}>
        <div class={`odonata ${theme}`} data-test="app" data-ready={derived && seen ? 'yes' : 'no'}>
          <div class="frame">
            {useHeld(dragging, () => (
              <Header
                run={derived?.run}
                views={views}
                onExport={(kind) => {
                  const exhibit = derived && exhibitOf(session, view, derived, compared, moment, state, theme)
                  if (exhibit) void exportView(kind, exhibit)
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
            <Refused />
            {derived ? (
              <Body view={view} derived={derived} compared={compared} moment={moment} seen={seen} />
            ) : (
              failures.length === 0 &&
              (view === 'overview' ? (
                <Waiting info={runs[Math.min(state.run, runs.length - 1)]!} />
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

/** What the view that is seen gives to keep. */
function exhibitOf(
  session: Session,
  view: View,
  derived: Derived,
  compared: Compared | null,
  moment: Derived | null,
  state: ViewState,
  theme: Theme,
): Exhibit | null {
  if (view === 'compare' && compared)
    return compared.change
      ? overviewExhibit(compared.change.derived, state, theme, compared.change)
      : compareExhibit(compared, state, theme)
  if (view === 'time') return timeExhibit(session, derived.run, moment, state, theme)
  if (view === 'study') return studyExhibit(session, state, theme)
  if (view === 'sweep') return sweepExhibit(session, state, theme)
  if (view === 'costs') return costsExhibit(session, derived.run, state, theme)
  if (view === 'latency') return latencyExhibit(session, derived.run, state, theme)
  if (view === 'jobs') return jobsExhibit(session, derived, state, theme)
  return overviewExhibit(derived, state, theme)
}

function Body({
  view,
  derived,
  compared,
  moment,
  seen,
}: {
  view: View
  derived: Derived
  compared: Compared | null
  moment: Derived | null
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
      <aside class="left" aria-label="What is shown">
        {seen && <Panels view={view} derived={derived} compared={compared} />}
      </aside>
      {view === 'overview' && <Overview derived={derived} seen={seen} />}
      {view === 'compare' && compared && <CompareView compared={compared} />}
      {view === 'time' && <TimeView run={derived.run} moment={moment} />}
      {view === 'jobs' && <JobsView derived={derived} />}
    </main>
  )
}

/** What is shown, and how; the distribution alone follows a range that is dragged. */
function Panels({ view, derived, compared }: { view: View; derived: Derived; compared: Compared | null }) {
  const dragging = useStore(useSession().dragging)
  const controls = useHeld(dragging, () => (
    <Controls derived={derived}>
      <Ranks derived={derived} />
    </Controls>
  ))
  const scale = useHeld(dragging, () => (
    <ScaleLegend derived={derived} cables={compared?.change?.difference.cables} />
  ))
  const last = useHeld(dragging, () => <Jobs derived={derived} />)
  return (
    <>
      {controls}
      <Distribution derived={derived} />
      {compared && <BothRuns runs={compared.pair} />}
      {scale}
      {view === 'overview' && <Directions derived={derived} />}
      {view === 'overview' && <Minimaps derived={derived} />}
      {last}
    </>
  )
}

/** The light or dark theme that the setting and the system ask for. */
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

/** The address of the settings; an empty one stands for the first picture. */
const addressOf = (state: ViewState): string => writeUrl(state) || 'hottest=0'

/**
 * Settings to address and back. Every settled change is a step of the browser's history, so that its way back undoes it; moments that
 * pass are not.
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
        // An address that was entered and not read yet must not be written over.
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
    // What the page begins with is no step.
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
