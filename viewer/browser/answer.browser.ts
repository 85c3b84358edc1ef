/** The result of a comparison as text, and the distributions of its runs on one axis. */
import { expect, test } from 'vitest'
import { percent, quantity } from '../src/base/format'
import { placeName } from '../src/data/explanation'
import {
  address,
  at,
  click,
  expected,
  keepPicture,
  open,
  openOn,
  openUntil,
  page,
  text,
  useBrowser,
} from './stage'

useBrowser()

test('a comparison starts with the slowest job, its bottlenecks and traffic changes', async () => {
  const { job, before, after, link_before, link_after } = expected.answer
  await openUntil('all', 'view=compare&compared=0,1&difference=0', '[data-test=answer-1]')
  const said = (await text('answer-1')).replaceAll('\u00a0', ' ').replace(/\s+/g, ' ')
  const change = after / before - 1
  const slower = `${job} is ${percent(change)} slower`
  expect(said).toContain(change > 0 ? slower : `the smallest gain is ${job}, ${percent(-change)} faster`)
  expect(said).toContain(`${quantity(before, 's')} in the base, ${quantity(after, 's')} now`)
  for (const { name, share } of [link_before, link_after]) {
    expect(said).toContain(name)
    expect(said).toContain(percent(share))
  }
  expect(said).toMatch(/Traffic change there: .* [+−-][\d.]+ [KMG]iB/)
  // The result is above the pictures.
  const [words, machine] = await Promise.all([
    at('answers').boundingBox(),
    page.locator('.pictures').boundingBox(),
  ])
  expect(words!.y + words!.height).toBeLessThanOrEqual(machine!.y + 1)
  await keepPicture('answer')
  await page.locator('[data-test=answer-place]', { hasText: link_after.name }).first().click()
  expect((await address()).get('focus')).toBe(`link:${link_after.name}`)
  await click('answer-jobs-1')
  expect(await page.locator('.answers tbody tr').count()).toBe(2)
})

test('a difference has the same result; with several runs, each has one', async () => {
  await openUntil('all', 'view=compare&compared=0,1&difference=1', '[data-test=answer-1]')
  expect(await text('answer-1')).toContain(expected.answer.job)
  await keepPicture('answer-difference')
  await openUntil(
    'all',
    'view=compare&compared=0,1,2&difference=0',
    '[data-test=answer-1]',
    '[data-test=answer-2]',
  )
  expect(await page.locator('.answer').count()).toBe(2)
  expect(await text('answer-2')).toContain('The runs have no common job.')
})

test('distributions share one axis, side by side and in a difference', async () => {
  for (const more of ['', '&difference=0']) {
    await open('all', `view=compare&compared=0,1${more}`)
    expect(await at('both').innerText()).toContain('edison-K')
    for (const code of ['green', 'black', 'blue']) {
      const box = (await at(`outline-${code}-0`).boundingBox())!
      expect(box.height).toBeGreaterThan(20)
    }
  }
})

test('a run shows each bottleneck with the numbers of explain, and focuses it', async () => {
  const { job, name, share, sharers } = expected.explanation
  const own = sharers.find((sharer) => sharer.name === job)!
  const rest = sharers.find((sharer) => sharer.name !== job)
  await open('all', 'run=0')
  await click('panel-bottlenecks')
  await page.waitForSelector('[data-test=bottlenecks-0]')
  const said = (await text('bottlenecks-0')).replaceAll('\u00a0', ' ').replace(/\s+/g, ' ')
  expect(said).toContain(job)
  const place = placeName({ name, link: / (in|out)$/.test(name) ? null : 0 })
  expect(said).toContain(`${place}, ${percent(share)} busy (${percent(own.share)} by ${job}`)
  if (rest) expect(said).toContain(`, ${percent(rest.share)} by ${rest.name})`)
  await page.locator('[data-test=bottlenecks-0] summary').click()
  expect(await page.locator('[data-test=bottlenecks-0] table').count()).toBe(2)
  await keepPicture('bottlenecks')
  await page.locator('[data-test=bottlenecks-0] [data-test=bottleneck-place]').first().click()
  const focus = (await address()).get('focus')!
  expect(focus).toMatch(/^(link|node):/)
  expect(focus).toContain(name.replace(/ (in|out)$/, ''))
})

test('a comparison shows the bottlenecks of each run', async () => {
  await open('all', 'view=compare&compared=0,1&difference=1&panel=bottlenecks')
  await page.waitForSelector('[data-test=bottlenecks-0]')
  const said = (await text('bottlenecks-0')).replaceAll('\u00a0', ' ')
  expect(said).toContain('edison: ')
  expect(said).toContain('edison-K: ')
  expect(said.match(/% busy/g)).toHaveLength(2)
})

test('also on standalone pages and in notebooks, for every family', async () => {
  for (const surface of ['html', 'notebook'] as const) {
    await openOn(surface, 'panel=bottlenecks')
    await page.waitForSelector('[data-test=bottlenecks-0]')
    expect(await text('bottlenecks-0')).toMatch(/% busy/)
    // Without a server, nothing can run.
    expect(await page.locator('[data-test^=what-if-]').count()).toBe(0)
  }
})

test('a served page runs the experiment on changed machines', async () => {
  await open('allowed', 'panel=bottlenecks')
  const job = page.locator('[data-test=bottlenecks-0]')
  await job.locator('[data-test^=what-if-]').click()
  const table = job.locator('table', { hasText: 'terminal.bandwidth*=1.1' })
  await table.waitFor({ timeout: 300_000 })
  expect((await table.innerText()).replaceAll('\u00a0', ' ')).toMatch(
    /terminal\.bandwidth\*=0\.9\s+[\d.]+ [mµ]?s/,
  )
  await keepPicture('what-if')
}, 320_000)
