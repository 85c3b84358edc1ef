/** Debian's Chromium, driven by playwright-core, which contains no browser. */
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

/** A page that collects errors and console errors. */
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

/** Opens an address and waits for the first complete picture. */
export async function openView(page: Page, url: string, settings = ''): Promise<void> {
  await page.goto('about:blank')
  await page.goto(`${url}#${settings}`)
  await page.waitForSelector('[data-test=app][data-ready=yes]', { timeout: 60_000 })
  await settle(page)
}

/** Waits until all effects of the last change are drawn, also by the drawing thread. */
export function settle(page: Page): Promise<void> {
  // One call: each is work on the page's main thread, which the benchmark counts.
  return page.evaluate(async () => {
    const frames = () =>
      new Promise<void>((resolve) =>
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 30))),
      )
    const drawn = (): boolean => document.querySelector('[data-drawing]') === null
    await frames()
    if (drawn()) return
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('a picture is not drawn after a minute')), 60_000)
      const observer = new MutationObserver(() => {
        if (!drawn()) return
        observer.disconnect()
        clearTimeout(late)
        resolve()
      })
      observer.observe(document, { subtree: true, childList: true, attributeFilter: ['data-drawing'] })
    })
    await frames()
  })
}
