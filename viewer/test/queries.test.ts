import { expect, test } from 'vitest'
import { focusText, resolveFocus } from '../src/data/focus'
import { answerFocus, answerJobs, markColumn, rowFocuses, type QueryAnswer } from '../src/data/queries'
import { linkName } from '../src/data/run'
import { torus } from './machines'

const run = torus(4, 3, 1)

const answer = (names: Record<string, boolean>, ...rows: (string | number | null)[][]): QueryAnswer => ({
  columns: Object.entries(names).map(([name, is_number]) => ({ name, is_number })),
  rows,
  more: false,
})

test('rows name links by their number; others name nothing', () => {
  const found = answer({ bytes: true, LINK: true }, [5, 3], [4, 0], [1, 1e9], [1, null], [1, 0.5], [1, 'g0'])
  const mark = markColumn(found)
  expect(mark).toEqual({ subject: 'link', column: 1 })
  const names = [3, 0].map((l) => linkName(run, l))
  expect(rowFocuses(run, found, mark)).toEqual([
    ...names.map((name) => `link:${name}`),
    null,
    null,
    null,
    null,
  ])
  const all = answerFocus(run, found, mark)!
  const kept = [...resolveFocus(run, all)!.mask!].flatMap((on, l) => (on ? [l] : []))
  expect(kept).toEqual([0, 3])
  expect(focusText(all)).toBe('2 links')
})

test('a text column named link is not a number of a link', () => {
  expect(markColumn(answer({ link: false }, ['a']))).toBeNull()
  expect(markColumn(answer({ links: true }, [1]))).toBeNull()
})

test('routers keep the links that touch them, nodes the links of their routers', () => {
  const routers = answer({ router: true }, [2], [5])
  const mark = markColumn(routers)
  const focus = answerFocus(run, routers, mark)!
  const mask = resolveFocus(run, focus)!.mask!
  run.links.source.forEach((s, l) => {
    const touches = [s, run.links.target[l]!].some((router) => router === 2 || router === 5)
    expect(mask[l] === 1).toBe(touches)
  })
  // One node for each router.
  const nodes = answer({ node: true }, [2], [5])
  expect(answerFocus(run, nodes, markColumn(nodes))).toBe(focus)
})

test('jobs of an answer; a link is preferred to a job', () => {
  const jobs = answer({ job: true, n: true }, [1, 7], [0, 3], [1, 2])
  expect([...answerJobs(jobs, markColumn(jobs))!]).toEqual([1, 0])
  expect(answerFocus(run, jobs, markColumn(jobs))).toBeNull()
  expect(markColumn(answer({ job: true, link: true }, [0, 1]))!.subject).toBe('link')
})

test('a list of which nothing exists is no focus', () => {
  expect(resolveFocus(run, 'links:a>b:c.0')).toBeNull()
  expect(resolveFocus(run, 'routers:nowhere')).toBeNull()
})
