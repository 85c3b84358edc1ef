/** The query line: its rows select the marks that they name. */
import { expect, inject, test } from 'vitest'
import { expected, forgive, open, page, reload, settle, text, urls, useBrowser } from './stage'
import { openView } from './chromium'

useBrowser()

const ask = async (sql: string): Promise<void> => {
  await page.getByRole('textbox', { name: 'SELECT over the tables' }).fill(sql)
  await page.getByRole('button', { name: 'Run query' }).click()
  await page.getByText('Running …').waitFor({ state: 'detached' })
  await settle(page)
}

test('a row focuses its link, and all rows narrow the picture', async () => {
  await openView(page, urls['dragonfly']!)
  await page.getByRole('button', { name: 'Query', exact: true }).click()
  await ask('FROM links ORDER BY bytes DESC LIMIT 4')
  const { from, to } = expected.runs['dragonfly']!.hottest
  const first = page.getByRole('region', { name: 'Rows of the answer' }).getByRole('row').nth(1)
  expect(await first.innerText()).toContain(`${from}>${to}`)
  await first.click()
  await settle(page)
  expect(await text('focus')).toContain(`${from}>${to}`)
  await page.getByRole('button', { name: 'show only these links' }).click()
  await settle(page)
  expect(await text('focus')).toContain('4 links')
  expect(await text('selected-count')).toContain('4 selected links')
  // Query and focus are in the address.
  await page.waitForURL(/focus=links/)
  await reload()
  await page.getByRole('region', { name: 'Rows of the answer' }).waitFor()
  expect(await text('selected-count')).toContain('4 selected links')
})

test('jobs of an answer are shown alone, and mistakes are explained', async () => {
  await open('dragonfly', 'panel=query')
  await ask('SELECT job, completion_time_s FROM jobs ORDER BY 2 LIMIT 1')
  await page.getByRole('button', { name: 'show only these jobs' }).click()
  await settle(page)
  expect(await page.locator('.job-bars button.hidden').count()).toBe(1)
  // Chromium reports the refused request.
  forgive(/422/)
  await ask('SELECT byte FROM links')
  expect(await page.getByRole('alert').innerText()).toContain('Candidate bindings: "bytes"')
})

test('a page without a server says why it answers no queries', async () => {
  await openView(page, inject('standalone'), 'panel=query')
  expect(await page.getByText('A page without a server answers no queries').isVisible()).toBe(true)
})
