/** Settings in the address, and the names of views and panels in it. */
import { useEffect } from 'preact/hooks'
import type { Checks } from '../../data/check'
import { writeUrl, type ViewState } from '../../data/state'
import { PANELS } from '../panels/panels'
import type { Session } from '../session/session'
import { VIEWS, type View } from '../views'

const unknown = (name: string, known: object): string | null =>
  Object.hasOwn(known, name) ? null : `unknown value ${name}; expected ${Object.keys(known).join(', ')}`

export const CHECKS_OF_NAMES: Checks = {
  view: ({ view, run }, index) =>
    unknown(view, VIEWS) ?? VIEWS[view as View].missing?.(index, index.runs[run]) ?? null,
  panel: ({ panel }) => unknown(panel, PANELS),
}

/** The URL fragment of the settings. An empty fragment means the default first picture. */
export const addressOf = (state: ViewState): string => writeUrl(state) || 'hottest=0'

/**
 * Syncs the settings with the URL. Each settled change is one history entry, so the browser's back button
 * undoes it. Playback time is not.
 */
export function useUrl(session: Session): void {
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
