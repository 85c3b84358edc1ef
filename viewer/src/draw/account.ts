/** Which marks of a picture are drawn, and the status of each link. */
import { count } from '../base/format'
import type { MarkValues } from '../data/aggregate'
import { nth } from '../data/stats'
import { MARKS_MAX, type Picture } from '../layout/picture'

export interface DrawnMarks {
  /** 1 for a drawn mark; only these can be hit. */
  readonly visible: Uint8Array
  readonly drawn: number
  /** Selected marks with a non-zero value. */
  readonly wanted: number
}

/** Number of links by status; the parts sum to all links. */
interface Account {
  readonly drawn: number
  /** Mark not among the strongest. */
  readonly weaker: number
  readonly empty: number
  /** NaN, such as the mean of nothing. */
  readonly unknown: number
  /** Part of a mark whose values cancel to zero. */
  readonly balanced: number
  readonly filtered: number
  /** No mark in this picture. */
  readonly elsewhere: number
}

export function accountOf(
  picture: Picture,
  marks: MarkValues,
  drawn: DrawnMarks,
  { values, selected }: { readonly values: Float64Array; readonly selected: Uint8Array },
): Account {
  const account = { drawn: 0, weaker: 0, empty: 0, unknown: 0, balanced: 0, filtered: 0, elsewhere: 0 }
  const { ofLink } = picture.marks
  for (let l = 0; l < values.length; l++) {
    const mark = ofLink[l]!
    if (Number.isNaN(values[l])) account.unknown++
    else if (selected[l] === 0) account.filtered++
    else if (values[l] === 0) account.empty++
    else if (mark < 0) account.elsewhere++
    else if (drawn.visible[mark] === 1) account.drawn++
    else if (marks.values[mark] === 0) account.balanced++
    else account.weaker++
  }
  return account
}

/** The account as text, after the number of drawn marks. */
export function accountText(account: Account, picture: Picture, signed: boolean): string {
  const all = Object.values(account).reduce((sum, n) => sum + n, 0)
  const parts: [number, string][] = [
    [account.drawn, 'drawn'],
    [account.weaker, 'with smaller values'],
    [account.empty, signed ? 'unchanged' : 'without traffic'],
    [account.unknown, 'without a value'],
    [account.balanced, 'cancelling out'],
    [account.filtered, 'filtered out'],
    [account.elsewhere, picture.elsewhere],
  ]
  const said = parts.filter(([n]) => n > 0).map(([n, words]) => `${count(n)} ${words}`)
  if (all === 0) return ''
  return `. All ${count(all)} links: ${said.join(', ')}`
}

/** Selects the marks to draw: all non-zero ones, or the strongest `limit`. */
export function visibleMarks({ values, selected }: MarkValues, limit = MARKS_MAX): DrawnMarks {
  const visible = new Uint8Array(values.length)
  const sizes = new Float64Array(values.length)
  let wanted = 0
  for (let m = 0; m < values.length; m++)
    if (selected[m]! > 0 && values[m] !== 0) {
      visible[m] = 1
      sizes[wanted++] = Math.abs(values[m]!)
    }
  if (wanted <= limit) return { visible, drawn: wanted, wanted }
  const threshold = nth(sizes.subarray(0, wanted), wanted - limit)
  // Ties at the limit: the first marks are drawn.
  let room = limit
  for (let i = 0; i < wanted; i++) if (sizes[i]! > threshold) room--
  for (let m = 0; m < values.length; m++) {
    const size = Math.abs(values[m]!)
    if (visible[m] === 1 && (size < threshold || (size === threshold && room-- <= 0))) visible[m] = 0
  }
  return { visible, drawn: limit, wanted }
}
