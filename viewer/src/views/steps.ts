/** Keys that go from mark to mark, the largest first, as the pointer would: `.` on, `,` back, Enter narrows to it. */
import { useEffect, useRef } from 'preact/hooks'
import { useSession, type Hover } from './session'

/** What is told of a mark, and what Enter sets. */
export interface Step {
  readonly hover: Omit<Hover, 'byKey'>
  enter(): void
}

/**
 * Args:
 *   items: The marks in the order in which keys reach them; asked for at the first key.
 *   show: What a mark says, with where on the page it is.
 *   keys: What the marks depend on: when it changes, the keys begin anew.
 *   shifted: Marks that the keys reach with Shift.
 *
 * Returns:
 *   Takes a key, and says whether it was one of these.
 */
export function useSteps<T>(
  items: () => readonly T[],
  show: (item: T) => Step | null,
  keys: readonly unknown[],
  shifted: (() => readonly T[]) | null = null,
): (event: KeyboardEvent) => boolean {
  const session = useSession()
  const now = useRef<{ of: readonly T[]; at: number; shift: boolean } | null>(null)
  // What was told last outlives a change of the marks: Enter, which changes them, then also takes itself back.
  const told = useRef<Step | null>(null)
  useEffect(() => void (now.current = null), keys)
  const tell = (): void => {
    const step = now.current && show(now.current.of[now.current.at]!)
    told.current = step
    if (step) session.hover.set({ ...step.hover, byKey: true })
  }
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return false
    const by = { Period: 1, Comma: -1 }[event.code]
    if (by !== undefined) {
      const shift = event.shiftKey && shifted !== null
      if (now.current?.shift !== shift) now.current = { of: shift ? shifted!() : items(), at: -1, shift }
      const { of, at } = now.current
      if (of.length > 0) {
        now.current = { of, at: Math.max(0, Math.min(of.length - 1, at + by)), shift }
        tell()
      }
    } else if (event.key === 'Enter' && told.current && session.hover.get()?.byKey === true)
      told.current.enter()
    else return false
    event.preventDefault()
    event.stopPropagation()
    return true
  }
}

/** The focus of the settings as Enter and a click set it: asked again, it is let go. */
export function useFocusOn(): (focus: string) => void {
  const { state } = useSession()
  return (focus) => state.patch({ focus: focus === state.get().focus ? '' : focus })
}
