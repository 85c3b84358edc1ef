/** The left column. */
import { useFrozenDuringDrag, useSession, useStore } from '../session/session'
import type { Settings } from '../session/settings'
import type { ViewContent } from '../session/viewcontent'
import { Controls, ScaleLegend } from './controls'
import { Directions } from './directions'
import { Distribution } from './distribution'
import { Jobs } from './jobs'
import { Minimaps } from './minimaps'
import { Ranks } from './ranks'
import { RunHistograms } from './runhistograms'

/** While a range is dragged, only the distribution is updated. */
export function ControlColumn({ view, derived, compared }: ViewContent & { view: Settings['view'] }) {
  const dragging = useStore(useSession().dragging)
  const controls = useFrozenDuringDrag(dragging, () => (
    <Controls derived={derived}>
      <Ranks derived={derived} />
    </Controls>
  ))
  const scale = useFrozenDuringDrag(dragging, () => (
    <ScaleLegend derived={derived} cables={compared?.change?.difference.cables} />
  ))
  const last = useFrozenDuringDrag(dragging, () => <Jobs derived={derived} />)
  return (
    <>
      {controls}
      <Distribution derived={derived} />
      {compared && <RunHistograms runs={compared.pair} />}
      {scale}
      {view === 'overview' && <Directions derived={derived} />}
      {view === 'overview' && <Minimaps derived={derived} />}
      {last}
    </>
  )
}
