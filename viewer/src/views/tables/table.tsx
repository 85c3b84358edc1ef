/** Tables with a row of headings. */
import type { ComponentChildren } from 'preact'

interface Head {
  readonly text: string
  readonly number?: boolean
  readonly title?: string
}

/** Headings of columns of numbers. */
export const numbers = (...texts: readonly string[]): Head[] => texts.map((text) => ({ text, number: true }))

interface TableProps {
  readonly heads: readonly (string | Head)[]
  readonly caption?: string
  readonly test?: string
  /** The rows. */
  readonly children: ComponentChildren
}

export function Table({ heads, caption, test, children }: TableProps) {
  return (
    <table data-test={test}>
      {caption !== undefined && <caption>{caption}</caption>}
      <thead>
        <tr>
          {heads.map((head, i) => {
            const { text, number, title } = typeof head === 'string' ? { text: head } : head
            return text === '' ? (
              <td key={i} />
            ) : (
              <th key={i} scope="col" class={number ? 'number' : ''} title={title}>
                {text}
              </th>
            )
          })}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}
