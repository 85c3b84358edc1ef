/**
 * Measures the viewer in a real browser: `npm run bench -- URL [RUN]`, URL as printed by `odonata view --no-open`.
 *
 * Scripting is the browser's own count of the processor seconds spent in script (ScriptDuration in thread ticks), so other
 * load on the machine does not show; the time until the first picture is by the clock, where it does.
 */
import type { CDPSession, Page } from 'playwright-core'
import { launch, openPage, settle } from './chromium'

const MOVES = 24

async function scriptSeconds(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find((metric) => metric.name === 'ScriptDuration')!.value
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

async function main(): Promise<void> {
  const [url, run = '0'] = process.argv.slice(2)
  if (!url) throw new Error('give the address that odonata view --no-open printed')
  const browser = await launch()
  const { page, errors } = await openPage(browser)
  const session = await page.context().newCDPSession(page)
  // Thread ticks are processor time: what other programs take does not count.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  await page.goto(`${url}#run=${run}`)
  await page.waitForSelector('[data-test=app][data-ready=yes]', { timeout: 120_000 })
  await settle(page)
  // Set by the page itself after its first picture.
  const first = await page.evaluate(() => performance.getEntriesByName('odonata-first-picture')[0]!.startTime)
  const firstScript = 1000 * (await scriptSeconds(session))
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
  const buffers = await session.send('Performance.getMetrics')
  const total = buffers.metrics.find((metric) => metric.name === 'ArrayBufferContents')?.value

  const show = ({ median, worst }: { median: number; worst: number }): string =>
    `${median.toFixed(1)} ms (95 %: ${worst.toFixed(1)})`
  const lines = [
    `links                      ${links}`,
    `first picture              ${first.toFixed(0)} ms after navigation, of it ${firstScript.toFixed(0)} ms scripting`,
    `scripting per brush move   ${show(brush)}`,
    `scripting per hover        ${show(hover)} in the picture, ${show(cells)} in the matrices`,
    `scripting per job switched ${show(solo)}`,
    `JavaScript heap            ${(heap / 2 ** 20).toFixed(0)} MiB, column buffers included${total ? ` (${(total / 2 ** 20).toFixed(0)} MiB)` : ''}`,
  ]
  process.stdout.write(lines.join('\n') + '\n')
  if (errors.length > 0) throw new Error(errors.join('\n'))
  await browser.close()
}

await main()
process.exit(0)
