import { expect, test } from 'vitest'
import { describeNode } from '../src/data/describe'
import { tiny } from './machines'

test('a node says that it is a storage node', () => {
  const plain = tiny({})
  const storage = Uint8Array.from({ length: plain.nodes.count }, (_, node) => +(node === 1))
  const run = { ...plain, nodes: { ...plain.nodes, storage } }
  expect(describeNode(run, 1).rows).toContainEqual(['Kind', 'storage node'])
  for (const other of [describeNode(run, 0), describeNode(plain, 1)]) {
    expect(other.rows.map(([label]) => label)).not.toContain('Kind')
  }
})
