/** One run: its picture, its hottest links, and beside them its matrices or one of its groups. */
import { useEffect, useState } from 'preact/hooks'
import type { Derived } from '../data/model'
import { workshop } from '../draw/workshop'
import { GroupView } from './group'
import { Facts } from './header'
import { HotLinks } from './links'
import { MatricesView } from './matrices'
import { PictureView } from './picture'
import { RouterView } from './router'
import { WhyView } from './why'
import { useHeld, useSession, useSettings, useStore } from './session'

/** `seen`: whether there is more than the picture yet. */
export function Overview({ derived, seen }: { derived: Derived; seen: boolean }) {
  const dragging = useStore(useSession().dragging)
  const facts = useHeld(dragging, () => <Facts run={derived.run} />)
  const links = useHeld(dragging, () =>
    seen ? <HotLinks derived={derived} /> : <section class="card links" />,
  )
  return (
    <>
      <div class="centre">
        {facts}
        <PictureView derived={derived} />
        {links}
      </div>
      {seen ? <SidePanel derived={derived} /> : <aside class="right" aria-label="Matrices and groups" />}
    </>
  )
}

export function SidePanel({ derived }: { derived: Derived }) {
  const session = useSession()
  const { panel } = useSettings()
  const seen = useSeen()
  return (
    <aside class="right" aria-label="Matrices and groups">
      <div class="segmented tabs" role="group" aria-label="Panel">
        <button
          aria-pressed={panel !== 'group' && panel !== 'why'}
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
          Group close-up
        </button>
        <button
          aria-pressed={panel === 'why'}
          onClick={() => session.state.patch({ panel: 'why' })}
          title="What binds each job, who shares it, and what another machine would change"
          data-test="panel-why"
        >
          Why
        </button>
      </div>
      <RouterView derived={derived} />
      {!seen ? (
        <div class="matrices" data-drawing="later" />
      ) : panel === 'group' ? (
        <GroupView derived={derived} />
      ) : panel === 'why' ? (
        <WhyView derived={derived} />
      ) : (
        <MatricesView derived={derived} />
      )}
    </aside>
  )
}

/**
 * Whether the picture beside it is seen. Matrices are laid out after that: on 925,440 links they take a quarter of a second, by
 * which the first picture came later.
 */
function useSeen(): boolean {
  const [seen, setSeen] = useState(false)
  useEffect(() => {
    let gone = false
    // Effects run in the order of the page: the picture, which stands before this, has been asked for.
    workshop().whenSeen(() => gone || setSeen(true))
    return () => void (gone = true)
  }, [])
  return seen
}
