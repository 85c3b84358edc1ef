/** The side panel of the overview. Types, address, tabs and key follow from the list of panels. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { ComponentType } from 'preact'
import { changedGroup } from '../../data/changes'
import { hasCycle } from '../../data/costs'
import { hasTraffic } from '../../data/source'
import type { DerivedRun } from '../../data/model'
import { drawingService } from '../../draw/drawingservice'
import { useSession, useSettings } from '../session/session'
import { BottleneckView } from './bottlenecks/bottlenecks'
import { GroupView } from './group/group'
import { RouterView } from './group/router'
import { LoadCurves } from './load/load'
import { MatricesView } from './matrices/matrices'
import { QueryView } from './query/query'

/** Whether no link has a value, as in runs that only compute times; a difference may be zero. */
function isEmpty({ run, signed }: DerivedRun): boolean {
  return !signed && !hasTraffic(run.info)
}

/** In the order of their tabs. */
const panels = {
  matrices: {
    label: 'Traffic',
    title: 'Links by load, and between groups',
    Body: TrafficView,
    missing: isEmpty,
  },
  group: {
    label: 'Group',
    Body: GroupView,
    missing: (derived: DerivedRun) => derived.run.routers.groups < 2 || isEmpty(derived),
  },
  bottlenecks: {
    label: 'Why',
    title: 'Bottleneck of each job, its sharers, and the effect of faster or slower links',
    Body: BottleneckView,
    // A cycle has no traffic on links; its costs have a page.
    missing: ({ run }: DerivedRun) => hasCycle(run.info),
  },
  query: {
    label: 'Query',
    title: 'SQL over the tables of the run',
    Body: QueryView,
    // Links of a difference have no table.
    missing: ({ signed }: DerivedRun) => signed,
  },
}

export type Panel = keyof typeof panels

interface PanelEntry {
  readonly label: string
  readonly title?: string
  /** Whether the run has no data for it. */
  missing?(derived: DerivedRun): boolean
  readonly Body: ComponentType<{ derived: DerivedRun }>
}

export const PANELS: Readonly<Record<Panel, PanelEntry>> = panels
export const PANEL_NAMES = Object.keys(panels) as Panel[]

export function SidePanel({ derived }: { derived: DerivedRun }) {
  const session = useSession()
  const { panel } = useSettings()
  const seen = usePictureVisible()
  const names = PANEL_NAMES.filter((name) => !PANELS[name].missing?.(derived))
  const shown = names.includes(panel) ? panel : names[0]!
  const { Body } = PANELS[shown]
  return (
    <aside class="right" aria-label="Details">
      <PanelTabs names={names} panel={shown} onChoose={(chosen) => session.state.patch({ panel: chosen })} />
      <RouterView derived={derived} />
      {seen ? <Body derived={derived} /> : <div class="matrices" data-drawing="later" />}
    </aside>
  )
}

interface PanelTabsProps {
  readonly names: readonly Panel[]
  readonly panel: Panel
  onChoose(panel: Panel): void
}

export function PanelTabs({ names, panel, onChoose }: PanelTabsProps) {
  return (
    <div class="segmented tabs" role="group" aria-label="Panel">
      {names.map((name) => (
        <button
          key={name}
          aria-pressed={panel === name}
          onClick={() => onChoose(name)}
          title={PANELS[name].title}
          data-test={`panel-${name}`}
        >
          {PANELS[name].label}
        </button>
      ))}
    </div>
  )
}

/** Load-duration curves, then the matrix of groups; with a group in focus, the links inside it. */
function TrafficView({ derived: d }: { derived: DerivedRun }) {
  const { groups } = d.run.routers
  const changed = useMemo(() => (d.signed ? changedGroup(d) : -1), [d.run, d.values, d.signed])
  const inside = d.focus && d.focus.group >= 0 ? d.focus.group : groups === 1 ? 0 : changed
  return (
    <>
      <LoadCurves derived={d} />
      <MatricesView derived={d} group={inside} between />
    </>
  )
}

/**
 * Whether the picture is visible. Matrices are laid out later: 925,440 links take 0.25 s, which would delay
 * the first picture.
 */
function usePictureVisible(): boolean {
  const [seen, setSeen] = useState(false)
  useEffect(() => {
    let gone = false
    // Effects run in page order: the picture has been requested before.
    drawingService().whenVisible(() => gone || setSeen(true))
    return () => void (gone = true)
  }, [])
  return seen
}
