/** The tooltip next to the pointer. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useSession, useStore } from '../session/session'
import { Pairs } from '../tables/pairs'
import './dialogs.css'

export function Tooltip() {
  const hover = useStore(useSession().hover)
  const box = useRef<HTMLDivElement>(null)
  const [place, setPlace] = useState({ left: 0, top: 0 })
  useLayoutEffect(() => {
    if (!hover?.tip || !box.current) return
    const { offsetWidth: width, offsetHeight: height } = box.current
    const left = hover.x + 16 + width > innerWidth ? hover.x - 12 - width : hover.x + 16
    setPlace({ left: Math.max(4, left), top: Math.max(4, Math.min(hover.y + 12, innerHeight - height - 6)) })
  }, [hover])
  if (!hover?.tip) return <ScreenReaderText text="" />
  const { title, rows, shares = [], note = '' } = hover.tip
  return (
    <>
      <ScreenReaderText
        text={hover.byKey ? [title, note, ...rows.map((row) => row.join(' '))].join(', ') : ''}
      />
      <div
        class="tooltip"
        ref={box}
        style={{ left: `${place.left}px`, top: `${place.top}px` }}
        role="tooltip"
        data-test="tooltip"
      >
        <b>{title}</b>
        {note !== '' && <em>{note}</em>}
        <Pairs rows={rows} />
        {shares.map(({ name, color, text, share }) => (
          <div class="tip-share" key={name}>
            <i class="swatch" style={{ background: color }} />
            <span>{name}</span>
            <span class="tip-bar">
              <i style={{ width: `${100 * share}%`, background: color }} />
            </span>
            <span class="number">{text}</span>
          </div>
        ))}
      </div>
    </>
  )
}

/** Announces keyboard stops to screen readers; pointer hovers are not announced. */
function ScreenReaderText({ text }: { text: string }) {
  return (
    <p class="unseen" role="status" data-test="spoken">
      {text}
    </p>
  )
}
