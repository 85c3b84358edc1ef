/** Router colours by rank on a 4 x 4 x 4 torus. */
import { expect, test } from 'vitest'
import { settle } from './chromium'
import {
  address,
  at,
  keepPicture,
  numberOf,
  open,
  openUntil,
  page,
  press,
  set,
  text,
  useBrowser,
} from './stage'

useBrowser()

const RUN = `run=${numberOf('packet-torus')}&theme=light`
const pixels = (): Promise<string> =>
  page.evaluate(() => document.querySelector<HTMLCanvasElement>('.picture canvas')!.toDataURL())

test('by rank, by grid coordinate, and back', async () => {
  // 64 ranks on 64 routers.
  await open('all', RUN)
  const byJob = await pixels()
  await at('routers').selectOption('rank')
  await at('ranks-labels').waitFor()
  await settle(page)
  expect(await text('ranks-labels')).toBe('0\nrank of cube\n63')
  const byRank = await pixels()
  expect(byRank).not.toBe(byJob)

  const grid = at('ranks-grid')
  await grid.fill('4 x 4')
  expect(await grid.locator('..').getAttribute('title')).toBe('4 x 4 = 16, but the job has 64 ranks')
  await grid.press('Enter')
  expect((await address()).get('ranks')).toBeNull()
  await grid.fill('4 x 4 x 4')
  await grid.press('Enter')
  await settle(page)
  expect(await text('ranks-labels')).toBe('0\ncoordinate 0 of 4 x 4 x 4, cube\n3')
  const byFirst = await pixels()
  await at('ranks-axis').selectOption('2')
  await settle(page)
  expect(new Set([byJob, byRank, byFirst, await pixels()]).size).toBe(4)
  expect(Object.fromEntries(await address())).toMatchObject({ routers: 'rank', ranks: '0.4x4x4.2' })

  await at('routers').selectOption('job')
  await settle(page)
  expect(await pixels()).toBe(byJob)
})

test('a router shows its rank; the address restores it; invalid values are refused', async () => {
  await openUntil('all', `${RUN}&routers=rank&ranks=0.4x4x4.2`, '[data-test=ranks-labels]')
  await keepPicture('ranks')
  await page.locator('.picture .canvas-frame').focus()
  await press('Shift+.')
  await page.waitForSelector('.tooltip')
  expect(await page.locator('.tooltip').innerText()).toMatch(/The coordinate 2 of 4 x 4 x 4, cube\s+0, at 0/)
  await set(`${RUN}&routers=rank&ranks=5`)
  expect(await page.locator('.odonata').innerText()).toContain('unknown job 5')
})
