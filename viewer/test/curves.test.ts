import { expect, test } from 'vitest'
import { FIRST_SHADE, SHADES } from '../src/data/scale'
import { BUCKETS, drawCurves } from '../src/draw/curves'
import { holeOf } from '../src/draw/cells'
import { looksFor } from '../src/draw/look'
import type { Pen } from '../src/draw/pen'

/** Records every fill and stroke with colour, width and curves. */
function recorder() {
  let path: number[][] = []
  let at: number[] = []
  const done: { kind: string; color: string; width: number; path: number[][] }[] = []
  const pen = {
    lineWidth: 0,
    fillStyle: '',
    strokeStyle: '',
    globalAlpha: 1,
    beginPath: () => void (path = []),
    moveTo: (x: number, y: number) => void (at = [x, y]),
    lineTo: (x: number, y: number) => void (at = [x, y]),
    bezierCurveTo: (...points: number[]) => {
      path.push([...at, ...points])
      at = points.slice(4)
    },
    setLineDash: () => {},
    fill: () => void done.push({ kind: 'fill', color: pen.fillStyle, width: 0, path }),
    stroke: () => void done.push({ kind: 'stroke', color: pen.strokeStyle, width: pen.lineWidth, path }),
  }
  return { pen: pen as unknown as Pen, done }
}

const colors = Array.from({ length: FIRST_SHADE + SHADES }, (_, i) => `shade ${i}`)
const looks = { ...looksFor('light', '', false), colors }
const signed = { ...looksFor('light', '', true), colors }
const scene = (buckets: number[], drawn = buckets.length, diverging = false) => ({
  buckets: Uint8Array.from(buckets),
  drawn,
  diverging,
  looks,
})
const CURVE = [0, 0, 0, 30, 90, 30, 90, 0]
const picture = (curves: number[], taper: readonly [number, number], ring = false) => ({
  curves: Float32Array.from(curves),
  taper,
  stub: null,
  rings: (ring ? [{}] : []) as never,
})

/** B(t) by definition. */
const at = (c: number[], t: number): [number, number] => {
  const w = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3]
  return [0, 1].map((axis) => w.reduce((sum, v, i) => sum + v * c[2 * i + axis]!, 0)) as [number, number]
}

test('a curve thinner than a pixel is stroked in pieces of decreasing width', () => {
  const { pen, done } = recorder()
  drawCurves(pen, picture(CURVE, [0.8, 0.2]), scene([1]), 1)
  expect(done.map(({ kind }) => kind)).toEqual(['stroke', 'stroke', 'stroke'])
  const widths = done.map(({ width }) => width)
  // Taper at the middle of each third.
  ;[0.7, 0.5, 0.3].forEach((width, i) => expect(widths[i]).toBeCloseTo(width, 9))
  done.forEach(({ path }, i) => {
    expect(path).toHaveLength(1)
    for (const part of [0, 0.25, 0.5, 0.75, 1]) {
      const [x, y] = at(path[0]!, part)
      const [wantX, wantY] = at(CURVE, (i + part) / 3)
      expect(x).toBeCloseTo(wantX, 5)
      expect(y).toBeCloseTo(wantY, 5)
    }
  })
})

test('wider curves are ribbons, unless a ring has thousands of arcs', () => {
  const kinds = (taper: readonly [number, number], pixel: number, drawn: number, ring: boolean) => {
    const { pen, done } = recorder()
    drawCurves(pen, picture(CURVE, taper, ring), scene([1], drawn), pixel)
    for (const { kind, width } of done) if (kind === 'stroke') expect(width).toBeLessThan(pixel)
    return [...new Set(done.map(({ kind }) => kind))].join()
  }
  expect(kinds([1.6, 0.5], 1.6, 1, true)).toBe('stroke')
  // The same at double resolution.
  expect(kinds([1.6, 0.5], 0.8, 1, true)).toBe('fill')
  expect(kinds([2.6, 0.7], 1, 4000, true)).toBe('fill')
  expect(kinds([2.6, 0.7], 1, 4001, true)).toBe('stroke')
  expect(kinds([2.6, 0.7], 1, 4001, false)).toBe('fill')
})

test('each mark is drawn once in its colour, large values last', () => {
  const marks = 1000
  const buckets = Array.from({ length: marks }, (_, m) => (m * 7) % (BUCKETS + 1))
  const curves = Array.from({ length: marks }, (_, m) => [10 * m, 0, 10 * m, 1, 10 * m, 2, 10 * m, 3]).flat()
  for (const [taper, copies] of [
    [[0.5, 0.1], 3],
    [[3, 1], 2],
  ] as const) {
    const { pen, done } = recorder()
    drawCurves(pen, picture(curves, taper), scene(buckets), 1)
    const drawnOf = new Map<number, string[]>()
    for (const { color, path } of done)
      for (const curve of path) {
        const mark = Math.round((curve[0]! + curve[6]!) / 20)
        drawnOf.set(mark, [...(drawnOf.get(mark) ?? []), color])
      }
    buckets.forEach((bucket, m) => {
      if (bucket === 0) return expect(drawnOf.has(m)).toBe(false)
      const shade = FIRST_SHADE + Math.floor(((bucket - 0.5) * SHADES) / BUCKETS)
      expect(drawnOf.get(m)).toEqual(Array.from({ length: copies }, () => `shade ${shade}`))
    })
    const order = done.map(({ color }) => Number(color.split(' ')[1]))
    expect(order).toEqual([...order].sort((a, b) => a - b))
  }
})

test('decreases differ without colour: hollow ribbons, interrupted lines', () => {
  const [less, more] = [1, BUCKETS]
  const of = (bucket: number, taper: readonly [number, number]) => {
    const { pen, done } = recorder()
    drawCurves(pen, picture(CURVE, taper), { ...scene([bucket], 1, true), looks: signed }, 1)
    return done
  }
  const { background } = signed.palette
  expect(of(less, [4, 2]).map(({ color }) => color === background)).toEqual([false, true])
  expect(of(more, [4, 2]).map(({ color }) => color === background)).toEqual([false])
  const ends = (bucket: number): number[][] =>
    of(bucket, [0.8, 0.4]).map(({ path }) => [path[0]![0]!, path[0]![6]!])
  const gaps = (bucket: number): number[] => {
    const pieces = ends(bucket)
    return pieces.slice(1).map(([from], i) => from! - pieces[i]![1]!)
  }
  for (const gap of gaps(less)) expect(gap).toBeGreaterThan(3)
  for (const gap of gaps(more)) expect(gap).toBeCloseTo(0)
})

test('cells of decreases are hollow, unless they are too small', () => {
  const [less, more] = [FIRST_SHADE + 10, FIRST_SHADE + SHADES - 10]
  expect([signed.hollow[less], signed.hollow[more]]).toEqual([1, 0])
  expect(looks.hollow.some((one) => one === 1)).toBe(false)
  for (const cell of [3, 4, 7, 12]) {
    const { from, size } = holeOf(cell)
    expect(from).toBeGreaterThan(0)
    expect(from + size).toBeLessThan(cell)
  }
})
