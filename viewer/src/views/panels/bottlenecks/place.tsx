/** A button that names a link or NIC. */
import { useFocusOn, useSession, useStore } from '../../session/session'

interface PlaceProps {
  readonly name: string
  readonly focus: string
  readonly title: string
  readonly test: string
}

/** A link or NIC; a click focuses it. */
export function PlaceButton({ name, focus, title, test }: PlaceProps) {
  const state = useStore(useSession().state)
  const focusOn = useFocusOn()
  return (
    <button
      class="place"
      aria-pressed={state.focus === focus}
      title={title}
      onClick={() => focusOn(focus)}
      data-test={test}
    >
      {name}
    </button>
  )
}
