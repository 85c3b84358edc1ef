/** Page skeleton and tasks around the first picture. */
import { useEffect } from 'preact/hooks'
import '../overview/overview.css'
import '../picture/headline.css'
import type { RunModel } from '../../data/model'
import type { RunInfo } from '../../data/source'
import { drawingService } from '../../draw/drawingservice'
import { FactsLine } from '../picture/facts'
import type { Session } from '../session/session'

/** The page layout before data has arrived, so that the first picture does not wait for it. */
export function LoadingPage({ info }: { info: RunInfo }) {
  return (
    <>
      <div class="overview-head">
        <p class="headline"> </p>
      </div>
      <main class="body view-overview" aria-busy="true">
        <aside class="left" aria-label="Controls" />
        <div class="centre">
          <FactsLine summary={info.summary} links={info.summary.machine.links} />
          <figure class="picture">
            <p class="loading">Loading {info.label} …</p>
          </figure>
          <section class="card links" />
        </div>
        <aside class="right" aria-label="Details" />
      </main>
    </>
  )
}

/** Records when the first picture is visible; everything else waits for it. */
export function useFirstPicture(session: Session, drawn: boolean): void {
  useEffect(() => {
    // Runs after the picture's own effects, so the picture has been requested.
    if (drawn) drawingService().whenVisible(() => session.pictureVisible.set(true))
  }, [drawn])
}

/** Prepares range dragging when the browser is idle. */
export function usePrepared(session: Session, model: RunModel | undefined, seen: boolean): void {
  useEffect(() => {
    if (!model || !seen) return
    // Not supported by all browsers.
    const [later, never] =
      typeof requestIdleCallback === 'function'
        ? [requestIdleCallback, cancelIdleCallback]
        : [(then: () => void) => window.setTimeout(then, 300), clearTimeout]
    const waiting = later(() => model.prepare(session.state.get()))
    return () => never(waiting)
  }, [model, seen])
}
