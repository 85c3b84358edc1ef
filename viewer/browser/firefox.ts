/**
 * Debian's Firefox, driven by puppeteer-core over WebDriver BiDi; it lacks commands that playwright needs.
 */
import { existsSync } from 'node:fs'
import { launch, type Browser, type Page } from 'puppeteer-core'

const CANDIDATES = ['/usr/bin/firefox-esr', '/usr/bin/firefox']

export function findFirefox(): string | undefined {
  return [process.env['FIREFOX'], ...CANDIDATES].find((path) => path !== undefined && existsSync(path))
}

export async function launchFirefox(executablePath: string): Promise<Browser> {
  const defaultViewport = { width: 1440, height: 900 }
  return launch({ browser: 'firefox', executablePath, headless: true, defaultViewport })
}

/** A page that collects errors. */
export async function openFirefoxPage(browser: Browser): Promise<{ page: Page; errors: string[] }> {
  const page = await browser.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
  return { page, errors }
}

/** Opens an address and waits for the first complete picture. */
export async function openInFirefox(page: Page, url: string, settings = ''): Promise<void> {
  await page.goto('about:blank')
  await page.goto(`${url}#${settings}`)
  await page.waitForSelector('[data-test=app][data-ready=yes]', { timeout: 60_000 })
}
