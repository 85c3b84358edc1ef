/** Each registered view and panel has an address, a key and a button; each view an export. */
import { isValidElement, type ComponentChildren, type VNode } from 'preact'
import { describe, expect, test } from 'vitest'
import { RunModel } from '../src/data/model'
import type { Columns, Index, RunInfo, Source } from '../src/data/source'
import { SvgPen } from '../src/draw/pen'
import { addressOf, CHECKS_OF_NAMES } from '../src/views/frame/address'
import { ViewButtons } from '../src/views/frame/header'
import { changeFor, KEYS } from '../src/views/frame/keys'
import { PANELS, PANEL_NAMES, PanelTabs } from '../src/views/panels/panels'
import { Session } from '../src/views/session/session'
import type { Settings } from '../src/views/session/settings'
import { availableViews, VIEWS, type View } from '../src/views/views'
import { tiny, TRAFFIC } from './machines'

const run = tiny({ jobs: ['a'], traffic: () => [5] })

/** Tables with all columns that the views ask for. */
const key = { type: 'u32', unit: 'none', merge: 'key', label: '' } as const
const keys = (...names: string[]): Columns => Object.fromEntries(names.map((name) => [name, key]))
const RICH: RunInfo = {
  ...run.info,
  tables: {
    ...run.info.tables,
    series: { rows: 1, columns: { ...keys('time_ps', 'job'), ...TRAFFIC } },
    latency: { rows: 1, columns: {} },
    cycle: { rows: 1, columns: {} },
  },
}
const BARE: Index = { protocol: 2, version: '', keys: [], runs: [run.info] }
const ALL: Index = {
  ...BARE,
  runs: [RICH, RICH, RICH],
  findings: { kind: 'front', objectives: [], keys: [], figures: [], entries: [] },
}

const sessionOf = (index: Index): Session => new Session({} as Source, index, CHECKS_OF_NAMES)

/** The settings after the page has read its own address. */
function reopened(state: Settings, index: Index): Session {
  const session = sessionOf(index)
  session.readAddress(addressOf(state))
  return session
}

/** Everything that `letter` reaches in `presses` presses. */
function reached<K extends keyof Settings>(setting: K, letter: string, presses: number): Settings[K][] {
  const session = sessionOf(ALL)
  return Array.from({ length: presses }, () => {
    const event = { key: letter, code: `Key${letter.toUpperCase()}`, shiftKey: false }
    const change = changeFor(event, session.state.get(), undefined, availableViews(ALL, ALL.runs[0]), session)
    session.state.patch(change!)
    return session.state.get()[setting]
  })
}

type Button = VNode<{ children: string; onClick(): void; 'aria-pressed': boolean; 'data-test': string }>

/** The buttons of a component without hooks. */
function buttons(children: ComponentChildren): Button[] {
  if (Array.isArray(children)) return children.flatMap(buttons)
  if (!isValidElement(children)) return []
  return children.type === 'button'
    ? [children as Button]
    : buttons((children.props as { children?: ComponentChildren }).children)
}

describe.each(PANEL_NAMES)('panel %s', (panel) => {
  const state = { ...sessionOf(ALL).state.get(), panel }

  test('is reopened by its own address', () => {
    const session = reopened(state, ALL)
    expect(session.refused.get()).toEqual([])
    expect(session.state.get().panel).toBe(panel)
  })

  test('is reached by its key and named in the help', () => {
    expect(reached('panel', 'g', PANEL_NAMES.length)).toContain(panel)
    expect(KEYS.find(([letter]) => letter === 'G')![1]).toContain(PANELS[panel].label)
  })

  test('has a tab', () => {
    const chosen: string[] = []
    const tabs = buttons(PanelTabs({ names: PANEL_NAMES, panel, onChoose: (name) => chosen.push(name) }))
    const [pressed, ...others] = tabs.filter((tab) => tab.props['aria-pressed'])
    expect([pressed?.props['data-test'], pressed?.props.children]).toEqual([
      `panel-${panel}`,
      PANELS[panel].label,
    ])
    expect(others).toEqual([])
    tabs.forEach((tab) => tab.props.onClick())
    expect(chosen).toEqual(PANEL_NAMES)
  })
})

test('the overview is exported with its matrices next to the picture', () => {
  const session = sessionOf(ALL)
  const state = session.state.get()
  const derived = new RunModel(run).derive(state)
  const { width, height, draw } = VIEWS.overview.sheet({ session, derived, state, theme: 'light' })!
  const pen = new SvgPen(width, height)
  draw(pen)
  // The picture and its frame are 860 wide.
  expect(width).toBeGreaterThan(1000)
  expect(pen.toString()).toContain('<svg')
})

describe.each(Object.keys(VIEWS) as View[])('view %s', (view) => {
  const state = { ...sessionOf(ALL).state.get(), view }

  test('is reopened by its own address', () => {
    const session = reopened(state, ALL)
    expect(session.refused.get()).toEqual([])
    expect(session.state.get().view).toBe(view)
  })

  test('is refused with its reason where it is not available', () => {
    const session = reopened(state, BARE)
    const reason = VIEWS[view].missing?.(BARE, BARE.runs[0])
    expect(session.refused.get()).toEqual(reason ? [`view: ${reason}`] : [])
    expect(session.state.get().view).toBe(reason ? 'overview' : view)
    expect(availableViews(BARE, BARE.runs[0]).includes(view)).toBe(!reason)
  })

  test('is reached by its key', () => {
    expect(reached('view', 'v', availableViews(ALL, ALL.runs[0]).length)).toContain(view)
  })

  test('has a button', () => {
    const chosen: string[] = []
    const shown = buttons(
      ViewButtons({ views: availableViews(ALL, ALL.runs[0]), view, onChoose: (name) => chosen.push(name) }),
    )
    const pressed = shown.filter((button) => button.props['aria-pressed'])
    expect(pressed.map(({ props }) => [props['data-test'], props.children])).toEqual([
      [`view-${view}`, VIEWS[view].label],
    ])
    pressed[0]!.props.onClick()
    expect(chosen).toEqual([view])
  })
})

describe('the address', () => {
  const open = (address: string, index = BARE): [readonly string[], Settings] => {
    const session = sessionOf(index)
    session.readAddress(address)
    return [session.refused.get(), session.state.get()]
  }

  test('an unknown name is refused, and the known ones are listed', () => {
    const [problems, { view, panel }] = open('view=nowhere&panel=nothing')
    expect(problems).toEqual([
      `view: unknown value nowhere; expected ${Object.keys(VIEWS).join(', ')}`,
      `panel: unknown value nothing; expected ${PANEL_NAMES.join(', ')}`,
    ])
    expect([view, panel]).toEqual(['overview', 'matrices'])
  })

  test.each([
    ['view=sweep', 'a sweep needs at least three runs'],
    ['view=time', 'this run has no time series'],
  ])('%s is refused: %s', (address, reason) => {
    expect(open(address)[0]).toEqual([`view: ${reason}`])
  })

  test('an old address with the panel of links shows the matrices', () => {
    expect(open('panel=links')[0]).toEqual([])
    expect(open('panel=links')[1].panel).toBe('matrices')
  })
})
