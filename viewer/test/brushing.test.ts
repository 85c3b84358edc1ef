/** Incremental updates of a brush move equal a full pass. */
import { describe, expect, test } from 'vitest'
import { aggregateMarks, markScale, marksFrom, updateMarks } from '../src/data/aggregate'
import { Brushing } from '../src/data/brushing'
import { RunModel, type DerivedRun } from '../src/data/model'
import { EMPTY, SHADES } from '../src/data/scale'
import { selectLinks, type Filter, type Selection } from '../src/data/selection'
import { DEFAULTS, type Aggregate } from '../src/data/state'
import { CellPainter } from '../src/draw/cellpainter'
import { colorScale, shadeAll } from '../src/data/scale'
import { holeOf, type CellSource } from '../src/draw/cells'
import { looksFor } from '../src/draw/look'
import { groupMatrix, interior, placeMatrices } from '../src/layout/matrices'
import { edison, random } from './machines'

const LINKS = 2000
const CLASSES = 3

/** Various values: many ties, all decades, both signs. */
const KINDS: Record<string, (next: () => number) => number> = {
  quantized: (next) => Math.floor(next() * 12) * 65536,
  decades: (next) => (next() < 0.2 ? 0 : 10 ** (next() * 18 - 6)),
  signed: (next) => (next() - 0.5) * 1e6,
  equal: () => 42,
}

/** Comparing hundreds of arrays element by element would take minutes. */
const bytes = (array: ArrayBufferView): Buffer =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength)
const same = (a: ArrayBufferView, b: ArrayBufferView): boolean => bytes(a).equals(bytes(b))

const copy = (s: Selection): Selection => ({ ...s, looks: s.looks.slice(), selected: s.selected.slice() })

describe.each(Object.entries(KINDS))('brush moves over %s values', (name, kind) => {
  const next = random(11)
  const values = Float64Array.from({ length: LINKS }, () => kind(next))
  const classOf = Uint8Array.from({ length: LINKS }, () => Math.floor(next() * CLASSES))
  const shades = Uint8Array.from(values, (v) => (v === 0 ? EMPTY : 2 + Math.floor(next() * SHADES)))
  const classOn = Uint8Array.of(1, 0, 1)
  const brushing = new Brushing(values, classOf, CLASSES)
  const sorted = values.slice().sort()
  /** An end at a value, between values, or open. */
  const end = (open: number): number => {
    const value = sorted[Math.floor(next() * LINKS)]!
    return next() < 0.1 ? open : next() < 0.5 ? value : value * (1 + (next() - 0.5) / 50)
  }
  /** All classes with the same ends, or one class with other ends than before. */
  const filter = (inverted: boolean, before?: Filter): Filter => {
    const { lows, highs } = before
      ? { lows: before.range.lows.slice(), highs: before.range.highs.slice() }
      : {
          lows: new Float64Array(CLASSES).fill(end(-Infinity)),
          highs: new Float64Array(CLASSES).fill(end(Infinity)),
        }
    const one = Math.floor(next() * CLASSES)
    if (before && next() < 0.5) lows[one] = end(-Infinity)
    else if (before) highs[one] = end(Infinity)
    return { range: { lows, highs, inverted, ends: null }, classOn, focus: null }
  }
  const marks = marksFrom(
    Int32Array.from({ length: LINKS }, () => Math.floor(next() * 70) - 1),
    70,
  )

  test.each([
    [false, false],
    [true, false],
    [false, true],
    [true, true],
  ])('inverted %s, ends by class %s', (inverted, own) => {
    let old = filter(inverted)
    let selection = selectLinks(values, shades, classOf, old)
    const aggregated = new Map<Aggregate, ReturnType<typeof aggregateMarks>>(
      (['max', 'mean', 'sum'] as const).map((how) => [
        how,
        aggregateMarks(marks, values, selection.selected, how),
      ]),
    )
    let moved = 0
    for (let i = 0; i < 60; i++) {
      const wanted = filter(inverted, own ? old : undefined)
      const before = copy(selection)
      const expected = selectLinks(values, shades, classOf, wanted)
      const made = brushing.move(selection, old, wanted, shades)
      if (made) {
        moved++
        expect(same(made.selected, expected.selected)).toBe(true)
        expect(same(made.looks, expected.looks)).toBe(true)
        expect([made.count, [...made.counts]]).toEqual([expected.count, [...expected.counts]])
        made.sums.forEach((sum, c) =>
          expect(Math.abs(sum - expected.sums[c]!)).toBeLessThanOrEqual(1e-9 * (1 + Math.abs(sum))),
        )
        const differ = [...values.keys()].filter((l) => before.selected[l] !== expected.selected[l])
        expect([...made.changed!].sort((a, b) => a - b)).toEqual(differ)
        expect(made.step).toBe(before.step + 1)
        for (const [how, known] of aggregated) {
          updateMarks(marks, values, made.selected, how, known, made.changed!)
          const whole = aggregateMarks(marks, values, expected.selected, how)
          expect(same(known.values, whole.values) && same(known.selected, whole.selected), how).toBe(true)
        }
      } else {
        for (const [how, known] of aggregated) aggregateMarks(marks, values, expected.selected, how, known)
      }
      selection = made ?? selectLinks(values, shades, classOf, wanted, selection)
      old = wanted
    }
    expect(moved).toBeGreaterThan(name === 'equal' ? -1 : 10)
  })

  test('other classes, a focus or inversion need a full pass', () => {
    const old = filter(false)
    const selection = selectLinks(values, shades, classOf, old)
    const others: Filter[] = [
      { ...old, classOn: classOn.slice() },
      { ...old, focus: new Uint8Array(LINKS) },
      { ...old, range: { ...old.range, inverted: true } },
    ]
    for (const other of others) expect(brushing.move(selection, old, other, shades)).toBeNull()
  })
})

test('a small sum has no rounding error from a large one', () => {
  const values = Float64Array.of(0.1, 0.2, 1e17)
  const brushing = new Brushing(values, Uint8Array.of(0, 0, 0), 1)
  const classOn = Uint8Array.of(1)
  const to = (high: number): Filter => ({
    range: { lows: Float64Array.of(-Infinity), highs: Float64Array.of(high), inverted: false, ends: null },
    classOn,
    focus: null,
  })
  const shades = Uint8Array.of(5, 5, 5)
  const all = selectLinks(values, shades, Uint8Array.of(0, 0, 0), to(Infinity))
  const made = brushing.move(all, to(Infinity), to(1), shades)!
  expect([made.count, made.sums[0]]).toEqual([2, 0.1 + 0.2])
})

test('sums have a scale of their own: cells with different sums have different colours', () => {
  const run = edison({ jobs: ['j'], traffic: (l) => [1 + (l % 7)] })
  const d = new RunModel(run).derive(DEFAULTS)
  const marks = groupMatrix(run)
  const all = new Uint8Array(run.links.count).fill(1)
  for (const how of ['max', 'mean', 'sum'] as const) {
    const scale = markScale([marks], [d], how, 'linear')
    expect(scale === d.scale).toBe(how !== 'sum')
    const { values } = aggregateMarks(marks, d.values, all, how)
    // No value is beyond an end of its scale, which would give different values one colour.
    expect(Math.max(...values)).toBeLessThanOrEqual(scale.high)
    if (how === 'sum') expect(scale.high).toBe(Math.max(...values))
  }
  // Side by side, two runs share it, whatever is selected.
  const twice = new RunModel(edison({ jobs: ['j'], traffic: (l) => [2 + 2 * (l % 7)] })).derive(DEFAULTS)
  const pair = markScale([marks, groupMatrix(twice.run)], [d, twice], 'sum', 'linear')
  expect(pair.high).toBe(2 * markScale([marks], [d], 'sum', 'linear').high)
})

describe('matrices after brush moves', () => {
  const traffic = random(5)
  const run = edison({ jobs: ['j'], traffic: () => [Math.floor(traffic() * 1000)] })
  const inside = interior(run)
  const groupMarks = groupMatrix(run)
  const panel = placeMatrices(run, inside, 470, 780)
  const looks = looksFor('light', 'heat', false)
  const [width, height] = [470, 780]
  const image = () => ({ width, height, data: new Uint8ClampedArray(4 * width * height) }) as ImageData
  const source = (d: DerivedRun): CellSource => ({
    groupMarks,
    inside,
    values: d.values,
    selected: d.selection.selected,
    looks: d.selection.looks,
    shades: d.shades,
    step: d.selection.step,
    changed: d.selection.changed,
    aggregate: 'max',
    scale: d.scale,
    scales: [groupMarks, ...inside.families].map(() => d.scale),
  })
  const whole = (d: DerivedRun): ImageData => {
    const fresh = image()
    expect(new CellPainter().paint(fresh, panel, { ...source(d), changed: null }, looks, 0)).toBeNull()
    return fresh
  }
  const ends = Array.from({ length: 30 }, () => Math.floor(traffic() * 1000))

  test('equal a full repaint', () => {
    const [model, painter, kept] = [new RunModel(run), new CellPainter(), image()]
    for (const [i, high] of [null, ...ends].entries()) {
      const d = model.derive({ ...DEFAULTS, high })
      // A hidden view is not painted.
      if (i % 4 === 3) continue
      painter.paint(kept, panel, source(d), looks, 0)
      expect(same(kept.data, whole(d).data)).toBe(true)
    }
  })

  test('cells of a difference are hollow for decreases only', () => {
    const signed = looksFor('light', '', true)
    const values = Float64Array.from({ length: run.links.count }, (_, l) => (l % 2 === 0 ? -5 : 5))
    const scale = colorScale('linear', Float64Array.of(-5, 5), true, null)
    const [shades, selected] = [shadeAll(values, scale), new Uint8Array(run.links.count).fill(1)]
    const made = {
      ...source(new RunModel(run).derive(DEFAULTS)),
      values,
      selected,
      shades,
      looks: shades,
      scale,
      scales: [null, ...inside.families].map(() => scale),
    }
    const wide = placeMatrices(run, inside, 470, 780, 3)
    const painted = image()
    new CellPainter().paint(painted, wide, { ...made, changed: null }, signed, 0)
    const pixels = new Uint32Array(painted.data.buffer)
    const seen = [0, 0]
    for (const { family, base, x, y, size, cell } of wide.matrices) {
      if (family < 0 || cell < 3) continue
      const { offsets, links } = inside.families[family]!.marks
      const middle = holeOf(cell).from
      for (let c = 0; c < size * size; c++) {
        const [left, top] = [x + (c % size) * cell, y + Math.floor(c / size) * cell]
        if (offsets[base + c + 1]! - offsets[base + c]! !== 1 || top + cell > height) continue
        const less = values[links[offsets[base + c]!]!]! < 0
        const [rim, centre] = [pixels[top * width + left], pixels[(top + middle) * width + left + middle]]
        expect([rim === signed.hole, centre === signed.hole]).toEqual([false, less])
        seen[less ? 0 : 1]!++
      }
    }
    expect(Math.min(...seen)).toBeGreaterThan(100)
  })

  test('cells with many links are postponed during a drag and correct afterwards', () => {
    const [model, painter, kept] = [new RunModel(run), new CellPainter(), image()]
    painter.paint(kept, panel, source(model.derive(DEFAULTS)), looks, 0)
    const before = kept.data.slice()
    let waited = false
    for (const high of ends) {
      const d = model.derive({ ...DEFAULTS, high })
      painter.paint(kept, panel, source(d), looks, 0, true)
      waited ||= !same(kept.data, whole(d).data)
    }
    expect(waited).toBe(true)
    expect(same(kept.data, before)).toBe(false)
    // End of a drag: the last move, which changes nothing, and the full update together.
    const d = model.derive({ ...DEFAULTS, high: ends[ends.length - 1]! + 0.5 })
    painter.paint(kept, panel, source(d), looks, 0, false)
    expect(same(kept.data, whole(d).data)).toBe(true)
  })
})
