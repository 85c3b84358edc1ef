/**
 * A Slim Fly: two halves of q columns of q routers, as two facing lines.
 *
 * Links within a column are arcs on the outer side, higher for larger distance. Every router of a column has
 * one link to each column of the other half; these fill the middle.
 */
import type { Run } from '../data/run'
import { centres, edges } from './edges'
import { type Label, type Picture, PLAIN } from './picture'

const [SCENE, HEIGHT] = [1000, 760]
const LEFT = 30
const LINES = [190, 570] as const
const ARC = 110

export function isSlimFly({ routers }: Run): boolean {
  return routers.axes.map(({ name }) => name).join() === 'half,column,row' && routers.axes[0]!.size === 2
}

export function slimFlyPicture(run: Run): Picture {
  const { routers, links } = run
  const [half, column, row] = routers.axes as [Axis3, Axis3, Axis3]
  const width = (SCENE - 2 * LEFT) / column.size
  const step = (0.86 * width) / row.size
  const positions = new Float32Array(2 * routers.count)
  for (let r = 0; r < routers.count; r++) {
    positions[2 * r] = LEFT + column.values[r]! * width + 0.07 * width + (row.values[r]! + 0.5) * step
    positions[2 * r + 1] = LINES[half.values[r]!]!
  }
  const columnOf = (r: number): number => half.values[r]! * column.size + column.values[r]!
  const { marks, first, bundled } = edges(run, columnOf)
  const middle = bundled ? centres(positions, columnOf) : null
  const curves = new Float32Array(8 * marks.count)
  first.forEach((l, mark) => {
    const [s, t] = [links.source[l]!, links.target[l]!]
    const place = (r: number): readonly [number, number] =>
      middle?.get(columnOf(r)) ?? [positions[2 * r]!, positions[2 * r + 1]!]
    const [[sx, sy], [tx, ty]] = [place(s), place(t)]
    if (half.values[s] === half.values[t]) {
      // Both directions are arcs on one side; the one to the right is higher.
      const span = bundled ? 0.5 : Math.abs(row.values[s]! - row.values[t]!) / Math.max(1, row.size - 1)
      const away = half.values[s] === 0 ? -1 : 1
      const height = (away * (14 + ARC * span) * (tx > sx ? 1 : 0.88) * 4) / 3
      const spread = bundled ? 0.4 * width : 0
      curves.set(
        [sx - spread / 2, sy, sx - spread, sy + height, tx + spread, ty + height, tx + spread / 2, ty],
        8 * mark,
      )
    } else {
      const shift = (ty > sy ? 1 : -1) * Math.min(3, step * 0.2)
      const [a, b] = [sy + 0.5 * (ty - sy), ty - 0.5 * (ty - sy)]
      curves.set([sx + shift, sy, sx + shift, a, tx + shift, b, tx + shift, ty], 8 * mark)
    }
  })
  return {
    ...PLAIN,
    width: SCENE,
    height: HEIGHT,
    marks,
    curves,
    taper: [Math.max(0.7, Math.min(2.2, step * 0.12)), Math.max(0.3, Math.min(0.6, step * 0.04))],
    markNoun: bundled ? 'pairs of columns' : 'links',
    routers: positions,
    routerRadius: Math.min(7, step * 0.36),
    routerLength: 14,
    frames: LINES.flatMap((y) =>
      Array.from({ length: column.size }, (_, c) => ({
        x: LEFT + c * width + 0.04 * width,
        y: y - 13,
        width: 0.92 * width,
        height: 26,
      })),
    ),
    labels: LINES.flatMap((y, h): Label[] => [
      {
        x: LEFT,
        y: h === 0 ? 24 : HEIGHT - 14,
        text: `half ${h}: columns of ${row.size} routers`,
        anchor: 'start',
        size: 14,
        strong: true,
      },
      ...columnLabels(column.size, width, h === 0 ? y + 28 : y - 20),
    ]),
    reading: bundled
      ? 'Outer arc: all links within a column. Curve between the halves: all links from one column to another, wide at the source.'
      : 'Outer arcs join routers of a column; higher arcs span more routers. Curves in the middle join the halves. A link is wide at its source.',
  }
}

type Axis3 = Run['routers']['axes'][number]

function columnLabels(columns: number, width: number, y: number): Label[] {
  const stride = Math.max(1, Math.ceil(20 / width))
  return Array.from({ length: columns }, (_, c) => c)
    .filter((c) => c % stride === 0)
    .map((c) => ({ x: LEFT + (c + 0.06) * width, y, text: String(c), anchor: 'start', size: 11 }))
}
