/** A modal box above the page, closed by Escape, its button or a click next to it. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import './dialog.css'

interface DialogProps {
  readonly title: string
  readonly label?: string
  /** Style class. */
  readonly kind: string
  readonly test?: string
  readonly children: ComponentChildren
  onClose(): void
}

/** Takes the keyboard while it is open; then the focus returns to where it was. */
export function Dialog({ title, label = title, kind, test, children, onClose }: DialogProps) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null
    // The arrow keys scroll the content.
    const content = box.current!.querySelector<HTMLElement>(SCROLLED)
    ;(content ?? box.current!.querySelector('button')!).focus()
    return () => before?.focus()
  }, [])
  const onKeyDown = (event: KeyboardEvent): void => {
    event.stopPropagation()
    if (event.key === 'Escape') onClose()
    else if (event.key === 'Tab') keepInside(event, box.current!)
    else return
    event.preventDefault()
  }
  return (
    <div class="shade" onClick={onClose}>
      <div
        class={`dialog ${kind}`}
        role="dialog"
        aria-modal="true"
        aria-label={label}
        // A click on a text keeps the focus inside.
        tabIndex={-1}
        ref={box}
        onClick={(event) => event.stopPropagation()}
        onKeyDown={onKeyDown}
        data-test={test}
      >
        <div class="head">
          <h2>{title}</h2>
          <button onClick={onClose}>close</button>
        </div>
        {children}
      </div>
    </div>
  )
}

/** A part of the content that scrolls on its own. */
const SCROLLED = '[tabindex="0"]'

/** Moves the focus to the next or previous stop in the box; after the last comes the first. */
function keepInside({ shiftKey }: KeyboardEvent, box: HTMLElement): void {
  const stops = [...box.querySelectorAll<HTMLElement>(`button, ${SCROLLED}`)]
  // -1 if the box itself has the focus.
  const at = stops.indexOf(document.activeElement as HTMLElement)
  const next = shiftKey ? Math.max(at, 0) - 1 : (at + 1) % stops.length
  stops.at(next)!.focus()
}
