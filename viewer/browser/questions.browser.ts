/**
 * Eight questions of an administrator, answered with what a newcomer sees: roles and visible words. Each states
 * its number of clicks.
 */
import { expect, test } from 'vitest'
import { expected, keepPicture, open, page, RUNS, settle, text, urls, useBrowser } from './stage'
import { parseQuantity, quantity } from '../src/base/format'
import { openView } from './chromium'

useBrowser()

/** Opens a page as from the command line, without settings in its address. */
const arrive = (server: string): Promise<void> => openView(page, urls[server]!)

const choose = async (role: 'button' | 'link', name: string | RegExp): Promise<void> => {
  await page.getByRole(role, { name }).first().click()
  await settle(page)
}

const headline = async (): Promise<string> => {
  const said = page.getByRole('status').filter({ hasText: / job/ }).first()
  await said.waitFor()
  return (await said.innerText()).replace(/\s+/g, ' ')
}

test('whose traffic is on the hottest link? 0 clicks', async () => {
  await arrive('dragonfly')
  expect(await headline()).toMatch(/^2 jobs on dragonfly-1056\. Slowest: a, [\d.]+ µs, limited by .+\.$/)
  await keepPicture('question-1')
})

test('what does one black cable less cost? 1 click', async () => {
  await arrive('all')
  await choose('button', 'Compare')
  await page
    .getByText(/% (slower|faster)/)
    .first()
    .waitFor()
  expect(
    await page
      .getByRole('button', { name: /^black/ })
      .first()
      .innerText(),
  ).toMatch(/[+−][\d.]+ %/)
  // Two circles that look alike are not the answer: the difference is.
  expect(await page.locator('.picture').count()).toBe(1)
  await keepPicture('question-2')
})

test('which groups talk? 0 clicks, 1 for numbers', async () => {
  await arrive('all')
  await page.getByText('Largest link').waitFor()
  const matrices = page.getByRole('region', { name: /Matrices of links/ })
  expect(await matrices.isVisible()).toBe(true)
  // As rows, largest first.
  await page.getByRole('button', { name: 'table: matrices' }).click()
  await settle(page)
  const row = page
    .getByRole('dialog')
    .getByRole('row', { name: /^Group \d+ to group/ })
    .first()
  // From every tenth link: enough to find the pair, and a lower bound of its largest link.
  const most = new Map<string, number>()
  for (const [link, [bytes]] of Object.entries(expected.runs['edison']!.by_name)) {
    const [, from, to] = /^g(\d+)r.*>g(\d+)r/.exec(link)!
    const pair = `Group ${from} to group ${to}`
    if (from !== to) most.set(pair, Math.max(most.get(pair) ?? 0, bytes!))
  }
  const [pair, bytes] = [...most].reduce((a, b) => (b[1] > a[1] ? b : a))
  const [shown, links, largest] = (await row.innerText()).split('\t')
  expect(shown).toBe(pair)
  expect(Number(links)).toBeGreaterThan(0)
  expect(parseQuantity(largest!.replace(/\s/g, ' '), 'bytes')).toBeGreaterThanOrEqual(bytes * 0.995)
  await keepPicture('question-3')
})

test('when is congestion? 1 click', async () => {
  await arrive('packet-alone')
  await choose('button', /worst at/)
  const { starts } = expected.series
  const totals = starts.map((start) =>
    Object.values(expected.series.stalls_of_routers).reduce((sum, times) => sum + (times[start] ?? 0), 0),
  )
  const worst = starts[totals.indexOf(Math.max(...totals))]!
  expect(await text('time')).toMatch(new RegExp(`^${worst / 1e6} µs of`))
  await keepPicture('question-4')
})

test('which setting is best? 0 clicks', async () => {
  await arrive('grid')
  expect(await text('sweep-headline')).toMatch(
    /^Best: routing=\S+, ranks=\d+: .+, compared with .+, 3 seeds\.$/,
  )
  const first = page.getByRole('table').getByRole('row').nth(1)
  expect(await first.innerText()).toContain(/routing=[\w-]+/.exec(await text('sweep-headline'))![0])
  await keepPicture('question-5')
})

test('why is my job slow? 1 click', async () => {
  await arrive('all')
  const { name, share } = expected.explanation
  await choose('button', new RegExp(`^${expected.explanation.job}`))
  const why = page.getByRole('region', { name: 'Bottlenecks' })
  await why.waitFor()
  expect(await why.innerText()).toContain(name)
  expect(share).toBeGreaterThan(0)
  // The job is alone on the picture; the same bar shows all again.
  expect(await page.locator('.job-bars button.hidden').count()).toBe(1)
  await keepPicture('question-6')
  await choose('button', new RegExp(`^${expected.explanation.job}`))
  expect(await page.locator('.job-bars button.hidden').count()).toBe(0)
})

test('where on the torus? 0 clicks', async () => {
  await arrive('torus-alone')
  const place = /X\d+Y\d+Z\d+>X\d+Y\d+Z\d+/.exec(await headline())
  expect(place).not.toBeNull()
  const label = page.getByRole('button', { name: /local link, / })
  expect(await label.isVisible()).toBe(true)
  await label.click()
  await settle(page)
  expect(await text('focus')).toContain(place![0])
  await keepPicture('question-7')
})

test('which level of the AMG cycle is slow? 0 clicks', async () => {
  await arrive('amg')
  expect(await page.getByRole('button', { name: 'Costs', pressed: true }).count()).toBe(1)
  const said = async (): Promise<string> => {
    const text = await page.getByRole('status').filter({ hasText: 'takes longest' }).innerText()
    return text.replace(/\s/g, ' ')
  }
  // The whole run first, then its slowest job.
  expect(await headline()).toMatch(/^2 jobs on eos\. Slowest: few ranks, .+; longest level: \d/)
  expect(await said()).toMatch(/^few ranks takes longest at level \d, mostly [\w-]+ \(.+\)\.$/)
  for (const { scenario, level, time_s: time } of expected.costs.slowest) {
    const answer = (await said()).split('; ').find((part) => part.includes(` in ${scenario}`))
    expect(answer).toContain(`at level ${level}, mostly `)
    expect(answer).toContain(`${quantity(time, 's').replace(/\s/g, ' ')} of`)
  }
  await keepPicture('question-8')
})

test('a first page has few controls, and no tab without data', async () => {
  await arrive('dragonfly')
  const controls = page.locator('button:visible, select:visible, input:visible, summary:visible')
  expect(await controls.count()).toBeLessThan(40)
  const tabs = await page.getByRole('navigation', { name: 'Views' }).getByRole('button').allInnerTexts()
  expect(tabs).toEqual(['Overview', 'Jobs'])
})

test('an invalid key in the address keeps the first page', async () => {
  await open('all', '')
  const before = await text('hottest-said')
  await openView(page, urls['all']!, 'nonsense=1')
  expect(await text('hottest-said')).toBe(before)
  expect(await text('refused')).toContain('unknown setting nonsense')
  expect(RUNS.length).toBeGreaterThan(1)
})
