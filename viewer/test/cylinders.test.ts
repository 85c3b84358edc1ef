import { describe, expect, test } from 'vitest'
import { parseProjection, projectionOptions } from '../src/data/projection'
import { cylindersPicture, rolesOf, shellOf, type Role } from '../src/layout/cylinders'
import { torusPicture } from '../src/layout/torus'
import { torus } from './machines'

const counts = (sizes: number[], words: string): Record<Role, number> => {
  const run = torus(...sizes)
  const roles = rolesOf(
    run,
    parseProjection(
      words,
      run.routers.axes.map(({ name }) => name),
    )!,
  )
  const found = { radial: 0, concentric: 0, stub: 0 }
  for (const role of roles) found[role]++
  return found
}

describe('cylinders', () => {
  test('4 x 4 x 4 by hand', () => {
    // Along the view: 3 of 4 links of each of 16 columns, in both directions; in each plane a ring of 12 and
    // one of 4. Stubs: 16 columns around their ends; in each plane 8 between rings and 8 around the ends.
    expect(counts([4, 4, 4], 'cylinders:x2')).toEqual({
      radial: 2 * 3 * 16,
      concentric: 2 * 4 * (12 + 4),
      stub: 2 * 16 + 2 * 4 * 16,
    })
  })

  test('all 6,144 links of 8 x 8 x 16 have a role, and the reading counts them', () => {
    const found = counts([8, 8, 16], 'cylinders:x2')
    expect(found).toEqual({ radial: 2 * 15 * 64, concentric: 2 * 16 * (28 + 20 + 12 + 4), stub: 2176 })
    expect(found.radial + found.concentric + found.stub).toBe(6144)
    expect(torusPicture(torus(8, 8, 16), 'cylinders:x2').reading).toContain(
      'View along x2. Of 6,144 links, 1,920 along it are radial, 2,048 follow a side of their square, 2,176 are dashed stubs',
    )
  })

  test.each([
    [[4, 4, 4], 'cylinders:x0'],
    [[5, 3, 4], 'cylinders:x1'],
    [[1, 4, 3], 'cylinders:x2'],
    [[2, 2, 3, 2, 2], 'slices:x0,x1,x2'],
    [[3, 4, 2, 3], 'slices:x1,x3,x0'],
  ])('%j seen as %s: a mark for every link, a place for every router, none twice', (sizes, words) => {
    const run = torus(...sizes)
    const { marks, curves, routers, stub } = torusPicture(run, words)
    expect([...marks.links].sort((a, b) => a - b)).toEqual([...Array(run.links.count).keys()])
    const points = (values: Float32Array, from: number, size: number): string =>
      Array.from(values.subarray(from, from + size), (v) => v.toFixed(1)).join()
    const drawn = Array.from({ length: marks.count }, (_, m) => points(curves, 8 * m, 8))
    expect(new Set(drawn).size).toBe(marks.count)
    const places = Array.from({ length: run.routers.count }, (_, r) => points(routers, 2 * r, 2))
    expect(new Set(places).size).toBe(run.routers.count)
    const { stub: stubs } = counts(sizes, words)
    expect([...marks.ofLink].filter((mark) => stub![mark] === 1).length).toBe(stubs)
  })

  test('links along the view are radial', () => {
    const run = torus(4, 4, 6)
    const projection = parseProjection('cylinders:x2', ['x0', 'x1', 'x2'])!
    const { routers } = cylindersPicture(run, projection)
    const { width, height } = { width: 1000, height: 1000 }
    const roles = rolesOf(run, projection)
    let middle: [number, number] | null = null
    roles.forEach((role, l) => {
      if (role !== 'radial') return
      const [s, t] = [run.links.source[l]!, run.links.target[l]!]
      const [a, b] = [s, t].map((r) => [routers[2 * r]!, routers[2 * r + 1]!])
      // The lines of a column and of the opposite one meet in the centre.
      middle ??= [0, 1].map((i) => {
        const all = Array.from(routers).filter((_, k) => k % 2 === i)
        return (Math.min(...all) + Math.max(...all)) / 2
      }) as [number, number]
      const cross = (a![0]! - middle[0]) * (b![1]! - middle[1]) - (a![1]! - middle[1]) * (b![0]! - middle[0])
      expect(Math.abs(cross) / (width * height)).toBeLessThan(1e-5)
    })
    expect(middle).not.toBeNull()
  })

  test('the shell is the distance from the outline of the plane', () => {
    const run = torus(4, 4, 2)
    const [across, down] = run.routers.axes
    const shells = Array.from({ length: 16 }, (_, i) => {
      const r = [...Array(run.routers.count).keys()].find(
        (k) => across!.values[k] === i % 4 && down!.values[k] === Math.floor(i / 4),
      )!
      return shellOf({ across: across!, down: down! }, r)
    })
    expect(shells.join('')).toBe('0000011001100000')
  })
})

describe('the projection setting', () => {
  test.each([
    ['', { kind: 'planes', across: 0, down: 1, along: -1 }],
    ['Y,Z', { kind: 'flat', across: 1, down: 2, along: -1 }],
    ['slices:X,Z', { kind: 'planes', across: 0, down: 2, along: -1 }],
    ['cylinders:Y', { kind: 'cylinders', across: 0, down: 2, along: 1 }],
    ['cylinders:X,Y', null],
    ['slices:X,Y,Z', null],
    ['slices:X,X', null],
    ['cones:X', null],
    ['X,W', null],
  ])('%s', (words, meaning) => {
    expect(parseProjection(words, ['X', 'Y', 'Z'])).toEqual(meaning)
  })

  test('all offered projections are valid', () => {
    for (const axes of [
      ['X', 'Y', 'Z'],
      ['A', 'B', 'C', 'D', 'E'],
    ]) {
      const options = projectionOptions(axes)
      expect(new Set(options.map(({ value }) => value)).size).toBe(options.length)
      for (const { value } of options) expect(parseProjection(value, axes)).not.toBeNull()
    }
    expect(projectionOptions(['X', 'Y'])).toEqual([])
  })
})
