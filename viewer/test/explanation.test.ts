import { expect, test } from 'vitest'
import {
  focusOf,
  largestCompetitor,
  ownShare,
  explainedJobs,
  type JobExplanation,
} from '../src/data/explanation'
import { tiny } from './machines'

const explanation = (
  job: number,
  name: string,
  time_s: number | null,
  more: Partial<JobExplanation> = {},
): JobExplanation => ({
  job,
  name,
  time_s,
  bottlenecks: null,
  sharers: null,
  terms: null,
  open_traffic: null,
  slowest_rank: null,
  ...more,
})

test('longest job first, unfinished jobs last', () => {
  const run = tiny({ jobs: ['a', 'b', 'c'] })
  const jobs = [explanation(0, 'a', null), explanation(1, 'b', 1), explanation(2, 'c', 2)]
  expect(explainedJobs(run, [{ jobs }]).map(({ job }) => job.name)).toEqual(['c', 'b', 'a'])
})

test('jobs of several runs are paired by name and ordered by the last run', () => {
  const run = tiny({ jobs: ['a', 'b'] })
  const base = { jobs: [explanation(0, 'a', 2), explanation(1, 'b', 1)] }
  const other = { jobs: [explanation(0, 'b', 3), explanation(1, 'new', 4)] }
  const found = explainedJobs(run, [base, other])
  expect(found.map(({ job, explanations }) => [job.name, ...explanations.map((one) => one?.time_s)])).toEqual(
    [
      ['b', 1, 3],
      ['a', 2, undefined],
    ],
  )
})

test('a link is focused by name, a NIC by node', () => {
  expect(focusOf({ name: 'g0r0>g1r1:global.0', link: 6 })).toBe('link:g0r0>g1r1:global.0')
  expect(focusOf({ name: 'g0r0n1 out', link: null })).toBe('node:g0r0n1')
  expect(focusOf({ name: 'nid in in', link: null })).toBe('node:nid in')
})

test('the job’s own share, and the largest competing job', () => {
  const shares = [
    { name: 'b', busy_s: 3, share: 0.6 },
    { name: 'a', busy_s: 1, share: 0.2 },
    { name: 'c', busy_s: 1, share: 0.2 },
  ]
  expect(ownShare(explanation(0, 'a', 1, { sharers: shares }))).toBe(0.2)
  expect(largestCompetitor(explanation(0, 'a', 1, { sharers: shares }))?.name).toBe('b')
  expect(largestCompetitor(explanation(1, 'b', 1, { sharers: shares }))?.name).toBe('a')
  expect(ownShare(explanation(3, 'd', 1, { sharers: shares }))).toBe(0)
  expect(largestCompetitor(explanation(0, 'a', 1))).toBeUndefined()
})
