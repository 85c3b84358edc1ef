/** Pictures as text. */
import type { Picture } from '../src/layout/picture'

/** A picture as text that a person can check. */
export function dump(picture: Picture): string {
  const at = (x: number, y: number): string => `${Math.round(x)},${Math.round(y)}`
  const routers = Array.from(
    { length: picture.routers.length / 2 },
    (_, r) => `router ${r} at ${at(picture.routers[2 * r]!, picture.routers[2 * r + 1]!)}`,
  )
  const marks = Array.from({ length: picture.marks.count }, (_, m) => {
    const c = picture.curves.subarray(8 * m, 8 * m + 8)
    const links = [...picture.marks.links.subarray(picture.marks.offsets[m], picture.marks.offsets[m + 1])]
    return `links ${links.join(' ')} from ${at(c[0]!, c[1]!)} to ${at(c[6]!, c[7]!)}${picture.stub?.[m] ? ' stub' : ''}`
  })
  return [...routers, ...marks, ...picture.labels.map((l) => `label ${l.text} at ${at(l.x, l.y)}`)].join('\n')
}
