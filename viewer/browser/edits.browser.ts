/** Changes of the machine in the picture, run on the server: the difference appears, with what a user sees. */
import { expect, test } from 'vitest'
import { address, expected, keepPicture, page, settle, text, urls, useBrowser, forgive } from './stage'
import { openView } from './chromium'

useBrowser()

const choose = async (name: string | RegExp, exact = false): Promise<void> => {
  await page.getByRole('button', { name, exact }).first().click()
  await settle(page)
}

test('what does the hottest cable matter? 3 clicks', async () => {
  await openView(page, urls['allowed']!)
  const before = await page.getByLabel('Run', { exact: true }).count()
  expect(before).toBe(0)
  // The label of the bottleneck on the picture.
  const { from, to, class: name } = expected.runs['dragonfly']!.hottest
  await openView(page, urls['allowed']!, `focus=link%3A${from}%3E${to}%3A${name}.0`)
  await choose('Remove this cable')
  expect((await address()).get('edits')).toBe(`fail ${from}>${to}:${name}.0`)
  await choose('½ bandwidth')
  await choose(/^Take back .+bandwidth/)
  await choose('Run', true)
  await page
    .getByRole('status')
    .filter({ hasText: 'Running' })
    .waitFor({ state: 'detached', timeout: 60_000 })
  await page.waitForSelector('[data-test=pairing]', { timeout: 60_000 })
  await settle(page)
  // A new run in the list, compared with its base.
  const runs = await page.getByLabel('Run', { exact: true }).locator('option').allInnerTexts()
  expect(runs).toEqual(['dragonfly', `dragonfly, fail ${from}>${to}:${name}.0`])
  expect(await text('pairing')).toMatch(/2 only in dragonfly \(removed\)/)
  expect((await address()).get('compared')).toBe('0,1')
  expect((await address()).get('edits')).toBeNull()
  await keepPicture('edits')
})

test('an impossible change is an error on the page, and can be taken back', async () => {
  await openView(page, urls['allowed']!, 'edits=nonsense')
  forgive(/422/)
  await choose('Run', true)
  await page.getByRole('alert').filter({ hasText: 'the machine cannot be changed so' }).waitFor()
  await choose('Take back nonsense')
  expect(await page.getByRole('alert').count()).toBe(0)
})

test('a server that makes no runs offers none', async () => {
  await openView(page, urls['dragonfly']!, 'panel=bottlenecks&edits=-1%20local')
  expect(await page.getByRole('region', { name: 'Change the machine' }).count()).toBe(0)
  await page.getByText('odonata view --allow-runs').first().waitFor()
  // Once, not below each job.
  expect(await page.getByText('odonata view --allow-runs').count()).toBe(1)
})
