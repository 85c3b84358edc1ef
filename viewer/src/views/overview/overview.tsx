/** One run: picture, hottest links, and a side panel. */
import { useEffect, useState } from 'preact/hooks'
import type { DerivedRun } from '../../data/model'
import { drawingService } from '../../draw/drawingservice'
import { GroupView } from '../panels/group/group'
import { Facts } from '../frame/header'
import { HotLinks } from '../tables/links'
import { MatricesView } from '../panels/matrices/matrices'
import { PictureView } from '../picture/picture'
import { RouterView } from '../panels/group/router'
import { BottleneckView } from '../panels/bottlenecks/bottlenecks'
import { useFrozenDuringDrag, useSession, useSettings, useStore } from '../session/session'

/** `seen`: whether the picture is visible; the rest is rendered after it. */
export function Overview({ derived, seen }: { derived: DerivedRun; seen: boolean }) {
  const dragging = useStore(useSession().dragging)
  const facts = useFrozenDuringDrag(dragging, () => <Facts run={derived.run} />)
  const links = useFrozenDuringDrag(dragging, () =>
    seen ? <HotLinks derived={derived} /> : <section class="card links" />,
  )
  return (
    <>
      <div class="centre">
        {facts}
        <PictureView derived={derived} />
        {links}
      </div>
      {seen ? <SidePanel derived={derived} /> : <aside class="right" aria-label="Details" />}
    </>
  )
}

export function SidePanel({ derived }: { derived: DerivedRun }) {
  const session = useSession()
  const { panel } = useSettings()
  const seen = usePictureVisible()
  return (
    <aside class="right" aria-label="Details">
      <div class="segmented tabs" role="group" aria-label="Panel">
        <button
          aria-pressed={panel !== 'group' && panel !== 'bottlenecks'}
          onClick={() => session.state.patch({ panel: 'matrices' })}
          data-test="panel-matrices"
        >
          Matrices
        </button>
        <button
          aria-pressed={panel === 'group'}
          onClick={() => session.state.patch({ panel: 'group' })}
          data-test="panel-group"
        >
          Group
        </button>
        <button
          aria-pressed={panel === 'bottlenecks'}
          onClick={() => session.state.patch({ panel: 'bottlenecks' })}
          title="Bottleneck of each job, its sharers, and the effect of faster or slower links"
          data-test="panel-bottlenecks"
        >
          Bottlenecks
        </button>
      </div>
      <RouterView derived={derived} />
      {!seen ? (
        <div class="matrices" data-drawing="later" />
      ) : panel === 'group' ? (
        <GroupView derived={derived} />
      ) : panel === 'bottlenecks' ? (
        <BottleneckView derived={derived} />
      ) : (
        <MatricesView derived={derived} />
      )}
    </aside>
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
