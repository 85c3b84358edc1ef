import { expect, test } from 'vitest'
import { answer, isLimitedByNic } from '../src/data/answer'
import type { Explanation } from '../src/data/explanation'
import { tiny } from './machines'

const TIME = { type: 'f64', unit: 's', merge: 'max', label: 'Time', role: 'job-time' } as const
const COLUMNS = { completion_time_s: TIME }

/** Links 6 (g0r0>g1r1) and 8 (g0r1>g2r1); both jobs use the first, only `halo` the second. */
const run = (fft: number, halo: [number, number], times: number[], node = 0) =>
  tiny({
    jobs: ['fft', 'halo'],
    traffic: (l) => (l === 6 ? [fft, halo[0]] : l === 8 ? [0, halo[1]] : [0, 0]),
    jobOf: (n) => (n === 0 ? 1 : -1),
    nodeBytes: (n) => (n === 0 ? [node / 2, node] : [0, 0]),
    jobColumns: COLUMNS,
    figures: { completion_time_s: times },
  })

test('the slowest job, its busiest link in both runs, and traffic changes there', () => {
  const [worst, second] = answer(run(1e9, [1e9, 3e9], [1, 2]), run(4e9, [1.5e9, 2e9], [0.9, 3]))
  expect([worst!.job.name, worst!.ratio, worst!.figure]).toEqual([
    'halo',
    1.5,
    { label: 'Time', unit: 's', before: 2, after: 3 },
  ])
  // 3 GB over 5 GB/s; then 5.5 GB.
  expect(worst!.link.before).toMatchObject({ name: 'g0r1>g2r1:global.0', bytes: 3e9, occupied_s: 0.6 })
  expect(worst!.link.after).toMatchObject({ focus: 'link:g0r0>g1r1:global.0', bytes: 5.5e9, occupied_s: 1.1 })
  expect(worst!.trafficChanges.map(({ name, before, after }) => [name, before, after])).toEqual([
    ['fft', 1e9, 4e9],
    ['halo', 1e9, 1.5e9],
  ])
  expect([second!.job.name, second!.ratio, isLimitedByNic(second!)]).toEqual(['fft', 0.9, false])
})

test('a NIC that is occupied longer than any link is reported', () => {
  // 12 GB leave the node over 10 GB/s; the link has 2 GB over 5 GB/s.
  const base = run(1e9, [1e9, 0], [1, 1])
  const [, halo] = answer(base, run(1e9, [1e9, 0], [2, 1.5], 12e9))
  expect(isLimitedByNic(halo!)).toBe(true)
  expect(halo!.nic).toMatchObject({
    before: null,
    after: { name: 'injection port of node g0r0n0', bytes: 12e9, occupied_s: 1.2 },
  })
})

test('without times, the job on the busiest link comes first', () => {
  const [first] = answer(run(1e9, [1e9, 9e9], [NaN, NaN]), run(1e9, [1e9, 9e9], [NaN, NaN]))
  expect([first!.job.name, first!.figure, first!.ratio]).toEqual(['halo', null, 1])
})

test('the bottleneck comes from explain, with traffic changes on that link', () => {
  const first = { busy_s: 0.9, class: 'global', link: 8, name: 'g0r1>g2r1:global.0', share: 0.95 }
  const explanation = (link: typeof first | null): Explanation => ({
    jobs: [
      {
        job: 1,
        name: 'halo',
        time_s: 1,
        bottlenecks: link && [link],
        sharers: null,
        terms: null,
        open_traffic: null,
        slowest_rank: null,
      },
    ],
  })
  const runs = [run(1e9, [1e9, 3e9], [1, 2]), run(4e9, [1.5e9, 2e9], [0.9, 3])] as const
  const [worst, fft] = answer(...runs, [explanation(first), explanation({ ...first, share: 0.9 })])
  expect(worst!.bottleneck).toMatchObject({
    before: { share: 0.95 },
    after: { link: 8, share: 0.9 },
  })
  expect(worst!.trafficChanges.map(({ name, before, after }) => [name, before, after])).toEqual([
    ['halo', 3e9, 2e9],
  ])
  expect(fft!.bottleneck).toBeNull()
  // Without an explanation in one run, the busiest link counts.
  expect(answer(...runs, [explanation(first), explanation(null)])[0]!.bottleneck).toBeNull()
})
