import { describe, expect, test } from 'vitest'
import { RunModel } from '../src/data/model'
import { DEFAULTS } from '../src/data/state'
import { cellAt, cellLooks, type CellSource } from '../src/draw/cells'
import { DIMMED, NO_LINK } from '../src/draw/look'
import { SvgPen } from '../src/draw/pen'
import { visibleMarks } from '../src/draw/account'
import { levelsPicture } from '../src/layout/levels'
import { groupMatrix, interior, placeMatrices } from '../src/layout/matrices'
import { nearestCurve, nearestPoint } from '../src/layout/pick'
import { MARKS_MAX, type Picture } from '../src/layout/picture'
import { radialPicture } from '../src/layout/radial'
import { dump } from './dump'
import { edison, fatTree, grid, makeRun, random, tiny, torus, type Wire } from './machines'

const distance = (picture: Picture, r: number): number =>
  Math.hypot(picture.routers[2 * r]! - 500, picture.routers[2 * r + 1]! - 500)

describe('radial', () => {
  test('three groups of two routers', () => {
    // Sectors of 120 degrees from the top, clockwise; both routers of a group share its only row, at (448 +
    // 432) / 2 = 440.
    expect(dump(radialPicture(tiny()))).toMatchInlineSnapshot(`
      "router 0 at 722,120
      router 1 at 940,498
      router 2 at 718,882
      router 3 at 282,882
      router 4 at 60,498
      router 5 at 278,120
      links 6 from 718,127 to 286,875
      links 7 from 286,875 to 718,127
      links 8 from 932,498 to 282,127
      links 9 from 282,127 to 932,498
      links 10 from 714,875 to 68,498
      links 11 from 68,498 to 714,875
      label 0 at 920,257
      label 1 at 500,985
      label 2 at 80,258"
    `)
  })

  test('nodes of a router share its angle range', () => {
    // Two routers share 120 degrees minus the gap of 0.02; three nodes each a third of a half.
    const ring = radialPicture(tiny({ nodesPerRouter: 3 })).rings[0]!
    const part = ((2 * Math.PI) / 3 - 0.02) / 6
    ring.nodes!.forEach((angle, i) => {
      const n = Math.floor(i / 2)
      const group = Math.floor(n / 6)
      expect(angle).toBeCloseTo((group * 2 * Math.PI) / 3 + 0.01 + ((n % 6) + (i % 2)) * part, 9)
    })
    expect(ring.nodes!.length).toBe(2 * 18)
    expect(radialPicture(edison({ nodesPerRouter: 5 })).rings[0]!.nodes).toBeNull()
  })

  const run = edison()
  const picture = radialPicture(run)

  test('Edison: one arc per blue link (5,040), none for other links', () => {
    expect(picture.marks.count).toBe(5040)
    run.links.class.forEach((code, l) =>
      expect(picture.marks.ofLink[l]! >= 0).toBe(run.links.classes[code] === 'blue'),
    )
  })

  test('each router lies in the sector of its group, without overlap', () => {
    const { inner, outer, sectors } = picture.rings[0]!
    const seen = new Set<string>()
    for (let r = 0; r < run.routers.count; r++) {
      const [x, y] = [picture.routers[2 * r]! - 500, picture.routers[2 * r + 1]! - 500]
      expect(distance(picture, r)).toBeGreaterThan(inner)
      expect(distance(picture, r)).toBeLessThan(outer)
      const angle = (Math.atan2(x, -y) + 2 * Math.PI) % (2 * Math.PI)
      const sector = sectors[run.routers.group[r]!]!
      expect(angle).toBeGreaterThan(sector.start)
      expect(angle).toBeLessThan(sector.end)
      seen.add(`${x.toFixed(2)} ${y.toFixed(2)}`)
    }
    expect(seen.size).toBe(1440)
  })

  test('dots do not touch, rows and columns are Edison’s 6 x 16', () => {
    let closest = Infinity
    for (let r = 1; r < 96; r++)
      for (let s = 0; s < r; s++)
        closest = Math.min(
          closest,
          Math.hypot(
            picture.routers[2 * r]! - picture.routers[2 * s]!,
            picture.routers[2 * r + 1]! - picture.routers[2 * s + 1]!,
          ),
        )
    expect(closest).toBeGreaterThan(2 * picture.routerRadius)
    expect(new Set(Array.from({ length: 96 }, (_, r) => distance(picture, r).toFixed(1))).size).toBe(6)
  })

  test('arcs start on the inner edge; no two coincide, not even parallel ones', () => {
    const seen = new Set<string>()
    for (let m = 0; m < 5040; m++) {
      const c = picture.curves.subarray(8 * m, 8 * m + 8)
      for (const [x, y] of [
        [c[0]!, c[1]!],
        [c[6]!, c[7]!],
      ] as const)
        expect(Math.hypot(x - 500, y - 500)).toBeCloseTo(picture.rings[0]!.inner, 2)
      seen.add([...c].map((v) => v.toFixed(2)).join())
    }
    expect(seen.size).toBe(5040)
  })

  test('both directions between groups are on their right side and do not coincide', () => {
    const source = 0
    const there = [...run.links.source.keys()].find(
      (l) => run.links.classes[run.links.class[l]!] === 'blue' && run.links.source[l] === source,
    )!
    const back = [...run.links.source.keys()].find(
      (l) => run.links.source[l] === run.links.target[there] && run.links.target[l] === source,
    )!
    const middle = (l: number): [number, number] => {
      const c = picture.curves.subarray(8 * picture.marks.ofLink[l]!, 8 * picture.marks.ofLink[l]! + 8)
      return [(c[0]! + 3 * c[2]! + 3 * c[4]! + c[6]!) / 8, (c[1]! + 3 * c[3]! + 3 * c[5]! + c[7]!) / 8]
    }
    const [a, b] = [middle(there), middle(back)]
    expect(Math.hypot(a[0] - b[0], a[1] - b[1])).toBeGreaterThan(5)
    // Right of the direction (dx, dy), with y downwards, is (-dy, dx).
    const c = picture.curves.subarray(8 * picture.marks.ofLink[there]!, 8 * picture.marks.ofLink[there]! + 8)
    const [dx, dy] = [c[6]! - c[0]!, c[7]! - c[1]!]
    expect((a[0] - b[0]) * -dy + (a[1] - b[1]) * dx).toBeGreaterThan(0)
  })

  test('groups of different sizes, unused and empty groups: each router has a place', () => {
    const sizes = [1, 40, 0, 7]
    const routers = sizes.flatMap((n, g) => Array.from({ length: n }, (_, i) => [g, i]))
    const wires: Wire[] = [{ source: 0, target: 47, class: 'global' }]
    const picture = radialPicture(
      makeRun({
        name: 'odd',
        shape: 'grouped',
        axes: ['group', 'router'],
        routers,
        groupOf: (c) => c[0]!,
        wires,
      }),
    )
    expect(picture.rings[0]!.sectors).toHaveLength(4)
    expect([...picture.routers].every(Number.isFinite)).toBe(true)
    const [one, forty] = picture.rings[0]!.sectors
    expect((forty!.end - forty!.start) / (one!.end - one!.start)).toBeGreaterThan(20)
  })

  test('single group: all links are arcs', () => {
    const wires = grid(5, 5)
      .filter(([a, b]) => a !== b)
      .map(([source, target]) => ({ source: source!, target: target!, class: 'local' }))
    const run = makeRun({
      name: 'graph',
      shape: 'graph',
      axes: [],
      routers: grid(5),
      groupOf: () => 0,
      wires,
    })
    expect(radialPicture(run).marks.count).toBe(20)
  })

  test('too many links are bundled by ordered group pair', () => {
    const groups = 70
    const wires: Wire[] = []
    for (let a = 0; a < groups; a++)
      for (let b = 0; b < groups; b++)
        for (let k = 0; k < (a === b ? 0 : 5); k++)
          wires.push({ source: a, target: b, class: 'global', parallel: k })
    const run = makeRun({
      name: 'wide',
      shape: 'grouped',
      axes: ['group', 'router'],
      routers: grid(groups, 1),
      groupOf: (c) => c[0]!,
      wires,
    })
    expect(wires.length).toBeGreaterThan(MARKS_MAX)
    const picture = radialPicture(run)
    expect(picture.marks.count).toBe(groups * (groups - 1))
    expect(picture.marks.offsets[1]).toBe(5)
    expect(picture.markNoun).toBe('pairs of groups')
  })
})

describe('fat tree', () => {
  test('leaves below spines, up links right of down links', () => {
    const picture = levelsPicture(fatTree(4, 2))
    const y = (r: number): number => picture.routers[2 * r + 1]!
    expect(Math.max(y(4), y(5))).toBeLessThan(Math.min(y(0), y(1), y(2), y(3)))
    expect(picture.marks.count).toBe(16)
    // Link 0 goes up, link 1 is its reverse.
    expect(picture.curves[0]!).toBeGreaterThan(picture.curves[8 + 6]!)
    expect(picture.labels.map((l) => l.text)).toEqual(['level 0', 'top (1)'])
  })
})

describe('matrices', () => {
  const run = edison({ jobs: ['j'], traffic: (l) => [l + 1] })
  const inside = interior(run)

  test('Aries: 6 rows of 16 x 16 and 16 columns of 6 x 6 per group', () => {
    expect(
      inside.families.map(({ title, size, lines, lineName, memberName }) => ({
        title,
        size,
        lines,
        lineName,
        memberName,
      })),
    ).toEqual([
      { title: 'green', size: 16, lines: 6, lineName: 'row', memberName: 'column' },
      { title: 'black', size: 6, lines: 16, lineName: 'column', memberName: 'row' },
    ])
    expect(inside.leftOut).toEqual([])
  })

  test('each link inside a group has a cell; parallel links share it; diagonals are empty', () => {
    const [green, black] = inside.families
    expect(green!.marks.links.length).toBe(21_600)
    expect(black!.marks.links.length).toBe(21_600)
    for (const { size, marks, lines } of inside.families)
      for (let c = 0; c < marks.count; c++) {
        const diagonal = Math.floor(c / size) % size === c % size
        expect(marks.offsets[c + 1]! - marks.offsets[c]!).toBe(diagonal ? 0 : lines === 6 ? 1 : 3)
      }
  })

  test('a canonical group has one matrix of all routers', () => {
    expect(interior(tiny()).families.map(({ title, size, lines }) => [title, size, lines])).toEqual([
      ['local', 2, 1],
    ])
  })

  test('a torus: one matrix per ring, along each axis', () => {
    const rings = interior(torus(4, 4, 2)).families
    expect(rings.map(({ title, size, lines }) => [title, size, lines])).toEqual([
      ['local x0', 4, 8],
      ['local x1', 4, 8],
      ['local x2', 2, 16],
    ])
    // 32 routers, two links each along each axis.
    expect(rings.map((family) => family.marks.links.length)).toEqual([64, 64, 64])
  })

  test('group by group: 24 links from each group to each other one', () => {
    const marks = groupMatrix(run)
    expect(marks.offsets[1]! - marks.offsets[0]!).toBe(2 * 1440)
    expect(marks.offsets[2]! - marks.offsets[1]!).toBe(24)
  })

  test.each([
    [470, 780],
    [284, 640],
    [900, 400],
  ])('in %i x %i pixels no two matrices overlap and none sticks out', (width, height) => {
    const panel = placeMatrices(run, inside, width, height)
    expect(panel.matrices).toHaveLength(1 + 15 * 22)
    for (const m of panel.matrices) {
      expect(m.x + m.size * m.cell).toBeLessThanOrEqual(width)
      expect(m.y + m.size * m.cell).toBeLessThanOrEqual(panel.height)
    }
    const taken = new Uint8Array(width * panel.height)
    let overlaps = 0
    for (const m of panel.matrices)
      for (let y = m.y; y < m.y + m.size * m.cell; y++)
        for (let x = m.x; x < m.x + m.size * m.cell; x++) {
          overlaps += taken[y * width + x]!
          taken[y * width + x] = 1
        }
    expect(overlaps).toBe(0)
  })

  test('hit testing returns the painted cell', () => {
    const panel = placeMatrices(run, inside, 470, 780)
    const matrix = panel.matrices[30]!
    const hit = cellAt(panel, matrix.x + 2 * matrix.cell + 0.5, matrix.y + 4 * matrix.cell + 0.5)!
    expect([hit.matrix, hit.row, hit.column]).toEqual([matrix, 4, 2])
    const marks = inside.families[matrix.family]!.marks
    const link = marks.links[marks.offsets[hit.cell]!]!
    expect(run.routers.group[run.links.source[link]!]).toBe(matrix.group)
    expect(cellAt(panel, 0, panel.height + 5)).toBeNull()
  })

  test('empty, filtered, loaded and missing links look different', () => {
    const run = edison({ jobs: ['j'], traffic: (l) => [l < 3 ? 0 : l] })
    const d = new RunModel(run).derive({ ...DEFAULTS, low: 7 })
    const families = interior(run)
    const source: CellSource = {
      groupMarks: groupMatrix(run),
      inside: families,
      values: d.values,
      selected: d.selection.selected,
      looks: d.selection.looks,
      step: d.selection.step,
      changed: d.selection.changed,
      shades: d.shades,
      aggregate: 'max',
      scale: d.scale,
      scales: [null, ...families.families].map(() => d.scale),
    }
    const looks = new Uint16Array(256)
    cellLooks(source, placeMatrices(run, families, 470, 780).matrices[1]!, looks)
    // Router 0's row: itself, links 0 to 2 without traffic, 3 to 6 below 7 bytes, then visible ones. Filtered
    // links keep their shade, dimmed.
    const dimmed = [3, 4, 5].map((v) => DIMMED + d.scale.shade(v))
    expect([...looks.subarray(0, 7)]).toEqual([NO_LINK, 0, 0, 0, ...dimmed])
    expect(looks[9]).toBe(d.scale.shade(8))
  })
})

describe('picking', () => {
  test('the nearest curve equals the result of an exhaustive search', () => {
    const next = random(9)
    const count = 300
    const curves = Float32Array.from({ length: 8 * count }, () => next() * 1000)
    const among = new Uint8Array(count).fill(1)
    const point = (m: number, t: number): [number, number] => {
      const u = 1 - t
      const w = [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t]
      return [0, 1].map((k) => w.reduce((sum, f, i) => sum + f * curves[8 * m + 2 * i + k]!, 0)) as [
        number,
        number,
      ]
    }
    for (let m = 0; m < 40; m++) {
      const [x, y] = point(m, next())
      const hit = nearestCurve(curves, among, x, y, 12)
      const gap = (c: number): number =>
        Math.min(
          ...Array.from({ length: 500 }, (_, i) =>
            Math.hypot(point(c, i / 499)[0] - x, point(c, i / 499)[1] - y),
          ),
        )
      // Chords of 1/24 of a curve deviate by some units, so a close second may win.
      expect(gap(hit)).toBeLessThan(8)
    }
    among.fill(0)
    expect(nearestCurve(curves, among, 500, 500, 1000)).toBe(-1)
  })

  test('finds the nearest router within reach', () => {
    const points = Float32Array.of(0, 0, 10, 0, NaN, NaN)
    expect(nearestPoint(points, 8, 1, 5)).toBe(1)
    expect(nearestPoint(points, 50, 50, 5)).toBe(-1)
  })
})

test('above the limit, exactly the largest marks are drawn', () => {
  const next = random(11)
  const values = Float64Array.from({ length: 30_000 }, (_, i) => (i < 5000 ? 0 : Math.ceil(next() * 50)))
  const drawn = visibleMarks({ values, selected: new Uint32Array(30_000).fill(1) })
  expect([drawn.wanted, drawn.drawn]).toEqual([25_000, MARKS_MAX])
  expect(drawn.visible.reduce((n, v) => n + v, 0)).toBe(MARKS_MAX)
  const shown = values.filter((_, m) => drawn.visible[m] === 1)
  const hidden = values.filter((v, m) => drawn.visible[m] === 0 && v > 0)
  expect(Math.min(...shown)).toBeGreaterThanOrEqual(Math.max(...hidden))
})

test('the SVG pen writes what a canvas would draw', () => {
  const pen = new SvgPen(100, 50)
  pen.save()
  pen.translate(10, 0)
  pen.beginPath()
  pen.rect(1, 2, 3, 4)
  pen.fillStyle = '#ff0000'
  pen.fill()
  pen.restore()
  pen.beginPath()
  pen.moveTo(60, 50)
  pen.arc(50, 50, 10, 0, 2 * Math.PI)
  pen.stroke()
  pen.fillText('<a & "b">', 1, 2)
  expect(pen.toString())
    .toBe(`<svg xmlns="http://www.w3.org/2000/svg" width="100" height="50" viewBox="0 0 100 50" font-family="system-ui, sans-serif">
<g transform="translate(10 0)">
<path d="M1 2h3v4h-3Z" fill="#ff0000"/>
</g>
<path d="M60 50L60 50A10 10 0 0 1 40 50A10 10 0 0 1 60 50" fill="none" stroke="#000" stroke-width="1"/>
<text x="1" y="2" font-size="12" text-anchor="start" fill="#000">&lt;a &amp; &quot;b&quot;&gt;</text>
</svg>
`)
})
