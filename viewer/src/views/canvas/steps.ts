/** Keyboard navigation between marks, largest first: `.` next, `,` previous, Enter focuses. */
import { useEffect, useRef } from 'preact/hooks'
import { useSession, type Hover } from '../session/session'

/** Tooltip of a mark, and the action of Enter. */
export interface Step {
  readonly hover: Omit<Hover, 'byKey'>
  enter(): void
}

/**
 * Args:
 * items: Marks in keyboard order; computed at the first key.
 * show: Tooltip and position of a mark.
 * keys: Dependencies of the marks; a change restarts at the first.
 * shifted: Marks reached with Shift.
 *
 * Returns:
 * A key handler that returns whether it used the key.
 */
export function useSteps<T>(
  items: () => readonly T[],
  show: (item: T) => Step | null,
  keys: readonly unknown[],
  shifted: (() => readonly T[]) | null = null,
): (event: KeyboardEvent) => boolean {
  const session = useSession()
  const now = useRef<{ of: readonly T[]; at: number; shift: boolean } | null>(null)
  // The last step survives a change of the marks, so a second Enter undoes the first.
  const lastStep = useRef<Step | null>(null)
  useEffect(() => void (now.current = null), keys)
  const announce = (): void => {
    const step = now.current && show(now.current.of[now.current.at]!)
    lastStep.current = step
    if (step) session.hover.set({ ...step.hover, byKey: true })
  }
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return false
    const by = { Period: 1, Comma: -1 }[event.code]
    if (by !== undefined) {
      const shift = event.shiftKey && shifted !== null
      if (now.current?.shift !== shift) now.current = { of: shift ? shifted() : items(), at: -1, shift }
      const { of, at } = now.current
      if (of.length > 0) {
        now.current = { of, at: Math.max(0, Math.min(of.length - 1, at + by)), shift }
        announce()
      }
    } else if (event.key === 'Enter' && lastStep.current && session.hover.get()?.byKey === true)
      lastStep.current.enter()
    else return false
    event.preventDefault()
    event.stopPropagation()
    return true
  }
}
