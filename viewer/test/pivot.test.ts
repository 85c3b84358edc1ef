import { expect, test } from 'vitest'
import { pivotOf } from '../src/data/pivot'

const runs = (values: (string | number)[], key = 'machine.edits') =>
  values.map((value) => ({ keys: { [key]: value } }))

test('rows by key: base without edits first, then by number', () => {
  const edits = ['["-K"]', '[]', '["10 black"]', '["9 black"]']
  const { rows, cells } = pivotOf(runs(edits), [1, 2, 3, 4], 'machine.edits', '', 'key')
  expect(rows).toEqual(['[]', '["-K"]', '["9 black"]', '["10 black"]'])
  expect(cells.map(([cell]) => cell!.mean)).toEqual([2, 1, 4, 3])
})

test('runs without the key come first', () => {
  const some = [...runs([3, 20, 100], 'load'), { keys: {} }]
  expect(pivotOf(some, [1, 1, 1, 1], 'load', '', 'key').rows).toEqual(['–', '3', '20', '100'])
})

test('by value: largest mean first', () => {
  const found = pivotOf(runs(['[]', '["a"]', '["b"]', '["b"]']), [1, 5, 2, 4], 'machine.edits', '', 'value')
  expect(found.rows).toEqual(['["a"]', '["b"]', '[]'])
  expect(found.cells[1]![0]).toEqual({ mean: 3, least: 2, most: 4, runs: [2, 3] })
})
