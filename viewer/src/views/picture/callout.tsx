/** The label of the bottleneck, at its place in the picture. */
import type { Headline } from '../../data/headline'
import { namesOf } from '../../data/focus'
import type { Run } from '../../data/run'
import type { View } from '../../draw/messages'
import { middleOf } from '../../layout/pick'
import type { Picture, Size } from '../../layout/picture'
import { useFocusOn } from '../session/session'

interface CalloutProps {
  readonly of: Headline
  readonly run: Run
  readonly picture: Picture
  readonly view: View
  readonly size: Size
}

export function Callout({ of, run, picture, view, size }: CalloutProps) {
  const focusOn = useFocusOn()
  const focus = of.parts.map(([, named]) => named).find((named) => named !== '' && !named.startsWith('job:'))
  const place = placeOf(of, focus, run, picture)
  if (!place || !focus || size.width === 0) return null
  const [x, y] = [view.x + place[0] * view.k, view.y + place[1] * view.k]
  if (x < 0 || y < 0 || x > size.width || y > size.height) return null
  return (
    <div
      class={`callout ${x > size.width / 2 ? 'from-right' : ''} ${y > size.height / 2 ? 'above' : ''}`}
      style={{ left: `${x}px`, top: `${y}px` }}
    >
      <button
        title="The bottleneck: show it in all pictures"
        onPointerDown={(event) => event.stopPropagation()}
        onClick={(event) => {
          event.stopPropagation()
          focusOn(focus)
        }}
        data-test="callout"
      >
        {of.label}
      </button>
    </div>
  )
}

/** The middle of its marks, or of the routers at its ends. */
function placeOf(
  { links }: Headline,
  focus: string | undefined,
  run: Run,
  picture: Picture,
): [number, number] | null {
  const known = links.filter((l) => l < run.links.count)
  const middle = known[Math.floor(known.length / 2)]
  if (middle !== undefined && picture.marks.ofLink[middle]! >= 0)
    return middleOf(picture.curves, picture.marks.ofLink[middle]!)
  const at = (r: number): [number, number] => [picture.routers[2 * r]!, picture.routers[2 * r + 1]!]
  if (middle !== undefined) {
    const [[x0, y0], [x1, y1]] = [at(run.links.source[middle]!), at(run.links.target[middle]!)]
    return [(x0 + x1) / 2, (y0 + y1) / 2]
  }
  const node = focus?.startsWith('node:') ? namesOf(run).nodes().get(focus.slice(5)) : undefined
  return node === undefined ? null : at(run.nodes.router[node]!)
}
