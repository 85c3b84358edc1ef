/** Accessible tables: a button next to each picture opens its table. */
import { useEffect, useRef } from 'preact/hooks'
import { count } from '../../base/format'
import type { Rows } from '../../data/rows'
import { useSession, useStore } from '../session/session'
import './tables.css'

/** `rows` is called when the button is pressed. */
export function TableButton({ of, rows }: { of: string; rows: () => Rows }) {
  const session = useSession()
  return (
    <button
      class="switch as-table"
      aria-haspopup="dialog"
      aria-label={`table: ${of}`}
      title={`${of} as a table`}
      onClick={() => session.table.set(rows())}
      data-test="as-table"
    >
      table
    </button>
  )
}

/** A modal table: traps the keyboard and restores the focus. */
export function TableDialog() {
  const session = useSession()
  const table = useStore(session.table)
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!table) return
    const before = document.activeElement as HTMLElement | null
    box.current?.querySelector<HTMLElement>('.table-frame')?.focus()
    return () => before?.focus()
  }, [table])
  if (!table) return null
  const close = (): void => session.table.set(null)
  const onKeyDown = (event: KeyboardEvent): void => {
    event.stopPropagation()
    if (event.key === 'Escape') close()
    else if (event.key === 'Tab') keepInside(event, box.current!)
    else return
    if (event.key === 'Escape') event.preventDefault()
  }
  const { title, head, rows, all } = table
  const isNumber = head.map((_, i) => rows.every((row) => /^[−+–\d]/.test(row[i] ?? '')))
  return (
    <div class="shade" onClick={close}>
      <div
        class="help as-table"
        role="dialog"
        aria-modal="true"
        aria-label={title}
        ref={box}
        onClick={(event) => event.stopPropagation()}
        onKeyDown={onKeyDown}
        data-test="table"
      >
        <div class="head">
          <h2>{title}</h2>
          <button onClick={close}>close</button>
        </div>
        <p class="hint" data-test="table-rows">
          {rows.length < all
            ? `First ${count(rows.length)} of ${count(all)} rows. Use Export for all values.`
            : `${count(all)} rows.`}
        </p>
        <div class="table-frame" tabIndex={0} role="region" aria-label={`Rows of ${title}`}>
          <table>
            <thead>
              <tr>
                {head.map((text, i) => (
                  <th key={i} scope="col" class={isNumber[i] ? 'number' : ''}>
                    {text}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row, i) => (
                <tr key={i}>
                  {row.map((text, j) => (
                    <td key={j} class={isNumber[j] ? 'number' : ''}>
                      {text}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </div>
    </div>
  )
}

/** Tab cycles within the dialog. */
function keepInside(event: KeyboardEvent, box: HTMLElement): void {
  const stops = [...box.querySelectorAll<HTMLElement>('button, [tabindex="0"]')]
  const [first, last] = [stops[0]!, stops[stops.length - 1]!]
  const from = document.activeElement
  if (event.shiftKey ? from !== first : from !== last) return
  event.preventDefault()
  ;(event.shiftKey ? last : first).focus()
}
