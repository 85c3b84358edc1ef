/**
 * Measures the viewer in a real browser: `npm run bench -- URL [RUN]`, with the URL printed by `odonata view
 * --no-open`; of a sweep `npm run bench -- URL sweep`.
 *
 * Counts the page's main thread (from the browser's trace) and all drawing processes (see trace.ts). Both are
 * processor time, so other load does not matter. The time until the first picture is wall-clock time, where
 * it does.
 */
import { readFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import type { Browser, Page } from 'playwright-core'
import { launch, openPage, settle } from './chromium.ts'
import { traced, tracedUntil, type Step } from './trace.ts'

const MOVES = 24
const LOADS = 3

interface Load {
  /** Wall-clock milliseconds from navigation to the first complete picture. */
  readonly clock: number
  /** The same until the whole page is complete: panels, tables, matrices. */
  readonly whole: number
}

const FIRST_PICTURE = 'odonata-first-picture'

/** Opens the page again. The server has prepared its first answer, as for any visit. */
async function load(page: Page, address: string): Promise<Load> {
  await page.goto('about:blank')
  await page.goto(address)
  const seen = (name: string): boolean => performance.getEntriesByName(name).length > 0
  await page.waitForFunction(seen, FIRST_PICTURE, { timeout: 120_000 })
  // Set by the page after its first picture.
  const clock = await page.evaluate((name) => performance.getEntriesByName(name)[0]!.startTime, FIRST_PICTURE)
  await page.waitForSelector('[data-test=app][data-ready=yes]', { timeout: 120_000 })
  const drawn = (): boolean => document.querySelector('[data-drawing]') === null
  await page.waitForFunction(drawn, null, { timeout: 120_000 })
  const whole = await page.evaluate(() => performance.now())
  await settle(page)
  return { clock, whole }
}

/** Peak memory of any page process, from Linux. */
async function peakMebibytes(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  const peaks = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1])
  return Math.max(0, ...peaks.map((kib) => Number(kib ?? 0) / 1024))
}

/** Median and 95th percentile of main thread and frame times. */
function stepText(steps: readonly Step[]): string {
  const part = (of: keyof Step, share: number): string => {
    const sorted = steps.map((step) => step[of]).sort((a, b) => a - b)
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(1)
  }
  const pair = (of: keyof Step): string => `${part(of, 0.5)} ms (95 %: ${part(of, 0.95)})`
  const kinds = `script ${part('script', 0.5)} ms, paint and layout ${part('paint', 0.5)} ms`
  return `main thread ${pair('main')}, ${kinds}, longest task ${part('longest', 0.5)} ms, frame ${pair('frame')}`
}

/** A sweep: its first picture, then each of its displays, until everything has arrived. */
async function measureSweep(url: string): Promise<void> {
  const browser = await launch()
  const { page, errors } = await openPage(browser)
  const address = `${url}#view=sweep`
  const main = await tracedUntil(browser, page, FIRST_PICTURE, async () => {
    await page.goto('about:blank')
    await page.goto(address)
    await page.waitForSelector('[data-test=app][data-ready=yes]', { timeout: 120_000 })
    // This page has no picture of a machine, so the mark is ours.
    await page.evaluate((name) => void performance.mark(name), FIRST_PICTURE)
  })
  const lines = [`first picture      ${main.toFixed(0)} ms on the main thread's processor until then`]
  for (const name of ['Map', 'Lines', 'Runs', 'Ranking']) {
    const show = async (): Promise<void> => {
      await page.getByRole('button', { name, exact: true }).click()
      await page.getByText(/^Loading .* runs …$/).waitFor({ state: 'detached', timeout: 120_000 })
    }
    const [step] = await traced(browser, page, [show], () => settle(page))
    lines.push(
      `${name.padEnd(18)} main thread ${step!.main.toFixed(0)} ms, longest task ${step!.longest.toFixed(0)} ms`,
    )
  }
  process.stdout.write(lines.join('\n') + '\n')
  if (errors.length > 0) throw new Error(errors.join('\n'))
  await browser.close()
}

async function main(): Promise<void> {
  const [url, run = '0'] = process.argv.slice(2)
  if (!url) throw new Error('give the address that odonata view --no-open printed')
  if (run === 'sweep') return measureSweep(url)
  const browser = await launch()
  const { page, errors } = await openPage(browser)
  const loads: Load[] = []
  for (let i = 0; i < LOADS; i++) loads.push(await load(page, `${url}#run=${run}`))
  // Repeat without the trace, which also takes time.
  const main = await tracedUntil(browser, page, FIRST_PICTURE, () => load(page, `${url}#run=${run}`))
  const best = loads.reduce((a, b) => (b.clock < a.clock ? b : a))
  const links = await page.textContent('[data-test=selected-count]')
  const measure = (steps: readonly (() => Promise<unknown>)[]): Promise<Step[]> =>
    traced(browser, page, steps, () => settle(page))
  const moves = (move: (i: number) => Promise<unknown>) =>
    measure(Array.from({ length: MOVES }, (_, i) => () => move(i)))

  const box = (await page.locator('[data-test=brush] .overlay').boundingBox())!
  const middle = box.y + box.height / 2
  await page.mouse.move(box.x + box.width * 0.1, middle)
  await page.mouse.down()
  const brush = await moves((i) => page.mouse.move(box.x + box.width * (0.15 + (0.8 * i) / MOVES), middle))
  const letGo = await measure([() => page.mouse.up()])
  await page.keyboard.press('Escape')
  await settle(page)

  const picture = (await page.locator('.picture .canvas-frame').boundingBox())!
  const hover = await moves((i) => {
    const angle = (2 * Math.PI * i) / MOVES
    const radius = (0.2 + (0.25 * (i % 3)) / 2) * Math.min(picture.width, picture.height)
    const [x, y] = [picture.x + picture.width / 2, picture.y + picture.height / 2]
    return page.mouse.move(x + radius * Math.cos(angle), y + radius * Math.sin(angle))
  })
  const matrices = (await page.locator('.matrices .canvas-frame').boundingBox())!
  const cells = await moves((i) => page.mouse.move(matrices.x + 40 + i * 2, matrices.y + 60 + i))
  const solo = await moves(() => page.keyboard.press('1'))
  const peak = await peakMebibytes(browser)

  const lines = [
    `links              ${links}`,
    `first picture      ${best.clock.toFixed(0)} ms after navigation, the best of ${loads.map(({ clock }) => clock.toFixed(0)).join(', ')}`,
    `                   ${main.toFixed(0)} ms on the main thread's processor until then`,
    `the whole page     ${best.whole.toFixed(0)} ms after navigation, of that same time`,
    `load               ${loadavg()
      .map((value) => value.toFixed(1))
      .join(', ')} on ${cpus().length} processors`,
    `a brush move       ${stepText(brush)}`,
    `letting go         ${stepText(letGo)}`,
    `a job switched     ${stepText(solo)}`,
    `hover, picture     ${stepText(hover)}`,
    `hover, matrices    ${stepText(cells)}`,
    `memory of the page ${peak.toFixed(0)} MiB at most`,
  ]
  process.stdout.write(lines.join('\n') + '\n')
  if (errors.length > 0) throw new Error(errors.join('\n'))
  await browser.close()
}

await main()
process.exit(0)
