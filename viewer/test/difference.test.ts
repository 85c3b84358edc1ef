import { describe, expect, test } from 'vitest'
import { changedGroup } from '../src/data/changes'
import { describeLinks } from '../src/data/describe'
import { DifferenceModel, RunModel } from '../src/data/model'
import { linkName } from '../src/data/run'
import { DEFAULTS } from '../src/data/state'
import { edisonDescription, makeRun, tiny } from './machines'

test('a difference inside groups names the group that changed most; one between groups none', () => {
  const run = makeRun({ ...edisonDescription(), jobs: ['j'], traffic: () => [1] })
  const { source, target, count } = run.links
  const groups = (l: number) => [source, target].map((end) => run.routers.group[end[l]!]!)
  const values = new Float64Array(count)
  for (let l = 0; l < count; l++) {
    const [from, to] = groups(l)
    if (from === to && from === 3) values[l] = -2
  }
  expect(changedGroup({ run, values })).toBe(3)
  for (let l = 0; l < count; l++) if (groups(l)[0] !== groups(l)[1]) values[l] = 9
  expect(changedGroup({ run, values })).toBe(-1)
})

describe('differences', () => {
  const full = edisonDescription()
  const traffic = (l: number) => [l % 7]
  const base = makeRun({ ...full, jobs: ['j'], traffic })
  const kept = full.wires
    .map((w, l) => ({ w, l }))
    .filter(({ w }) => !(w.class === 'black' && w.parallel === 2))
  const fewer = makeRun({
    ...full,
    wires: kept.map(({ w }) => w),
    jobs: ['j'],
    traffic: (l) => [2 * (kept[l]!.l % 7)],
  })

  const blackBundles = 15 * 16 * 30

  test('cables are paired; removed cables are separate, remaining ones carry more', () => {
    const model = new DifferenceModel(new RunModel(base), new RunModel(fewer))
    const { cables, unplaced } = model.difference
    // -K: 15 groups x 16 columns x 30 ordered pairs of rows lose one link each.
    expect([cables.removed, cables.added, unplaced]).toEqual([blackBundles, 0, 0])
    expect(model.run.links.count).toBe(48_240 - blackBundles)
    const values = model.values(DEFAULTS)
    kept.forEach(({ l, w }, i) => {
      expect(linkName(model.run, i)).toBe(linkName(base, l))
      expect(values[i]).toBe(l % 7)
      if (w.class === 'black') expect(values[i]).toBeGreaterThanOrEqual(0)
    })
    const gone = full.wires
      .map((w, l) => ({ w, l }))
      .filter(({ w }) => w.class === 'black' && w.parallel === 2)
    expect([...model.cableValues(DEFAULTS)]).toEqual(gone.map(({ l }) => l % 7))
    expect(linkName(cables.run, 0)).toMatch(/:black\.2$/)
  })

  test('cables of only the other run are added', () => {
    const model = new DifferenceModel(new RunModel(fewer), new RunModel(base))
    const { cables } = model.difference
    expect([cables.removed, cables.added]).toEqual([0, blackBundles])
    expect(model.run.links.count).toBe(fewer.links.count)
    expect(linkName(cables.run, 0)).toMatch(/:black\.2$/)
    expect(model.cableValues(DEFAULTS)[0]).toBe(
      full.wires.findIndex((w) => w.class === 'black' && w.parallel === 2) % 7,
    )
  })

  test('bundle pairing compares totals and loses no traffic', () => {
    const model = new DifferenceModel(new RunModel(base), new RunModel(fewer), 'bundle')
    expect(model.difference.cables.run.links.count).toBe(0)
    const d = model.derive({ ...DEFAULTS, pairing: 'bundle' })
    const sum = (values: Float64Array): number => values.reduce((total, v) => total + v, 0)
    const total = (run: typeof base): number => sum(run.measures[0]!.total)
    expect(sum(d.values)).toBe(total(fewer) - total(base))
    const black = d.run.links.classes.indexOf('black')
    const l = d.run.links.class.indexOf(black)
    expect(d.sides.map((side) => side.cables[l])).toEqual([3, 2])
    expect(
      describeLinks(d, [l], '')
        .rows.map(([, value]) => value)
        .slice(-2),
    ).toEqual([`${d.sides[0]!.values[l]} B on 3 cables`, `${d.sides[1]!.values[l]} B on 2 cables`])
  })

  test('renumbered cables stay paired, except the removed one', () => {
    const wire = (parallel: number) => ({ source: 0, target: 1, class: 'k', parallel })
    const of = (numbers: number[]) =>
      tiny({ wires: numbers.map(wire), jobs: ['j'], traffic: (l) => [10 * (numbers[l]! + 1)] })
    const model = new DifferenceModel(new RunModel(of([0, 1, 2])), new RunModel(of([1, 3])))
    expect(model.difference.cables.removed).toBe(1)
    // .1 pairs with itself, .0 with the rest, .3; .2 has no partner.
    expect([...model.values(DEFAULTS)]).toEqual([30, 0])
    expect([...model.cableValues(DEFAULTS)]).toEqual([30])
  })

  test('a run compared with itself has no change', () => {
    const model = new DifferenceModel(new RunModel(base), new RunModel(base))
    expect(model.values(DEFAULTS).every((v) => v === 0)).toBe(true)
  })
})

describe('ratios', () => {
  const run = (traffic: readonly number[]) =>
    tiny({
      wires: traffic.map((_, parallel) => ({ source: 0, target: 1, class: 'k', parallel })),
      jobs: ['j'],
      traffic: (l) => [traffic[l]!],
    })
  const RATIO = { ...DEFAULTS, change: 'ratio' } as const
  const model = (before: readonly number[], after: readonly number[]): DifferenceModel =>
    new DifferenceModel(new RunModel(run(before)), new RunModel(run(after)))

  test('are log2: 0 for no change, clamped from and to zero', () => {
    const d = model([1, 8, 5, 0, 3, 0, 1], [4, 1, 5, 0, 0, 7, 1e9]).derive(RATIO)
    expect([...d.values]).toEqual([2, -3, 0, 0, -10, 10, 10])
    expect([d.measure.unit, d.measure.merge, d.signed]).toEqual(['doublings', 'mean', true])
    const said = describeLinks(d, [1], '').rows
    expect(said).toContainEqual(['Traffic, factor', '÷8'])
    // Both runs keep their own unit.
    expect(said.slice(-2).map(([, value]) => value)).toEqual(['8 B', '1 B'])
  })

  test('of bundles use sums', () => {
    const pair = new DifferenceModel(new RunModel(run([1, 3])), new RunModel(run([8, 8])), 'bundle')
    expect([...pair.values({ ...RATIO, pairing: 'bundle' })]).toEqual([2])
  })

  test('swapping the runs inverts the ratios', () => {
    const [a, b] = [
      [1, 7, 0, 12],
      [5, 2, 3, 12],
    ] as const
    const there = model(a, b).values(RATIO)
    expect([...model(b, a).values(RATIO)].map((v) => -v + 0)).toEqual([...there].map((v) => v + 0))
  })

  test('ratios from or to zero do not stretch the colours', () => {
    const { scale } = model([1, 8, 5, 0, 3], [4, 1, 5, 9, 0]).derive(RATIO)
    expect([scale.low, scale.high]).toEqual([-3, 3])
    expect(scale.shade(10)).toBe(scale.shade(3))
    expect(scale.shade(2)).not.toBe(scale.shade(3))
    // If all ratios are infinite, they are coloured.
    expect(model([0, 5], [5, 5]).derive(RATIO).scale.high).toBe(10)
    expect(model([1], [1]).derive(RATIO).values[0]).toBe(0)
  })

  test('switching back gives differences', () => {
    const both = model([1, 8], [4, 1])
    expect([...both.values(RATIO)]).toEqual([2, -3])
    expect([...both.values(DEFAULTS)]).toEqual([3, -7])
    expect(both.derive(DEFAULTS).measure.unit).toBe('bytes')
  })
})
