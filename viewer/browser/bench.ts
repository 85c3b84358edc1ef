/**
 * Measures the viewer in a real browser: `npm run bench -- URL [RUN]`, URL as printed by `odonata view --no-open`.
 *
 * Scripting is the browser's own count of the processor seconds spent in script (ScriptDuration in thread ticks), so other
 * load on the machine does not show; the time until the first picture is by the clock, where it does.
 */
import { readFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { launch, openPage, settle } from './chromium'

const MOVES = 24

const LOADS = 3

/** Processor seconds of the page's main thread so far. */
async function seconds(session: CDPSession, metric: 'ScriptDuration' | 'TaskDuration'): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === metric)!.value
}

const scriptSeconds = (session: CDPSession): Promise<number> => seconds(session, 'ScriptDuration')

interface Load {
  /** Milliseconds by the clock from navigation to the first whole picture, and of processor time. */
  readonly clock: number
  readonly main: number
  readonly script: number
}

/** Opens the page afresh; the server has nothing ready that a first visit would not find. */
async function load(page: Page, session: CDPSession, address: string): Promise<Load> {
  await page.goto('about:blank')
  const [main, script] = [await seconds(session, 'TaskDuration'), await scriptSeconds(session)]
  await page.goto(address)
  await page.waitForFunction(() => performance.getEntriesByName('odonata-first-picture').length > 0, null, {
    timeout: 120_000,
  })
  // Set by the page itself after its first picture.
  const clock = await page.evaluate(() => performance.getEntriesByName('odonata-first-picture')[0]!.startTime)
  const times = {
    clock,
    main: 1000 * ((await seconds(session, 'TaskDuration')) - main),
    script: 1000 * ((await scriptSeconds(session)) - script),
  }
  await page.waitForSelector('[data-test=app][data-ready=yes]', { timeout: 120_000 })
  await settle(page)
  return times
}

/** Milliseconds of scripting per move, waiting for each to be drawn. */
async function perMove(
  page: Page,
  session: CDPSession,
  move: (i: number) => Promise<void>,
): Promise<{ median: number; worst: number }> {
  const costs: number[] = []
  for (let i = 0; i < MOVES; i++) {
    const before = await scriptSeconds(session)
    await move(i)
    await page.evaluate(
      () =>
        new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
    )
    costs.push(1000 * ((await scriptSeconds(session)) - before))
  }
  costs.sort((a, b) => a - b)
  return { median: costs[MOVES / 2]!, worst: costs[Math.floor(MOVES * 0.95)]! }
}

/** The most that any process that shows a page has held, by Linux's count. */
async function peakMebibytes(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  const peaks = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1])
  return Math.max(0, ...peaks.map((kib) => Number(kib ?? 0) / 1024))
}

async function main(): Promise<void> {
  const [url, run = '0'] = process.argv.slice(2)
  if (!url) throw new Error('give the address that odonata view --no-open printed')
  const browser = await launch()
  const { page, errors } = await openPage(browser)
  const session = await page.context().newCDPSession(page)
  // Thread ticks are processor time: what other programs take does not count.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const loads: Load[] = []
  for (let i = 0; i < LOADS; i++) loads.push(await load(page, session, `${url}#run=${run}`))
  const best = loads.reduce((a, b) => (b.clock < a.clock ? b : a))
  const links = await page.textContent('[data-test=selected-count]')

  const box = (await page.locator('[data-test=brush] .overlay').boundingBox())!
  const middle = box.y + box.height / 2
  await page.mouse.move(box.x + box.width * 0.1, middle)
  await page.mouse.down()
  const brush = await perMove(page, session, (i) =>
    page.mouse.move(box.x + box.width * (0.15 + (0.8 * i) / MOVES), middle),
  )
  await page.mouse.up()
  await page.keyboard.press('Escape')
  await settle(page)

  const picture = (await page.locator('.picture .canvas-frame').boundingBox())!
  const round = (i: number): [number, number] => {
    const angle = (2 * Math.PI * i) / MOVES
    const radius = (0.2 + (0.25 * (i % 3)) / 2) * Math.min(picture.width, picture.height)
    return [
      picture.x + picture.width / 2 + radius * Math.cos(angle),
      picture.y + picture.height / 2 + radius * Math.sin(angle),
    ]
  }
  const hover = await perMove(page, session, (i) => page.mouse.move(...round(i)))
  const matrices = (await page.locator('.matrices .canvas-frame').boundingBox())!
  const cells = await perMove(page, session, (i) =>
    page.mouse.move(matrices.x + 40 + i * 2, matrices.y + 60 + i),
  )
  const solo = await perMove(page, session, () => page.keyboard.press('1'))
  const heap = await page.evaluate(
    () => (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize,
  )
  const peak = await peakMebibytes(browser)

  const show = ({ median, worst }: { median: number; worst: number }): string =>
    `${median.toFixed(1)} ms (95 %: ${worst.toFixed(1)})`
  const lines = [
    `links                      ${links}`,
    `first picture              ${best.clock.toFixed(0)} ms after navigation, the best of ${loads.map(({ clock }) => clock.toFixed(0)).join(', ')}`,
    `  of the page's processor  ${best.main.toFixed(0)} ms, ${best.script.toFixed(0)} ms of them scripting`,
    `load of the machine        ${loadavg()
      .map((value) => value.toFixed(1))
      .join(', ')} on ${cpus().length} processors`,
    `scripting per brush move   ${show(brush)}`,
    `scripting per hover        ${show(hover)} in the picture, ${show(cells)} in the matrices`,
    `scripting per job switched ${show(solo)}`,
    `memory of the page         ${peak.toFixed(0)} MiB at most, ${(heap / 2 ** 20).toFixed(0)} MiB of JavaScript and columns at the end`,
  ]
  process.stdout.write(lines.join('\n') + '\n')
  if (errors.length > 0) throw new Error(errors.join('\n'))
  await browser.close()
}

await main()
process.exit(0)
