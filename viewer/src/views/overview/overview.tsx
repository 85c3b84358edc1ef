/** One run: picture, hottest links, and a side panel. */
import { hasTraffic } from '../../data/source'
import { Facts } from '../picture/facts'
import { MachineEdits } from '../picture/edits'
import { HotLinks } from '../tables/links'
import { PictureView } from '../picture/picture'
import { SidePanel } from '../panels/panels'
import { HeadlineText, useHeadline } from '../picture/headline'
import { JobBars } from './jobbars'
import type { ViewContent } from '../session/viewcontent'
import { useFrozenDuringDrag, useSession, useStore } from '../session/session'

/** Above all columns: the run in a sentence, and its jobs. */
export function OverviewHead({ derived }: ViewContent) {
  const dragging = useStore(useSession().dragging)
  const headline = useHeadline(derived.run.id)
  return useFrozenDuringDrag(dragging, () => (
    <div class="overview-head">
      <HeadlineText headline={headline} />
      <JobBars derived={derived} />
    </div>
  ))
}

export function Overview({ derived, seen }: ViewContent & { seen: boolean }) {
  const headline = useHeadline(derived.run.id)
  const dragging = useStore(useSession().dragging)
  const facts = useFrozenDuringDrag(dragging, () => <Facts run={derived.run} />)
  const links = useFrozenDuringDrag(dragging, () =>
    seen ? <HotLinks derived={derived} /> : <section class="card links" />,
  )
  return (
    <>
      <div class="centre">
        {facts}
        <MachineEdits run={derived.run} />
        <PictureView derived={derived} callout={headline ?? null} />
        {hasTraffic(derived.run.info) && links}
      </div>
      {seen ? <SidePanel derived={derived} /> : <aside class="right" aria-label="Details" />}
    </>
  )
}
