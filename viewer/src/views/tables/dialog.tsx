/** A box above the page, closed by its button or a click next to it. */
import type { ComponentChildren, Ref } from 'preact'
import './dialog.css'

interface DialogProps {
  readonly title: string
  readonly label?: string
  /** Style class. */
  readonly kind: string
  readonly test?: string
  readonly box?: Ref<HTMLDivElement>
  readonly autofocus?: boolean
  readonly children: ComponentChildren
  onKeyDown?(event: KeyboardEvent): void
  onClose(): void
}

export function Dialog({
  title,
  label = title,
  kind,
  test,
  box = null,
  autofocus,
  children,
  onKeyDown,
  onClose,
}: DialogProps) {
  return (
    <div class="shade" onClick={onClose}>
      <div
        class={`dialog ${kind}`}
        role="dialog"
        aria-modal="true"
        aria-label={label}
        ref={box}
        onClick={(event) => event.stopPropagation()}
        onKeyDown={onKeyDown}
        data-test={test}
      >
        <div class="head">
          <h2>{title}</h2>
          <button onClick={onClose} autofocus={autofocus}>
            close
          </button>
        </div>
        {children}
      </div>
    </div>
  )
}

/** Names and what stands for each. */
export const Pairs = ({ rows }: { rows: readonly (readonly [string, string])[] }) => (
  <dl class="pairs">
    {rows.map(([name, text]) => (
      <>
        <dt>{name}</dt>
        <dd>{text}</dd>
      </>
    ))}
  </dl>
)
