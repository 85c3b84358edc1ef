/** Which marks of a picture are drawn, and what became of every link. */
import { count } from '../base/format'
import type { MarkValues } from '../data/aggregate'
import { nth } from '../data/stats'
import { MARKS_MAX, type Picture } from '../layout/picture'

export interface Drawn {
  /** 1 for a mark that was drawn, and so can be hit. */
  readonly visible: Uint8Array
  readonly drawn: number
  /** Marks with traffic that the filter leaves. */
  readonly wanted: number
}

/** What became of every link: the parts add up to all of them. */
export interface Account {
  readonly drawn: number
  /** Their mark is not among the strongest. */
  readonly weaker: number
  readonly empty: number
  /** Not a number, as the mean of nothing is. */
  readonly unknown: number
  /** Together with others in one mark whose value is zero. */
  readonly balanced: number
  readonly filtered: number
  /** Without a mark in this picture. */
  readonly elsewhere: number
}

export function accountOf(
  picture: Picture,
  marks: MarkValues,
  drawn: Drawn,
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

/** The account in words, after how many marks are drawn. */
export function accountText(account: Account, picture: Picture, signed: boolean): string {
  const all = Object.values(account).reduce((sum, n) => sum + n, 0)
  const parts: [number, string][] = [
    [account.drawn, 'drawn'],
    [account.weaker, 'weaker than those'],
    [account.empty, signed ? 'unchanged' : 'carry nothing'],
    [account.unknown, 'have no value'],
    [account.balanced, 'cancel out'],
    [account.filtered, 'filtered away'],
    [account.elsewhere, picture.elsewhere],
  ]
  const said = parts.filter(([n]) => n > 0).map(([n, words]) => `${count(n)} ${words}`)
  if (all === 0) return ''
  return `. Of all ${count(all)} links ${said.join(', ')}`
}

/** Which marks are drawn: all that carry something, the strongest `limit` if there are more. */
export function visibleMarks({ values, selected }: MarkValues, limit = MARKS_MAX): Drawn {
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
  // Of equal ones at the limit, the first are drawn.
  let room = limit
  for (let i = 0; i < wanted; i++) if (sizes[i]! > threshold) room--
  for (let m = 0; m < values.length; m++) {
    const size = Math.abs(values[m]!)
    if (visible[m] === 1 && (size < threshold || (size === threshold && room-- <= 0))) visible[m] = 0
  }
  return { visible, drawn: limit, wanted }
}
