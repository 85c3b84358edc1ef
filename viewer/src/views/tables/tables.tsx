/** Accessible tables: a button next to each picture opens its table. */
import { useEffect, useRef } from 'preact/hooks'
import { count } from '../../base/format'
import type { Rows } from '../../data/rows'
import { useSession, useStore } from '../session/session'
import { Dialog } from './dialog'
import { Table } from './table'
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
    <Dialog title={title} kind="as-table" box={box} test="table" onKeyDown={onKeyDown} onClose={close}>
      <p class="hint" data-test="table-rows">
        {rows.length < all
          ? `First ${count(rows.length)} of ${count(all)} rows. Use Export for all values.`
          : `${count(all)} rows.`}
      </p>
      <div class="table-frame" tabIndex={0} role="region" aria-label={`Rows of ${title}`}>
        <Table heads={head.map((text, i) => ({ text, number: isNumber[i]! }))}>
          {rows.map((row, i) => (
            <tr key={i}>
              {row.map((text, j) => (
                <td key={j} class={isNumber[j] ? 'number' : ''}>
                  {text}
                </td>
              ))}
            </tr>
          ))}
        </Table>
      </div>
    </Dialog>
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
