/** One run: picture, hottest links, and a side panel. */
import { Facts } from '../picture/facts'
import { HotLinks } from '../tables/links'
import { PictureView } from '../picture/picture'
import { SidePanel } from '../panels/panels'
import type { ViewContent } from '../session/viewcontent'
import { useFrozenDuringDrag, useSession, useStore } from '../session/session'

export function Overview({ derived, seen }: ViewContent & { seen: boolean }) {
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
