/** Who sends to whom in all jobs side by side, as the levels of a multigrid cycle. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { quantity } from '../src/base/format'
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
  text,
  useBrowser,
} from './stage'

useBrowser()

const { levels } = expected

const arrived = (settings: string): Promise<void> => openUntil('levels', settings, '[data-test=talk-0]')

test('every level has its matrix; what it sends is what the table says', async () => {
  await open('levels', 'view=jobs')
  await page.waitForSelector('[data-test=communication-map]')
  await click('talks-all')
  await page.waitForSelector('[data-test=talk-0]')
  expect((await address()).get('talks')).toBe('all')
  const sections = page.locator('.talks section')
  expect(await sections.count()).toBe(levels.length)
  for (const [i, { name, bytes, messages }] of levels.entries()) {
    const words = await sections.nth(i).innerText()
    expect(words).toContain(name)
    expect(words).toContain(`${quantity(bytes, 'bytes')} in ${number(messages)} messages`)
  }
  await keepPicture('talks')
})

test('all matrices have one scale: its end is the largest cell of all', async () => {
  await arrived('view=jobs&talks=all')
  const most = Math.max(...levels.map((level) => level.most))
  const ends = await page.locator('.talks .mini-ramp').allInnerTexts()
  expect(ends).toHaveLength(levels.length)
  for (const end of ends) expect(end).toContain(quantity(most, 'bytes'))
})

test('a hidden job has no matrix; all cells are kept as a file', async () => {
  await arrived('view=jobs&talks=all&jobs=1')
  expect(await page.locator('[data-test=talk-1]').count()).toBe(0)
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
  await click('talks-all')
  expect(await text('communication-reading')).toContain('all that the job sends')
})

test.each([1440, 1000, 390])('fits %d pixels, light and dark', async (width) => {
  await page.setViewportSize({ width, height: 900 })
  for (const theme of ['light', 'dark']) {
    await arrived(`view=jobs&talks=all&theme=${theme}`)
    const wide = 'document.querySelector(".frame").scrollWidth > document.querySelector(".frame").clientWidth'
    expect(await page.evaluate(wide)).toBe(false)
    await keepPicture(`talks-${width}-${theme}`)
  }
})
