import { expect, test } from 'vitest'
import { directionsOf, directionStats } from '../src/data/direction'
import { resolveFocus, search } from '../src/data/focus'
import { tiny, torus } from './machines'

const run = torus(4, 3, 1)

/** Ring rule: one step up is +, also around the end. */
const nameOf = (l: number): string => {
  const [s, t] = [run.links.source[l]!, run.links.target[l]!]
  return run.routers.axes
    .map(({ name, size, values }) => [name, (values[t]! - values[s]! + size) % size, size] as const)
    .filter(([, step]) => step > 0)
    .map(([name, step, size]) => `${name}${step === 1 ? '+' : step === size - 1 ? '−' : '?'}`)
    .join()
}

test('each torus link has an axis and sign, including wraparound links', () => {
  expect(directionsOf(run).map(({ name }) => name)).toEqual(['x0+', 'x0−', 'x1+', 'x1−'])
  const values = Float64Array.from({ length: run.links.count }, (_, l) => (l % 7) - 2)
  const all = directionStats(run, values)
  for (const { name, links, mean, largest } of all) {
    const those = [...values].filter((_, l) => nameOf(l) === name)
    expect(links).toBe(12)
    expect(those).toHaveLength(12)
    expect(mean).toBeCloseTo(those.reduce((sum, v) => sum + v, 0) / 12, 12)
    expect(Math.abs(largest)).toBe(Math.max(...those.map(Math.abs)))
  }
  const moving = [...Array(run.links.count).keys()].filter((l) => nameOf(l) !== '')
  expect(all.reduce((sum, { links }) => sum + links, 0)).toBe(moving.length)
})

test('a direction focus keeps only its links', () => {
  for (const { name } of directionsOf(run)) {
    const focus = resolveFocus(run, `direction:${name}`)!
    expect([...focus.mask!]).toEqual(Array.from({ length: run.links.count }, (_, l) => +(nameOf(l) === name)))
  }
  expect(resolveFocus(run, 'direction:x0-')!.mask).toEqual(resolveFocus(run, 'direction:x0−')!.mask)
  expect(resolveFocus(run, 'direction:x2+')).toBeNull()
  expect(
    search(run, 'X1')
      .map(({ focus }) => focus)
      .slice(0, 2),
  ).toEqual(['direction:x1+', 'direction:x1−'])
})

test('other machines have no directions', () => {
  expect(directionStats(tiny(), new Float64Array(tiny().links.count))).toEqual([])
  expect(resolveFocus(tiny(), 'direction:x0+')).toBeNull()
})
