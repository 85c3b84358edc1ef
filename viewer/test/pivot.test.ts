import { expect, test } from 'vitest'
import { defaultFigure, defaultKeys, figureOptions, fitsWords, pivotOf } from '../src/data/pivot'

const runs = (values: (string | number)[], key = 'machine.edits') =>
  values.map((value) => ({ keys: { [key]: value } }))

test('rows by key: base without edits first, then by number', () => {
  const edits = ['["-K"]', '[]', '["10 black"]', '["9 black"]']
  const { rows, cells } = pivotOf(runs(edits), [1, 2, 3, 4], ['machine.edits'], [], 'key')
  expect(rows).toEqual(['[]', '["-K"]', '["9 black"]', '["10 black"]'])
  expect(cells.map(([cell]) => cell!.mean)).toEqual([2, 1, 4, 3])
})

test('runs without the key come first', () => {
  const some = [...runs([3, 20, 100], 'load'), { keys: {} }]
  expect(pivotOf(some, [1, 1, 1, 1], ['load'], [], 'key').rows).toEqual(['–', '3', '20', '100'])
})

test('by value: largest mean first', () => {
  const found = pivotOf(runs(['[]', '["a"]', '["b"]', '["b"]']), [1, 5, 2, 4], ['machine.edits'], [], 'value')
  expect(found.rows).toEqual(['["a"]', '["b"]', '[]'])
  expect(found.cells[1]![0]).toEqual({ mean: 3, least: 2, most: 4, runs: [2, 3] })
})

test('nested keys: a row for each combination, sorted from the outermost', () => {
  const all = ['min', 'par'].flatMap((routing) =>
    [9, 10].flatMap((ranks) => [1, 2].map((seed) => ({ keys: { routing, ranks, seed } }))),
  )
  const found = pivotOf(
    all,
    all.map((_, i) => i),
    ['routing', 'ranks'],
    ['seed'],
    'key',
  )
  expect(found.rowPaths).toEqual([
    ['min', '9'],
    ['min', '10'],
    ['par', '9'],
    ['par', '10'],
  ])
  expect(found.columnPaths).toEqual([['1'], ['2']])
  expect(found.cells.map((line) => line.map((cell) => cell!.mean))).toEqual([
    [0, 1],
    [2, 3],
    [4, 5],
    [6, 7],
  ])
  expect([found.low, found.high]).toEqual([0, 7])
  // 10^5 runs do not exceed the stack.
  const many = Array.from({ length: 100_000 }, (_, i) => ({ keys: { n: i } }))
  expect(
    pivotOf(
      many,
      many.map((_, i) => i),
      ['n'],
      [],
      'key',
    ).high,
  ).toBe(99_999)
})

test('by default all settings but seeds span the table', () => {
  const keys = ['a', 'b', 'c'].map((name) => ({ name, unit: 'none' as const }))
  const index = { protocol: 4, version: '', runs: [] }
  const seed = { name: 'seed', unit: 'none' as const, seed: true }
  expect(defaultKeys({ ...index, keys: [...keys, seed] })).toEqual({ rows: ['a', 'c'], columns: ['b'] })
  expect(defaultKeys({ ...index, keys: [seed] })).toEqual({ rows: ['seed'], columns: [] })
})

test('words of a filter are parts of settings', () => {
  const run = { keys: { routing: 'par', ranks: 32 } }
  expect(['', 'PAR', 'routing=p 32', 'ranks=3'].map((words) => fitsWords(run, words))).toEqual([
    true,
    true,
    true,
    true,
  ])
  expect(['min', 'par 64', 'seed'].some((words) => fitsWords(run, words))).toBe(false)
})

test('with several kinds of runs, the default figure is one that most have', () => {
  const column = { type: 'f64', unit: 's', merge: 'last', label: '' } as const
  const kind = (name: string, classes: readonly string[]) => ({
    label: '',
    keys: {},
    summary: { jobs: [{ job: 0, name: 'a' }], classes: classes.map((of) => ({ class: of, bytes_max: 1 })) },
    tables: { jobs: { rows: 1, columns: { [name]: column } } },
  })
  const runs = [
    kind('slowdown', ['all']),
    kind('predicted_time_s', []),
    kind('predicted_time_s', []),
    kind('completion_time_s', ['all']),
    kind('latency_mean_ns', ['all']),
  ] as never
  const index = { protocol: 4, version: '', keys: [], runs }
  expect(defaultFigure(figureOptions(index), runs)).toBe('class:bytes_max:all')
})
