/** Edits of the machine, as in `machine.edit`, for what is in focus and for a class of links. */
import { count } from '../base/format'
import type { Focus } from './focus'
import { linkName, type Run } from './run'

export interface EditOffer {
  readonly label: string
  readonly edits: readonly string[]
}

/** Maximum number of edits of one run; the server refuses more. */
export const EDITS_MAX = 32

/** What can be removed of a focus: its cable, its router, its node, or all cables of a pair of groups. */
export function removals(run: Run, focus: Focus | null): EditOffer[] {
  if (!focus) return []
  const { link, router, node, kind, text } = focus
  if (kind === 'link') return [{ label: 'Remove this cable', edits: [`fail ${linkName(run, link)}`] }]
  if (kind === 'pair') {
    // A cable has a link in each direction; an edit of one removes both.
    const cables = [...run.links.source.keys()].filter((l) => focus.mask![l] === 1)
    const label = `Remove ${cables.length === 1 ? 'the cable' : `the ${count(cables.length)} cables`} between these groups`
    return cables.length <= EDITS_MAX ? [{ label, edits: cables.map((l) => `fail ${linkName(run, l)}`) }] : []
  }
  const found: EditOffer[] = []
  if (kind === 'node') found.push({ label: 'Remove this node', edits: [`fail ${text.slice(5)}`] })
  if ((kind === 'router' || node >= 0) && router >= 0)
    found.push({ label: 'Remove this router', edits: [`fail ${run.routers.names.at(router)}`] })
  return found
}

/** What can be changed of a class of links. */
export const classEdits = (name: string): readonly EditOffer[] => [
  { label: '−1 cable', edits: [`-1 ${name}`] },
  { label: '+1 cable', edits: [`+1 ${name}`] },
  { label: '½ bandwidth', edits: [`${name}.bandwidth*=0.5`] },
  { label: '2× bandwidth', edits: [`${name}.bandwidth*=2`] },
]

/** The class whose edits are offered: the one chosen, else of the link or pair in focus, else the first. */
export function editedClass(run: Run, focus: Focus | null, chosen: string): string {
  const { classes, class: codes } = run.links
  if (classes.includes(chosen)) return chosen
  const link =
    focus?.kind === 'pair' || focus?.kind === 'class' ? focus.mask!.indexOf(1) : (focus?.link ?? -1)
  return (link >= 0 ? classes[codes[link]!] : classes[0]) ?? ''
}
