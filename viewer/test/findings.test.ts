/** Study results: tables by key, runs to open, the Pareto front as steps. */
import { expect, test } from 'vitest'
import {
  findingsPanels,
  frontNames,
  frontOf,
  frontSentences,
  runsToOpen,
  slowdownSentence,
  type Findings,
} from '../src/data/findings'
import type { Index } from '../src/data/source'
import { frontPicture } from '../src/layout/front'
import { nearestMark } from '../src/layout/pick'

const fact = (name: string, unit: 'none' | 's' | 'ratio' = 'none') => ({
  name,
  label: name,
  unit,
  meaning: '',
})

/** Two seeds each of a job alone (runs 0, 1) and with another (runs 2, 3). */
const COSTS: Findings = {
  kind: 'interference',
  objectives: ['slowdown'],
  keys: ['target', 'background', 'seed'].map((name) => ({ ...fact(name), seed: name === 'seed' })),
  figures: [fact('share', 'ratio'), fact('slowdown', 'ratio')],
  entries: [
    { runs: [0], base: [], keys: { target: 'a', background: 'none', seed: '1' }, values: { slowdown: 1 } },
    { runs: [1], base: [], keys: { target: 'a', background: 'none', seed: '2' }, values: { slowdown: 1 } },
    { runs: [2], base: [0], keys: { target: 'a', background: 'b', seed: '1' }, values: { slowdown: 1.5 } },
    { runs: [3], base: [1], keys: { target: 'a', background: 'b', seed: '2' }, values: { slowdown: 2.5 } },
    { runs: [3], base: [], keys: { target: 'b', background: 'a', seed: '2' }, values: {} },
  ],
}

const withSlowdowns = (...slowdowns: number[]): Findings => ({
  ...COSTS,
  entries: COSTS.entries.map((entry, i) =>
    i === 2 || i === 3 ? { ...entry, values: { slowdown: slowdowns[i - 2]! } } : entry,
  ),
})

test('the largest slowdown by another job, if seeds distinguish it from 1', () => {
  expect(slowdownSentence(withSlowdowns(1.5, 1.7))).toBe(
    'Largest slowdown: a × 1.6 with b (1.5 to 1.7, 2 seeds).',
  )
  // 1.1 on average, but by seed from 0.9 to 1.3.
  expect(slowdownSentence(withSlowdowns(0.9, 1.3))).toBe(
    'No slowdown beyond the spread of seeds; the largest: a × 1.1 with b (0.9 to 1.3, 2 seeds).',
  )
  expect(slowdownSentence({ ...COSTS, entries: COSTS.entries.slice(0, 2) })).toBe('')
})

const INDEX = { runs: [1, 2, 1, 2].map((seed) => ({ summary: { seed } })) } as unknown as Index

const CHOSEN = { panels: '', rows: '', columns: '', figure: '' }

test('targets by background, objective first; rows without the figure are omitted', () => {
  const { panelKey, rowKey, columnKey, figure, tables } = findingsPanels(COSTS, CHOSEN)!
  expect([panelKey, rowKey, columnKey, figure.name]).toEqual(['', 'target', 'background', 'slowdown'])
  const [{ pivot, entries }] = tables as [(typeof tables)[0]]
  expect([pivot.rows, pivot.columns]).toEqual([['a'], ['b', 'none']])
  expect(pivot.cells[0]![0]).toEqual({ mean: 2, least: 1.5, most: 2.5, runs: [2, 3] })
  expect(entries).toEqual([0, 1, 2, 3])
  const alone = findingsPanels(COSTS, { ...CHOSEN, rows: 'seed', columns: 'seed' })!
  expect(alone.columnKey).toBe('')
})

test('one table per value of a key, all on one scale', () => {
  const { tables } = findingsPanels(COSTS, { ...CHOSEN, panels: 'background', columns: '-' })!
  expect(tables.map(({ panel, entries }) => [panel, entries])).toEqual([
    ['none', [0, 1]],
    ['b', [2, 3]],
  ])
  for (const { pivot } of tables) expect([pivot.low, pivot.high]).toEqual([1, 2])
  // With a third setting besides seeds, there is one table per target.
  const routed = {
    ...COSTS,
    keys: [...COSTS.keys, fact('routing')],
    entries: COSTS.entries.map((entry, i) => ({
      ...entry,
      keys: { ...entry.keys, routing: i % 2 === 0 ? 'min' : 'par' },
    })),
  }
  const { panelKey, rowKey, columnKey } = findingsPanels(routed, CHOSEN)!
  expect([panelKey, rowKey, columnKey]).toEqual(['target', 'background', 'routing'])
})

test('an entry opens its run and its base', () => {
  expect(runsToOpen(COSTS.entries[3]!, INDEX)).toEqual({ compared: [1, 3] })
  expect(runsToOpen(COSTS.entries[0]!, INDEX)).toEqual({ run: 0 })
  expect(runsToOpen({ ...COSTS.entries[3]!, base: [0, 1] }, INDEX)).toEqual({ compared: [1, 3] })
  expect(runsToOpen({ ...COSTS.entries[3]!, runs: [] }, INDEX)).toBeNull()
})

const trial = (time: number | null, price: number, front: boolean, allowed = true) => ({
  runs: [],
  base: [],
  keys: {},
  values: time === null ? {} : { time, price },
  front,
  allowed,
})
const SEARCH: Findings = {
  kind: 'front',
  objectives: ['time', 'price'],
  keys: [],
  figures: [fact('time', 's'), fact('price')],
  entries: [
    trial(5, 30, false),
    trial(2, 40, true),
    trial(4, 20, true),
    trial(6, 25, false, false),
    trial(null, 0, false),
  ],
}

test('the front is sorted by the first objective; failed trials have no point', () => {
  expect(frontOf(SEARCH)).toEqual({ points: [0, 1, 2, 3], front: [1, 2] })
})

test('the front is drawn as steps: along to the next price, then down to its time', () => {
  const [time, price] = SEARCH.figures as [(typeof SEARCH.figures)[0], (typeof SEARCH.figures)[0]]
  const picture = frontPicture(SEARCH, price, time, 600, 400)
  expect(picture.marks.map(({ kind }) => kind)).toEqual(['first', 'front', 'front', 'refused'])
  const [, dear, cheap] = picture.marks as [unknown, { x: number; y: number }, { x: number; y: number }]
  expect(cheap.x).toBeLessThan(dear.x)
  // A longer time is higher.
  expect(cheap.y).toBeLessThan(dear.y)
  expect(picture.steps.flat()).toEqual([cheap.x, cheap.y, dear.x, cheap.y, dear.x, dear.y])
  for (const { x, y } of picture.marks) {
    expect(x > 0 && x < 600 && y > 0 && y < 400).toBe(true)
  }
  expect(nearestMark(picture.marks, dear.x + 4, dear.y)).toBe(1)
  expect(nearestMark(picture.marks, 0, 0)).toBeNull()
  // With one objective, trials are drawn in order without a front line.
  const single = frontPicture({ ...SEARCH, objectives: ['time'] }, null, time, 600, 400)
  expect(single.steps).toEqual([])
  expect(single.marks).toHaveLength(4)
})

test('a search is answered: best of each objective, and what distinguishes the front', () => {
  const entry = (routing: string, edit: string, time: number, price: number, front: boolean) => ({
    runs: [],
    base: [],
    keys: { routing, edit, seed: '1' },
    values: { time, price },
    front,
  })
  const found: Findings = {
    kind: 'front',
    objectives: ['time', 'price'],
    keys: [fact('routing'), fact('edit'), { ...fact('seed'), seed: true }],
    figures: [fact('time', 's'), fact('price')],
    entries: [
      entry('min', '[]', 4, 100, false),
      entry('par', '[]', 2, 100, true),
      entry('par', '-1', 3, 75, true),
    ],
  }
  expect(frontSentences(found).map((sentence) => sentence.replace(/\s/g, ' '))).toEqual([
    'Best time: 2 s with edit=none, −50.0 % from the file’s own values.',
    'Best price: 75 with edit=-1, −25.0 % from the file’s own values.',
    'The 2 on the front differ in edit; all have routing=par.',
  ])
  expect([...frontNames(found)]).toEqual([
    [1, 'none'],
    [2, '-1'],
  ])
  const { labels } = frontPicture(found, fact('price'), fact('time', 's'), 800, 400)
  expect(labels.filter(({ text }) => text === 'none' || text === '-1')).toHaveLength(2)
  // The names of many equal points are not drawn over each other.
  const crowd = Array.from({ length: 50 }, (_, i) => entry('par', `-${i}`, 2, 100, true))
  const drawn = frontPicture({ ...found, entries: crowd }, fact('price'), fact('time', 's'), 800, 400).labels
  const names = drawn.filter(({ text }) => /^-\d+$/.test(text))
  expect(names.length).toBeGreaterThan(0)
  const places = names.map(({ x, y, anchor }) => `${anchor} ${x} ${y}`)
  expect(new Set(places).size).toBe(names.length)
  expect(names.length).toBeLessThan(5)
})
