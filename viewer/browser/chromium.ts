/** Debian's chromium, driven by playwright-core; it brings no browser of its own. */
import { existsSync } from 'node:fs'
import { chromium, type Browser, type Page } from 'playwright-core'

const CANDIDATES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

export function findChromium(): string | undefined {
  return [process.env['CHROMIUM'], ...CANDIDATES].find((path) => path !== undefined && existsSync(path))
}

export async function launch(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error('there is no chromium; run scripts/bootstrap chromium')
  // Containers rarely allow the sandbox; the pages are our own.
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--enable-precise-memory-info'],
  })
}

/** A page whose errors and console errors are collected. */
export async function openPage(
  browser: Browser,
  width = 1440,
  height = 900,
): Promise<{ page: Page; errors: string[] }> {
  const page = await browser.newPage({ viewport: { width, height }, acceptDownloads: true })
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(String(error.stack ?? error)))
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
  return { page, errors }
}

/** Opens an address and waits for the first whole picture. */
export async function openView(page: Page, url: string, settings = ''): Promise<void> {
  await page.goto('about:blank')
  await page.goto(`${url}#${settings}`)
  await page.waitForSelector('[data-test=app][data-ready=yes]', { timeout: 60_000 })
  await settle(page)
}

/** Until all effects of the last change have been drawn, by the thread that draws, too. */
export async function settle(page: Page): Promise<void> {
  const frames = () =>
    page.evaluate(
      () =>
        new Promise<void>((resolve) =>
          requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 30))),
        ),
    )
  await frames()
  if ((await page.locator('[data-drawing]').count()) === 0) return
  await page.waitForFunction(() => !document.querySelector('[data-drawing]'), null, {
    polling: 'raf',
    timeout: 60_000,
  })
  await frames()
}
