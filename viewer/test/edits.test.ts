/** Edits that the page offers for what is in focus. */
import { expect, test } from 'vitest'
import { editedClass, removals } from '../src/data/edits'
import { resolveFocus } from '../src/data/focus'
import { linkName } from '../src/data/run'
import { edison } from './machines'

const run = edison()
const of = (text: string): readonly (readonly string[])[] =>
  removals(run, resolveFocus(run, text)).map(({ edits }) => edits)

test('a cable, a router and a node can be removed', () => {
  const name = linkName(run, 0)
  expect(of(`link:${name}`)).toEqual([[`fail ${name}`]])
  const router = run.routers.names.at(0)
  expect(of(`router:${router}`)).toEqual([[`fail ${router}`]])
  const node = run.nodes.names.at(0)
  expect(of(`node:${node}`)).toEqual([
    [`fail ${node}`],
    [`fail ${run.routers.names.at(run.nodes.router[0]!)}`],
  ])
  expect(of('job:0')).toEqual([])
  expect(removals(run, null)).toEqual([])
})

test('between two groups, each cable is removed once', () => {
  const { source, target, count } = run.links
  const { group } = run.routers
  const cables = Array.from({ length: count }, (_, l) => l).filter(
    (l) => group[source[l]!] === 0 && group[target[l]!] === 1,
  )
  expect(of('pair:0>1')).toEqual([cables.map((l) => `fail ${linkName(run, l)}`)])
  expect(cables.length).toBeGreaterThan(0)
  const focus = resolveFocus(run, 'pair:0>1')
  expect(editedClass(run, focus, '')).toBe(run.links.classes[run.links.class[cables[0]!]!])
  expect(editedClass(run, focus, run.links.classes[0]!)).toBe(run.links.classes[0])
  expect(editedClass(run, null, 'nonsense')).toBe(run.links.classes[0])
})
