/** Pictures of tori. */
import { describe, expect, test } from 'vitest'
import { aggregateMarks } from '../src/data/aggregate'
import { accountOf, accountText, visibleMarks } from '../src/draw/account'
import { torusPicture } from '../src/layout/torus'
import { moveOf } from '../src/data/direction'
import { axisPairs } from '../src/data/projection'
import { dump } from './dump'
import { torus } from './machines'

describe('torus', () => {
  test('4 x 4 x 4: 384 links; 2 * 2 * 4 * 3 segments in each of 4 planes, the others are stubs', () => {
    const picture = torusPicture(torus(4, 4, 4), '')
    expect(picture.marks.count).toBe(384)
    expect(picture.frames).toHaveLength(4)
    expect(picture.stub!.filter((s) => s === 0).length).toBe(192)
  })

  test('projected onto two axes: one plane with 2 * 2 * 16 directions, each with the links of four planes', () => {
    const run = torus(4, 4, 4)
    expect(axisPairs(run.routers.axes.map(({ name }) => name))).toEqual(['x0,x1', 'x0,x2', 'x1,x2'])
    const picture = torusPicture(run, 'x0,x2')
    expect(picture.frames).toHaveLength(1)
    // And both half rings of each place, for the links along x1.
    expect(picture.marks.count).toBe(64 + 2 * 16)
    expect(picture.marks.offsets[1]).toBe(4)
    expect(picture.marks.links.length).toBe(6 * 64)
  })

  test.each([
    [4, 4, 4],
    [2, 3, 5],
    [3, 3, 2, 4],
    [2, 2, 3, 2, 2],
  ])(
    'every link has its mark in every projection of %j, and no two marks lie over each other',
    (...sizes) => {
      const run = torus(...sizes)
      for (const axes of axisPairs(run.routers.axes.map(({ name }) => name))) {
        const { marks, curves, routers, stacks } = torusPicture(run, axes)
        expect([...marks.links].sort((a, b) => a - b)).toEqual(
          Array.from({ length: run.links.count }, (_, l) => l),
        )
        const places = Array.from({ length: marks.count }, (_, m) =>
          Array.from(curves.subarray(8 * m, 8 * m + 8), (v) => v.toFixed(1)).join(),
        )
        expect(new Set(places).size).toBe(marks.count)
        // All jobs of a shared place are shown.
        expect(stacks!.members.flat().sort((a, b) => a - b)).toEqual([...Array(routers.length / 2).keys()])
      }
    },
  )

  test('links along the hidden axis: + right half of the ring, − left half', () => {
    const run = torus(3, 3, 4)
    const { marks, curves, routers } = torusPicture(run, 'x0,x1')
    const z = run.routers.axes[2]!.values
    for (let l = 0; l < run.links.count; l++) {
      const [s, t] = [run.links.source[l]!, run.links.target[l]!]
      if (z[s] === z[t]) continue
      const up = (z[s]! + 1) % 4 === z[t]
      // The middle control points are on the side of the edge.
      const at = 8 * marks.ofLink[l]! + 2
      expect(curves[at]! > routers[2 * s]!).toBe(up)
    }
  })

  test('drawn, smaller, empty and filtered links sum to all links', () => {
    const run = torus(4, 4, 4)
    const values = Float64Array.from({ length: run.links.count }, (_, l) => l % 5)
    const selected = Uint8Array.from({ length: run.links.count }, (_, l) => (l % 7 === 0 ? 0 : 1))
    const picture = torusPicture(run, 'x0,x1')
    const marks = aggregateMarks(picture.marks, values, selected, 'max')
    const drawn = visibleMarks(marks, 40)
    const account = accountOf(picture, marks, drawn, { values, selected })
    expect(Object.values(account).reduce((sum, n) => sum + n, 0)).toBe(384)
    expect(account.filtered).toBe(55)
    expect(account.empty).toBe(values.filter((v, l) => v === 0 && selected[l] === 1).length)
    const inDrawn = values.filter(
      (v, l) => v > 0 && selected[l] === 1 && drawn.visible[picture.marks.ofLink[l]!],
    )
    expect(account.drawn).toBe(inDrawn.length)
    const said = accountText(account, picture, false)
    expect(said).toBe(
      `. All 384 links: ${account.drawn} drawn, ${account.weaker} with smaller values, ${account.empty} without traffic, 55 filtered out`,
    )
  })

  test.each(['', 'slices:x0,x2', 'slices:x1,x2'])(
    'two cables of a dimension of size two are side by side in %j',
    (projection) => {
      const run = torus(2, 3, 4)
      const { marks, curves } = torusPicture(run, projection)
      const places = Array.from({ length: marks.count }, (_, m) =>
        Array.from(curves.subarray(8 * m, 8 * m + 8), (v) => v.toFixed(1)).join(),
      )
      expect(marks.count).toBe(run.links.count)
      expect(new Set(places).size).toBe(marks.count)
    },
  )

  test.each([[17, 3], [17, 2, 2], [3, 20], [2, 3, 18], [24]])(
    'above 16 routers per side, routers are cells and links are edges (%s, %s, %s)',
    (...sizes) => {
      const run = torus(...sizes)
      const wide = sizes.findIndex((size) => size > 16)
      const other = wide === 0 ? 1 : 0
      const projection = sizes.length < 3 ? '' : `slices:x${Math.min(wide, other)},x${Math.max(wide, other)}`
      const picture = torusPicture(run, projection)
      expect(picture.reading).toContain('A cell is a router')
      const { marks, curves, routers, stub, taper } = picture
      expect(taper[0]).toBe(taper[1])
      expect(marks.count).toBe(run.links.count)
      const step = (picture.frames[0]!.width * 1) / run.routers.axes[Math.min(wide, other)]!.size
      const places = new Set<string>()
      for (let l = 0; l < run.links.count; l++) {
        const [s, t] = [run.links.source[l]!, run.links.target[l]!]
        const { axis, sign } = moveOf(run, s, t)
        const c = curves.subarray(8 * marks.ofLink[l]!, 8 * marks.ofLink[l]! + 8)
        const [x, y] = [c[0]! + c[6]! - 2 * routers[2 * s]!, c[1]! + c[7]! - 2 * routers[2 * s + 1]!]
        places.add(Array.from(c, (v) => v.toFixed(1)).join())
        // The stub stays inside its cell.
        for (let i = 0; i < 8; i++) expect(Math.abs(c[i]! - routers[2 * s + (i % 2)]!)).toBeLessThan(step / 2)
        if (axis === Math.min(wide, other)) expect([stub![marks.ofLink[l]!], Math.sign(x)]).toEqual([0, sign])
        else if (axis === Math.max(wide, other))
          expect([stub![marks.ofLink[l]!], Math.sign(y)]).toEqual([0, sign])
        else expect(stub![marks.ofLink[l]!]).toBe(1)
      }
      expect(places.size).toBe(run.links.count)
    },
  )

  test('a ring of three routers', () => {
    expect(dump(torusPicture(torus(3), ''))).toMatchInlineSnapshot(`
      "router 0 at 208,208
      router 1 at 500,208
      router 2 at 792,208
      links 0 from 266,237 to 442,237
      links 1 from 150,179 to 68,179 stub
      links 2 from 558,237 to 734,237
      links 3 from 442,179 to 266,179
      links 4 from 850,237 to 932,237 stub
      links 5 from 734,179 to 558,179
      label x0 → at 938,57"
    `)
  })

  test('five dimensions: each router has its own place', () => {
    const picture = torusPicture(torus(2, 2, 3, 2, 2), '')
    const places = new Set(
      Array.from(
        { length: 48 },
        (_, r) => `${picture.routers[2 * r]!.toFixed(1)} ${picture.routers[2 * r + 1]!.toFixed(1)}`,
      ),
    )
    expect(places.size).toBe(48)
    for (const v of picture.routers) expect(v).toBeGreaterThan(0)
    for (const v of picture.routers) expect(v).toBeLessThan(1001)
  })
})
