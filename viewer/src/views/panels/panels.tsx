/** The side panel of the overview. Types, address, tabs and key follow from the list of panels. */
import { useEffect, useState } from 'preact/hooks'
import type { ComponentType } from 'preact'
import type { DerivedRun } from '../../data/model'
import { drawingService } from '../../draw/drawingservice'
import { useSession, useSettings } from '../session/session'
import { BottleneckView } from './bottlenecks/bottlenecks'
import { GroupView } from './group/group'
import { RouterView } from './group/router'
import { MatricesView } from './matrices/matrices'

/** In the order of their tabs. */
const panels = {
  matrices: { label: 'Matrices', Body: MatricesView },
  group: { label: 'Group', Body: GroupView },
  bottlenecks: {
    label: 'Bottlenecks',
    title: 'Bottleneck of each job, its sharers, and the effect of faster or slower links',
    Body: BottleneckView,
  },
}

export type Panel = keyof typeof panels

interface PanelEntry {
  readonly label: string
  readonly title?: string
  readonly Body: ComponentType<{ derived: DerivedRun }>
}

export const PANELS: Readonly<Record<Panel, PanelEntry>> = panels
export const PANEL_NAMES = Object.keys(panels) as Panel[]

export function SidePanel({ derived }: { derived: DerivedRun }) {
  const session = useSession()
  const { panel } = useSettings()
  const seen = usePictureVisible()
  const { Body } = PANELS[panel]
  return (
    <aside class="right" aria-label="Details">
      <PanelTabs panel={panel} onChoose={(chosen) => session.state.patch({ panel: chosen })} />
      <RouterView derived={derived} />
      {seen ? <Body derived={derived} /> : <div class="matrices" data-drawing="later" />}
    </aside>
  )
}

export function PanelTabs({ panel, onChoose }: { panel: Panel; onChoose(panel: Panel): void }) {
  return (
    <div class="segmented tabs" role="group" aria-label="Panel">
      {PANEL_NAMES.map((name) => (
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
