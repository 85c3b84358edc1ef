/** What comes after the first picture: the page has its shape while that is read and drawn, and all else follows. */
import { useEffect } from 'preact/hooks'
import type { RunModel } from '../data/model'
import type { RunInfo } from '../data/source'
import { workshop } from '../draw/workshop'
import { FactsLine } from './header'
import type { Session } from './session'

/** The page as it is laid out before there is anything to show, so that the first picture does not wait for that. */
export function Waiting({ info }: { info: RunInfo }) {
  return (
    <main class="body view-overview" aria-busy="true">
      <aside class="left" aria-label="What is shown" />
      <div class="centre">
        <FactsLine summary={info.summary} links={info.summary.machine.links} />
        <figure class="picture">
          <p class="loading">Loading {info.label} …</p>
        </figure>
        <section class="card links" />
      </div>
      <aside class="right" aria-label="Matrices and groups" />
    </main>
  )
}

/** Notes when the first picture is seen, which all else waits for. */
export function useFirstSeen(session: Session, drawn: boolean): void {
  useEffect(() => {
    // Effects come after those of the picture: it has been asked for.
    if (drawn) workshop().whenSeen(() => session.pictureSeen.set(true))
  }, [drawn])
}

/** Gets the distribution ready to be dragged, when there is nothing else to do. */
export function usePrepared(session: Session, model: RunModel | undefined, seen: boolean): void {
  useEffect(() => {
    if (!model || !seen) return
    // Not every browser has it.
    const [later, never] =
      typeof requestIdleCallback === 'function'
        ? [requestIdleCallback, cancelIdleCallback]
        : [(then: () => void) => window.setTimeout(then, 300), clearTimeout]
    const waiting = later(() => model.prepare(session.state.get()))
    return () => never(waiting)
  }, [model, seen])
}
