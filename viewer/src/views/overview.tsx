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
import { useSession, useStore } from './session'

export function Overview({ derived }: { derived: Derived }) {
  return (
    <>
      <div class="centre">
        <Facts run={derived.run} />
        <PictureView derived={derived} />
        <HotLinks derived={derived} />
      </div>
      <SidePanel derived={derived} />
    </>
  )
}

export function SidePanel({ derived }: { derived: Derived }) {
  const session = useSession()
  const { panel } = useStore(session.state)
  const seen = useSeen()
  return (
    <aside class="right" aria-label="Matrices and groups">
      <div class="segmented tabs" role="group" aria-label="Panel">
        <button
          aria-pressed={panel !== 'group'}
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
      </div>
      <RouterView derived={derived} />
      {!seen ? (
        <div class="matrices" data-drawing="later" />
      ) : panel === 'group' ? (
        <GroupView derived={derived} />
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
