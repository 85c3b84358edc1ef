/** Communication matrices of all jobs side by side, such as levels of a multigrid cycle. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { digits, quantity } from '../src/base/format'
import {
  address,
  at,
  click,
  expected,
  keepPicture,
  number,
  open,
  openUntil,
  page,
  set,
  text,
  useBrowser,
} from './stage'

useBrowser()

const { levels } = expected

const arrived = (settings: string): Promise<void> => openUntil('levels', settings, '[data-test=matrix-0]')

test('each level has a matrix with the totals of the table', async () => {
  await open('levels', 'view=jobs')
  await page.waitForSelector('[data-test=communication-map]')
  await click('all-matrices')
  await page.waitForSelector('[data-test=matrix-0]')
  expect((await address()).get('matrices')).toBe('all')
  const sections = page.locator('.communication-matrices section')
  expect(await sections.count()).toBe(levels.length)
  for (const [i, { name, bytes, messages }] of levels.entries()) {
    const words = await sections.nth(i).innerText()
    expect(words).toContain(name)
    expect(words).toContain(`${quantity(bytes, 'bytes')} in ${number(messages)} messages`)
  }
  await keepPicture('matrices')
})

test('all matrices share one scale up to the largest cell', async () => {
  await arrived('view=jobs&matrices=all')
  const most = Math.max(...levels.map((level) => level.most))
  const ends = await page.locator('.communication-matrices .mini-ramp').allInnerTexts()
  expect(ends).toHaveLength(levels.length)
  for (const end of ends) expect(end).toContain(quantity(most, 'bytes'))
})

test('a hidden job has no matrix; the export has all cells', async () => {
  await arrived('view=jobs&matrices=all&jobs=1')
  expect(await page.locator('[data-test=matrix-1]').count()).toBe(0)
  const download = page.waitForEvent('download')
  await at('export').click()
  await at('export-csv').click()
  const lines = readFileSync(await (await download).path(), 'utf8')
    .trim()
    .split('\r\n')
  expect(lines[0]).toBe('job,from,to,bytes')
  const sum = lines
    .slice(1)
    .filter((line) => line.startsWith(`${levels[0]!.name},`))
    .reduce((total, line) => total + Number(line.split(',')[3]), 0)
  expect(sum).toBeCloseTo(levels[0]!.bytes, 3)
  await click('all-matrices')
  expect(await text('communication-reading')).toContain('of payload requested in total')
})

describe('before and after a redistribution', () => {
  const { regrouped } = expected
  const PAIRED = 'view=jobs&matrices=all&otherRun=1'
  const open = (more = ''): Promise<void> => openUntil('regrouped', PAIRED + more, '[data-test=other-run-1]')
  const after = (name: string) => regrouped.find((level) => level.name === name)

  test('each level is next to the level of the same name, on one scale, with ratios', async () => {
    await openUntil('regrouped', 'view=jobs&matrices=all', '[data-test=matrix-0]')
    expect(await page.locator('.communication-matrices .one').count()).toBe(levels.length)
    await at('other-run').selectOption('1')
    await page.waitForSelector('[data-test=other-run-1]')
    expect((await address()).get('otherRun')).toBe('1')
    const sections = page.locator('.communication-matrices section')
    expect(await sections.count()).toBe(levels.length)
    for (const [i, { name, bytes, messages }] of levels.entries()) {
      const words = await sections.nth(i).innerText()
      expect(words).toContain(`${quantity(bytes, 'bytes')} in ${number(messages)} messages`)
      const there = after(name)
      if (!there) {
        expect(words).toContain(`levels-regrouped has no job “${name}”`)
        continue
      }
      expect(words).toContain(`${quantity(there.bytes, 'bytes')} in ${number(there.messages)} messages`)
      const times = there.messages / messages
      const said = times < 1 ? `÷${digits(1 / times)}` : `×${digits(times)}`
      expect(words).toContain(`messages ${said}`)
    }
    // Levels above the gathered one are unchanged; the two below have fewer messages.
    expect(after('level 3')!.messages).toBe(levels[3]!.messages)
    expect(levels[4]!.messages / after('level 4')!.messages).toBeGreaterThan(100)
    const most = Math.max(...[...levels, ...regrouped].map((level) => level.most))
    const ends = await page.locator('.communication-matrices .mini-ramp').allInnerTexts()
    expect(ends).toHaveLength(levels.length + regrouped.length)
    for (const end of ends) expect(end).toContain(quantity(most, 'bytes'))
    await keepPicture('matrices-paired')
  })

  test('the export has both runs; invalid runs are refused', async () => {
    await open('&jobs=0')
    const download = page.waitForEvent('download')
    await at('export').click()
    await at('export-csv').click()
    const [head, ...rows] = readFileSync(await (await download).path(), 'utf8')
      .trim()
      .split('\r\n')
    expect(head).toBe('run,job,from,to,bytes')
    const sum = (run: string, job: string): number =>
      rows
        .map((row) => row.split(','))
        .filter((row) => row[0] === run && row[1] === job)
        .reduce((total, row) => total + Number(row[4]), 0)
    expect(sum('levels', 'level 0')).toBe(0)
    expect(sum('levels', 'level 4')).toBeCloseTo(levels[4]!.bytes, 3)
    expect(sum('levels-regrouped', 'level 4')).toBeCloseTo(after('level 4')!.bytes, 3)
    await set('view=jobs&matrices=all&otherRun=7')
    expect(await page.locator('.odonata').innerText()).toContain('unknown run 7')
  })

  test.each([1440, 1000, 390])('fits %d pixels, light and dark', async (width) => {
    await page.setViewportSize({ width, height: 900 })
    for (const theme of ['light', 'dark']) {
      await open(`&theme=${theme}`)
      const wide =
        'document.querySelector(".frame").scrollWidth > document.querySelector(".frame").clientWidth'
      expect(await page.evaluate(wide)).toBe(false)
      await keepPicture(`matrices-paired-${width}-${theme}`)
    }
  })
})

test.each([1440, 1000, 390])('fits %d pixels, light and dark', async (width) => {
  await page.setViewportSize({ width, height: 900 })
  for (const theme of ['light', 'dark']) {
    await arrived(`view=jobs&matrices=all&theme=${theme}`)
    const wide = 'document.querySelector(".frame").scrollWidth > document.querySelector(".frame").clientWidth'
    expect(await page.evaluate(wide)).toBe(false)
    await keepPicture(`matrices-${width}-${theme}`)
  }
})
