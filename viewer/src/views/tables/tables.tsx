/** Accessible tables: a button next to each picture opens its table. */
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

/** The open table. */
export function TableDialog() {
  const session = useSession()
  const table = useStore(session.table)
  if (!table) return null
  const { title, head, rows, all } = table
  const isNumber = head.map((_, i) => rows.every((row) => /^[−+–\d]/.test(row[i] ?? '')))
  return (
    <Dialog title={title} kind="as-table" test="table" onClose={() => session.table.set(null)}>
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
