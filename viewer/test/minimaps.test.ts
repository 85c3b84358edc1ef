import { describe, expect, test } from 'vitest'
import { projectionFor } from '../src/data/projection'
import { minimaps } from '../src/layout/minimaps'
import { torus } from './machines'

describe('minimaps', () => {
  test('show the mean of the selected outgoing links of each place', () => {
    const run = torus(2, 2, 2)
    const values = Float64Array.from({ length: run.links.count }, (_, l) => run.links.source[l]!)
    const all = new Uint8Array(run.links.count).fill(1)
    const maps = minimaps(run, values, all)
    expect(maps.map(({ pair }) => pair)).toEqual(['x0,x1', 'x0,x2', 'x1,x2'])
    for (const { across, down, columns, rows, links, means } of maps) {
      expect([columns, rows]).toEqual([2, 2])
      const axis = (name: string) => run.routers.axes.find((one) => one.name === name)!.values
      for (let i = 0; i < 4; i++) {
        const here = [...Array(run.routers.count).keys()].filter(
          (r) => axis(across)[r] === i % 2 && axis(down)[r] === Math.floor(i / 2),
        )
        const leaving = [...run.links.source].filter((s) => here.includes(s))
        expect(links[i]).toBe(leaving.length)
        expect(means[i]).toBeCloseTo(leaving.reduce((sum, s) => sum + s, 0) / leaving.length)
      }
    }
    expect(minimaps(run, values, new Uint8Array(run.links.count))[0]!.means).toEqual(new Float64Array(4))
  })

  test('select the projection of their axes in the current style', () => {
    const axes = ['X', 'Y', 'Z']
    expect(projectionFor('', 'X,Z', axes)).toBe('cylinders:Y')
    expect(projectionFor('X,Y', 'X,Z', axes)).toBe('X,Z')
    expect(projectionFor('cylinders:Z', 'Y,Z', axes)).toBe('cylinders:X')
    expect(projectionFor('', 'B,D', ['A', 'B', 'C', 'D', 'E'])).toBe('slices:B,D')
    expect(projectionFor('slices:A,B,C', 'B,D', ['A', 'B', 'C', 'D', 'E'])).toBe('slices:B,D,A')
  })
})
