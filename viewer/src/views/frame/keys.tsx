/** Keyboard shortcuts and the help page. */
import { useEffect } from 'preact/hooks'
import type { DerivedRun } from '../../data/model'
import { ALL_VALUES, HOTTEST, isOpen, NO_ENDS } from '../../data/range'
import { routerColors } from '../../data/ranks'
import { choicesOf } from '../../data/state'
import { solo, toggleMode } from '../controls/jobs'
import { PANEL_NAMES, PANELS } from '../panels/panels'
import type { Session } from '../session/session'
import type { Settings } from '../session/settings'
import { Dialog } from '../tables/dialog'
import { LegendPicture } from './legendpicture'
import { Pairs } from '../tables/pairs'
import { VIEWS, type View } from '../views'
import './dialogs.css'

export const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'search for a router, node, link or group'],
  ['Esc', 'clear the focus, then the value range'],
  ['1 … 9', 'show only this job; again: all jobs'],
  ['Shift + 1 … 9', 'subtract this job'],
  ['A', 'show all jobs, classes and values'],
  ['[  ]', 'lower or raise the lower end of the range'],
  ['O', 'select the hottest 1, 5, 25 % of the links, or all'],
  ['I', 'invert the selected range'],
  ['C', 'show only the next class; after the last: all'],
  ['M', 'next measure'],
  ['L', `colour scale: ${choicesOf('scale').join(', ')}`],
  ['H', `histogram axis: ${choicesOf('histogram').join(', ')}`],
  ['F', 'freeze or unfreeze the colour range'],
  ['R', 'router colour: job, hottest link, rank'],
  ['G', `side panel: ${PANEL_NAMES.map((name) => PANELS[name].label).join(', ')}`],
  ['V', 'next view'],
  ['N', 'next run'],
  ['T', `theme: ${choicesOf('theme').join(', ')}`],
  ['W S  A D', 'time view: zoom around the cursor, pan'],
  ['.  ,', 'in a picture: next or previous mark, largest first; Enter focuses it'],
  ['Shift + .  ,', 'in a machine picture: next or previous router'],
  ['+  −  0  arrows', 'in a picture: zoom in, zoom out, reset, pan'],
  ['Tab', 'next control; Enter or Space activates it'],
  ['?', 'show this help'],
]

/** The one after `now`; after the last, the first. */
export const cycle = <T,>(all: readonly T[], now: T): T => all[(all.indexOf(now) + 1) % all.length]!

export function useKeys(
  session: Session,
  d: DerivedRun | undefined,
  views: readonly View[],
  helped: boolean,
  help: (open: boolean) => void,
): void {
  const runs = session.index.runs.length
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement
      if (session.table.get() !== null) return
      if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName))
        return
      if (helped) {
        // While help is open, no key changes the view behind it.
        if (event.key !== 'Escape') return
        help(false)
        return event.preventDefault()
      }
      const state = session.state.get()
      const change = changeFor(event, state, d, views, session)
      if (event.key === '/') document.getElementById('odonata-search')?.focus()
      else if (event.key === '?') help(true)
      else if (change === null) return
      else session.state.patch(change)
      event.preventDefault()
    }
    // In a notebook, only keys pressed inside the viewer count.
    const scope: Document | Element = session.ownsUrl ? document : session.root!
    scope.addEventListener('keydown', onKey as EventListener)
    return () => scope.removeEventListener('keydown', onKey as EventListener)
  }, [d, views, helped, help, runs])
}

/** The change made by a key; null for none. */
export function changeFor(
  event: Pick<KeyboardEvent, 'key' | 'code' | 'shiftKey'>,
  state: Settings,
  d: DerivedRun | undefined,
  views: readonly View[],
  session: Session,
): Partial<Settings> | null {
  const digit = /^Digit([1-9])$/.exec(event.code)?.[1]
  if (digit !== undefined && d) {
    const job = d.run.jobs[Number(digit) - 1]
    if (!job) return null
    return {
      jobs: event.shiftKey ? toggleMode(state.jobs, job.job, 'subtracted') : solo(d.run, job.job, state.jobs),
    }
  }
  const own = VIEWS[state.view].key?.(event.key.toLowerCase(), session)
  if (own) return own
  switch (event.key.toLowerCase()) {
    case 'escape':
      return state.focus !== '' ? { focus: '' } : ALL_VALUES
    case 'a':
      return { jobs: {}, classesOff: [], ...ALL_VALUES, focus: '' }
    case 'l':
      return { scale: cycle(choicesOf('scale'), state.scale) }
    case 'h':
      return { histogram: cycle(choicesOf('histogram'), state.histogram) }
    case 'o':
      return { ...ALL_VALUES, hottest: cycle([0, ...HOTTEST], state.hottest) }
    case 'i':
      return d && (state.inverted || !isOpen(d.range)) ? { inverted: !state.inverted } : null
    case 'r':
      return { routers: cycle(routerColors(d?.run.info), state.routers) }
    case 'g':
      return { panel: cycle(PANEL_NAMES, state.panel) }
    case 't':
      return { theme: cycle(choicesOf('theme'), state.theme) }
    case 'v':
      return { view: cycle(views, state.view) }
    case 'n':
      return { run: (state.run + 1) % session.index.runs.length }
  }
  if (!d) return null
  switch (event.key.toLowerCase()) {
    case 'f':
      return { frozen: state.frozen ? null : [d.scale.low, d.scale.high] }
    case 'm':
      return {
        measure: cycle(
          d.run.measures.map((m) => m.id),
          d.measure.id,
        ),
        ...NO_ENDS,
        frozen: null,
      }
    case 'c': {
      const names = d.run.links.classes
      const alone = names.filter((name) => !state.classesOff.includes(name))
      const next = alone.length === 1 ? names.indexOf(alone[0]!) + 1 : 0
      return { classesOff: next < names.length ? names.filter((_, i) => i !== next) : [] }
    }
    case '[':
    case ']': {
      const step = (event.key === ']' ? 1 : -1) / 40
      const low = d.range.inverted ? null : (d.range.ends?.[0] ?? null)
      const at = (low === null || low === -Infinity ? 0 : d.axis.position(low)) + step
      return { ...NO_ENDS, hottest: 0, high: state.high, low: at <= 0 ? null : d.axis.value(Math.min(1, at)) }
    }
  }
  return null
}

export function Help({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="How to read and use this page" label="Help" kind="help" test="help" onClose={onClose}>
      <LegendPicture />
      <p>
        A click on a job’s bar shows the job alone and why it takes this long. In a picture, a click focuses a
        router, link or group, two fingers zoom, and so does the wheel after a click; dragging pans, and a
        double click shows the whole machine again. The address of this page contains all settings: copy it to
        share the view.
      </p>
      <h3>Keys</h3>
      <Pairs rows={KEYS} />
    </Dialog>
  )
}
