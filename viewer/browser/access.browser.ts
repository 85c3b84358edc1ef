/** Accessibility: axe-core findings, keyboard navigation of marks, a table for each picture. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import { describe, expect, test } from 'vitest'
import {
  at,
  address,
  click,
  expected,
  familyOf,
  keepPicture,
  number,
  open,
  openUntil,
  page,
  PANEL_PAGES,
  press,
  settle,
  text,
  useBrowser,
} from './stage'

useBrowser()

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const PAGES: Record<string, string> = {
  run: 'run=0',
  ...PANEL_PAGES,
  'a run without traffic': `run=${familyOf('model')}`,
  'side by side': 'view=compare&compared=0,1&difference=0',
  difference: 'view=compare&compared=0,1&difference=1',
  sweep: 'view=sweep&sweepShow=map',
  time: `view=time&run=${familyOf('packet')}`,
  jobs: `view=jobs&run=${familyOf('packet')}`,
  latency: `view=latency&run=${familyOf('packet')}`,
  costs: `view=costs&run=${familyOf('amg')}`,
}

/** Rule and the first places that violate it. */
async function violations(): Promise<string[]> {
  await page.evaluate(AXE)
  const results = await page.evaluate<AxeResults>('axe.run(document.body)')
  return results.violations.map(
    ({ id, help, nodes }) =>
      `${id} (${help}): ${nodes
        .slice(0, 4)
        .map(
          (node) =>
            `${node.html.slice(0, 120)} ${node.any.map((any) => any.message.slice(0, 120)).join('; ')}`,
        )
        .join(' | ')}`,
  )
}

describe.each(['light', 'dark'])('axe-core has no findings, %s', (theme) => {
  test.each(Object.entries(PAGES))('%s', async (_, settings) => {
    await open('families', `${settings}&theme=${theme}`)
    await settle(page)
    expect(await violations()).toEqual([])
  })

  test.each(['search', 'interference'])('study %s', async (study) => {
    await open(study, `view=study&theme=${theme}`)
    expect(await violations()).toEqual([])
  })
})

describe('axe-core has no findings in dialogs', () => {
  test.each([
    ['help', () => press('?')],
    ['the table behind a picture', () => click('as-table')],
    ['what is to be kept', () => click('export')],
    ['what is found by name', () => page.locator('#odonata-search').fill('g0r')],
    ['lines of a sweep', () => page.getByRole('button', { name: 'Lines', exact: true }).click()],
    ['runs of a sweep', () => page.getByRole('button', { name: 'Runs', exact: true }).click()],
  ] as const)('%s', async (what, act) => {
    await open('families', what.endsWith('sweep') ? 'view=sweep' : 'run=0')
    await act()
    await settle(page)
    expect(await violations()).toEqual([])
  })

  test.each(Object.keys(PAGES))('a phone: %s', async (name) => {
    await page.setViewportSize({ width: 390, height: 844 })
    await open('families', PAGES[name])
    await settle(page)
    expect(await violations()).toEqual([])
  })
})

const dragonfly = expected.runs['dragonfly']!

describe('keyboard navigation of marks', () => {
  const machine = '.picture .canvas-frame'

  test('machine: largest link first, announced; Enter focuses it', async () => {
    await open('dragonfly', 'hottest=0&focus=')
    await page.locator(machine).focus()
    await press('.')
    const first = await text('tooltip')
    // The picture draws links between groups; the tables give the largest.
    const [from, to] = /(g\d+r\d+)>(g\d+r\d+)/.exec(first)!.slice(1)
    const name = Object.keys(dragonfly.by_name).find((link) => link.startsWith(`${from}>${to}:`))!
    const between = Object.entries(dragonfly.by_name).filter(([link]) => link.includes(':global'))
    expect(dragonfly.by_name[name]![0]).toBe(Math.max(...between.map(([, [total]]) => total!)))
    expect(await text('spoken')).toContain(`${from}>${to}`)
    await press('.', '.', ',', ',')
    expect(await text('tooltip')).toBe(first)
    await press('Enter')
    expect((await address()).get('focus')).toBe(`link:${name}`)
    await press('Enter')
    expect((await address()).get('focus')).toBeNull()
  })

  test('with Shift: routers in order', async () => {
    await open('dragonfly', 'hottest=0')
    await page.locator(machine).focus()
    await press('Shift+Period', 'Shift+Period')
    expect(await text('tooltip')).toContain('g0r1 ')
    await press('Enter')
    expect((await address()).get('focus')).toBe('router:g0r1')
  })

  test('matrices, heat maps, lines, rank maps: largest first', async () => {
    await open('dragonfly', 'hottest=0')
    await page.locator('.matrices .canvas-frame').focus()
    await press('.')
    const hottest = await text('hot-value')
    expect(await text('tooltip')).toContain(hottest)

    await openUntil('families', `view=time&run=${familyOf('packet')}`, '[data-test=series-heat]')
    await page.locator('[data-test=series-heat]').focus()
    await press('.')
    const stalls = expected.series.stalls_of_routers
    const most = Math.max(...Object.values(stalls).flatMap((times) => Object.values(times)))
    const [router] = Object.entries(stalls).find(([, times]) => Object.values(times).includes(most))!
    expect(await text('tooltip')).toContain(router)
    await press('Enter')
    expect((await address()).get('focus')).toBe(`router:${router}`)
    const [start] = Object.entries(stalls[router]!).find(([, stall]) => stall === most)!
    expect((await address()).get('time') ?? '0').toBe(start)

    const jobs = `view=jobs&run=${familyOf('packet')}&focus=job%3A1`
    await openUntil('families', jobs, '[data-test=communication-map]')
    await page.locator('[data-test=communication-map]').focus()
    await press('.')
    expect(await text('tooltip')).toContain('Messages')
  })

  test('Tab reaches every control, and the focus is visible', async () => {
    await open('dragonfly', 'hottest=0')
    const found = new Set<string>()
    for (let i = 0; i < 120; i++) {
      await page.keyboard.press('Tab')
      const what = await page.evaluate(() => {
        const now = document.activeElement!
        return now === document.body ? '' : `${now.className} ${getComputedStyle(now).outlineStyle}`
      })
      if (what === '') break
      expect(what).not.toMatch(/ none$/)
      found.add(what.split(' ')[0]!)
    }
    expect([...found]).toContain('canvas-frame')
    expect([...found]).toContain('job-name')
  })
})

test('the help keeps the keyboard inside; Esc closes it and restores the focus', async () => {
  await open('dragonfly', 'hottest=0')
  const opener = page.getByRole('button', { name: 'Help' })
  const isInside = (): Promise<boolean> =>
    at('help').evaluate((box) => box.contains(document.activeElement) && box !== document.activeElement)
  for (const keys of [
    ['Tab', 'Tab', 'Tab'],
    ['Shift+Tab', 'Shift+Tab'],
  ]) {
    await opener.focus()
    await press('Enter')
    expect(await isInside()).toBe(true)
    // A click on the text moves the focus to the box; the next stop is inside again.
    await at('help').locator('dt').last().click()
    expect(await at('help').evaluate((box) => box === document.activeElement)).toBe(true)
    for (const key of keys) {
      await press(key)
      expect(await isInside()).toBe(true)
    }
    await press('Escape')
    expect(await page.locator('[data-test=help]').count()).toBe(0)
    expect(await opener.evaluate((e) => e === document.activeElement)).toBe(true)
  }
})

describe('each picture has a table', () => {
  const tables = async (): Promise<string[]> =>
    page.locator('[data-test=as-table]').evaluateAll((all) => all.map((e) => e.getAttribute('aria-label')!))

  test.each([
    ['run=2', ['distribution', 'links of dragonfly', 'matrices']],
    [
      'view=compare&compared=0,1&difference=0',
      ['distribution', 'distributions of the compared runs', 'links of edison', 'links of edison-K'],
    ],
    [
      `view=time&run=${familyOf('packet')}`,
      [
        'distribution',
        'Throughput over time',
        'Mean latency over time',
        'Stall of routers over time, max of their links',
        expect.stringMatching(/^links of Stall from /) as string,
      ],
    ],
    [
      `view=jobs&run=${familyOf('packet')}`,
      ['distribution', 'links of Traffic of near', 'Ranks on routers', 'Communication matrix'],
    ],
  ])('%s', async (settings, names) => {
    await open('families', `${settings}&hottest=0`)
    await page.waitForTimeout(500)
    expect((await tables()).map((name) => name.replace(/^table: /, ''))).toEqual(names)
  })

  test('its values equal the run’s tables; Esc closes it and restores the focus', async () => {
    await open('dragonfly', 'hottest=0')
    const opener = page.getByRole('button', { name: 'table: links of dragonfly' })
    await opener.focus()
    await press('Enter')
    expect(await text('table-rows')).toBe(
      `First 500 of ${number(dragonfly.loaded)} rows. Use Export for all values.`,
    )
    const row = at('table').locator('tbody tr').first()
    const cells = await row.locator('td').allInnerTexts()
    const { from, to, class: code } = dragonfly.hottest
    expect(cells.slice(0, 3)).toEqual([from, to, code])
    expect(cells[3]).toBe(await text('hot-value'))
    // Keys do not affect the view behind.
    await press('1', 'v')
    expect(await page.locator('.jobs li.hidden').count()).toBe(0)
    await keepPicture('table')
    await press('Escape')
    expect(await page.locator('[data-test=table]').count()).toBe(0)
    expect(await opener.evaluate((e) => e === document.activeElement)).toBe(true)
  })

  test('rank activity: all ranks, longest wait first', async () => {
    await open('ranks', 'view=time')
    await page.getByRole('button', { name: 'table: ranks over time' }).click()
    await settle(page)
    expect(await text('table-rows')).toBe(`${number(expected.lanes.ranks)} rows.`)
  })
})
