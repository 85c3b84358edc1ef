import { describe, expect, test } from 'vitest'
import { DEFAULTS, readUrl, writeUrl, type ViewState } from '../src/data/state'

describe('hidden jobs in the address', () => {
  const written = (jobs: ViewState['jobs']): string | null =>
    new URLSearchParams(writeUrl({ ...DEFAULTS, jobs })).get('jobs')
  const hidden = (...jobs: number[]): ViewState['jobs'] =>
    Object.fromEntries(jobs.map((job) => [job, 'hidden']))

  test.each([
    [hidden(0, 1), '0,1'],
    [hidden(0, 1, 2, 4, 6, 7, 8), '0..2,4,6..8'],
    [{ ...hidden(1, 2, 4, 5), 3: 'subtracted' as const }, '1,2,-3,4,5'],
  ])('%o are %s', (jobs, text) => {
    expect(written(jobs)).toBe(text)
    expect(readUrl(`jobs=${text}`).state.jobs).toEqual(jobs)
  })

  test('one of 10,000 jobs alone has a short address', () => {
    const others = Array.from({ length: 10_000 }, (_, job) => job).filter((job) => job !== 77)
    expect(written(hidden(...others))).toBe('0..76,78..9999')
  })

  test.each(['0..1e12', '5..3', '-1..3', '1..2..3', '..', '1..'])('%s is refused', (text) => {
    const { state, problems } = readUrl(`jobs=${text}`)
    expect(state.jobs).toEqual({})
    expect(problems).toHaveLength(1)
  })
})
