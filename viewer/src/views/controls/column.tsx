/** The left column: the distribution, and all else behind one button. */
import { hasTraffic } from '../../data/source'
import { useFrozenDuringDrag, useSession, useSettings, useStore } from '../session/session'
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
  const session = useSession()
  const { colours: isOpen } = useSettings()
  const dragging = useStore(session.dragging)
  // A difference of equal runs has no values, but two runs with them.
  const hasValues = derived.signed || hasTraffic(derived.run.info)
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
      {hasValues && <Distribution derived={derived} />}
      {compared && <RunHistograms runs={compared.pair} />}
      {view === 'overview' && hasValues && <Directions derived={derived} />}
      {view === 'overview' && hasValues && <Minimaps derived={derived} />}
      <details
        class="card colours"
        open={isOpen}
        onToggle={(event) => {
          const { open } = event.currentTarget
          if (open !== session.state.get().colours) session.state.patch({ colours: open })
        }}
      >
        <summary data-test="colours">Colours</summary>
        {isOpen && (
          <>
            {controls}
            {hasValues && scale}
            {last}
          </>
        )}
      </details>
    </>
  )
}
