import { describe, expect, test } from 'vitest'
import { checkState } from '../src/data/check'
import { DEFAULTS, readUrl } from '../src/data/state'
import { tiny, TRAFFIC } from './machines'

describe('invalid settings', () => {
  const info = {
    ...tiny({ jobs: ['a'] }).info,
    tables: { links: { rows: 1, columns: TRAFFIC }, jobs: { rows: 1, columns: {} } },
  }
  const index = {
    protocol: 2,
    version: '',
    keys: [{ name: 'seed', unit: 'none' as const }],
    runs: [info, info],
  }
  test.each([
    ['run=7', 'run: unknown run 7; expected 0 to 1'],
    ['run=0.5', 'run: unknown run 0.5'],
    ['compared=0,5', 'compared: unknown run 5'],
    ['compared=1,1', 'compared: run 1 appears twice'],
    ['measure=packets', 'measure: unknown measure “packets”; expected bytes, transfer_ps'],
    ['classesOff=green', 'classesOff: unknown class “green”'],
    ['jobs=4', 'jobs: unknown job 4'],
    ['colors=4-0a66c2', 'colors: unknown job 4; expected 0 to 0'],
    ['communicator=all', 'communicator: invalid value “all”; expected JOB.COMMUNICATOR.GROUP'],
    ['low=5&high=2', 'low: the range from 5 to 2 is empty'],
    ['ramp=rainbow', 'ramp: unknown colour ramp “rainbow”'],
    ['frozen=9,1', 'frozen: the colour range from 9 to 1 is empty'],
    ['zoom=0,0,0', 'zoom: 0 is out of range; expected 1 to 64'],
    ['projection=x,y', 'projection: unknown projection “x,y”; expected'],
    ['focus=everything', 'focus: unknown focus “everything”'],
    ['time=-2', 'time: -2 ps is before the start'],
    ['series=jobs.colour', 'series: unknown series “jobs.colour”'],
    ['sweepKey=load', 'sweepKey: unknown key of the sweep “load”; expected seed'],
  ])('%s', (address, complaint) => {
    const { state, problems } = readUrl(address)
    expect(problems).toEqual([])
    const checked = checkState(state, index)
    expect(checked.problems).toHaveLength(1)
    expect(checked.problems[0]).toContain(complaint)
    expect(checked.state).toEqual(DEFAULTS)
  })

  test('a colour setting is a job and six hexadecimal digits', () => {
    for (const wrong of ['0-red', '0', '0-12345', 'x-0a66c2']) {
      const { state, problems } = readUrl(`colors=${wrong}`)
      expect(problems).toEqual([
        `colors: invalid value ${wrong}; expected a job and a colour, such as 0-0a66c2`,
      ])
      expect(state).toEqual(DEFAULTS)
    }
    expect(readUrl('colors=2-0A66C2,0-ffffff').state.colors).toEqual({ 0: '#ffffff', 2: '#0a66c2' })
  })

  test('in a comparison, settings are checked against the base', () => {
    const torus = {
      ...info,
      summary: { ...info.summary, machine: { ...info.summary.machine, axes: ['X', 'Y', 'Z'] } },
    }
    const three = { ...index, runs: [info, torus, torus] }
    const problemsOf = (address: string): readonly string[] =>
      checkState(readUrl(address).state, three).problems
    expect(problemsOf('view=compare&compared=1,2&projection=X,Z')).toEqual([])
    expect(problemsOf('view=compare&compared=0,1&projection=X,Z')).toHaveLength(1)
    expect(problemsOf('run=1&projection=X,Z')).toEqual([])
    expect(problemsOf('run=0&projection=X,Z')).toHaveLength(1)
    // An unknown run number is reported for the first run.
    expect(problemsOf('view=compare&run=0.5')).toEqual(['run: unknown run 0.5; expected 0 to 2'])
  })

  test('valid settings are kept', () => {
    const { state } = readUrl(
      'run=1&compared=1,0&view=compare&measure=transfer_ps&jobs=0&low=1&high=1&sweepKey=seed&focus=group%3A1',
    )
    expect(checkState(state, index)).toEqual({ state, problems: [] })
    expect(checkState(DEFAULTS, index).problems).toEqual([])
  })
})
