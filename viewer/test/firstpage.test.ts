/** What an address without settings opens. */
import { describe, expect, test } from 'vitest'
import { firstPage } from '../src/data/firstpage'
import type { Index, RunInfo, Summary } from '../src/data/source'
import { CHECKS_OF_NAMES } from '../src/views/frame/address'
import { Session } from '../src/views/session/session'
import { edison } from './machines'

const known = edison().info
const run = (bytes_max: number, summary: Partial<Summary> = {}, tables: RunInfo['tables'] = {}): RunInfo => ({
  ...known,
  summary: { ...known.summary, classes: [{ class: 'all', bytes_mean: 1, bytes_max }], ...summary },
  tables: { ...known.tables, ...tables },
})
const index = (...runs: RunInfo[]): Index => ({ protocol: 4, version: '', keys: [], runs })
const costs = { cycle: { rows: 1, columns: {} } }

describe('the first page', () => {
  test('of a large machine shows the hottest links, if any has traffic', () => {
    expect(firstPage(index(run(5)))).toEqual({ hottest: 5 })
    expect(firstPage(index(run(0)))).toEqual({})
  })

  test('of a sweep or study shows its result', () => {
    const points = ['a', 'b', 'c'].map((routing) => run(5, { sweep: { routing } }))
    const keys = [{ name: 'routing', unit: 'none' as const }]
    expect(firstPage({ ...index(...points), keys }).view).toBe('sweep')
    // Three unrelated runs are no sweep.
    expect(firstPage({ ...index(run(5), run(5), run(5)), keys }).view).toBeUndefined()
    const findings = { kind: 'front', objectives: [], keys: [], figures: [], entries: [] } as const
    expect(firstPage({ ...index(...points), findings }).view).toBe('study')
  })

  test('of a model run without traffic shows its costs', () => {
    expect(firstPage(index(run(0, { engine: 'model' }, costs))).view).toBe('costs')
  })

  test('is shown although a key of the address is refused; any valid setting replaces it', () => {
    const open = (address: string) => {
      const session = new Session({} as never, index(run(5)), CHECKS_OF_NAMES)
      session.readAddress(address)
      return [session.state.get().hottest, session.refused.get().length]
    }
    expect(open('')).toEqual([5, 0])
    expect(open('nonsense=1')).toEqual([5, 1])
    expect(open('run=7')).toEqual([5, 1])
    expect(open('hottest=0')).toEqual([0, 0])
    expect(open('theme=dark&nonsense=1')).toEqual([0, 1])
  })
})
