/** Nothing shown is false: on the served page, a standalone page and in a notebook cell. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { quantity, signed } from '../src/base/format'
import {
  at,
  click,
  expected,
  familyOf as of,
  keepPicture,
  number,
  open,
  openOn,
  page,
  press,
  set,
  setOn,
  settle,
  SURFACES,
  text,
  useBrowser,
} from './stage'

useBrowser()

/** Parts and total of the link account below the picture. */
async function account(): Promise<{ all: number; parts: number[] }> {
  const said = await text('drawn')
  const found = /\. All ([\d,]+) links: (.*?)(?:\. |$)/.exec(said)
  expect(found, said).not.toBeNull()
  const value = (digits: string): number => Number(digits.replaceAll(',', ''))
  return {
    all: value(found![1]!),
    parts: [...found![2]!.matchAll(/([\d,]+) [a-z]/g)].map((m) => value(m[1]!)),
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, v) => total + v, 0)

async function download(kind: string): Promise<Buffer> {
  await page.locator('[data-test=export]').click()
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.locator(`[data-test=export-${kind}]`).click(),
  ])
  return readFileSync(await file.path())
}

describe.each(SURFACES)('%s', (surface) => {
  test('each family: measures are the columns with a merge rule; all links are counted', async () => {
    await openOn(surface)
    for (const [run, name] of expected.families.entries()) {
      const { measures, links, max, converged } = expected.runs[name]!
      await setOn(surface, `run=${run}`)
      await page.waitForFunction(
        (facts) => document.querySelector('.facts')?.textContent?.includes(facts),
        `${number(links)} links`,
      )
      const offered = await at('measure').locator('option').allTextContents()
      // Without traffic there is nothing to measure.
      expect(offered.filter((label) => label !== 'Transfer time').sort()).toEqual(
        max ? [...measures].sort() : [],
      )
      for (const range of ['', `&low=${max / 2}`, `&low=${max / 2}&high=${(2 * max) / 3}`]) {
        await setOn(surface, `run=${run}${range}`)
        const { all, parts } = await account()
        expect([name, all]).toEqual([name, links])
        expect([name, sum(parts)]).toEqual([name, links])
      }
      // An engine that does not iterate is not called unconverged.
      const alarm = (await at('alarm').count()) > 0 ? await at('alarm').innerText() : ''
      expect(alarm.includes('not converged')).toBe(converged === false)
      // Unknown traffic is null.
      expect(await at('no-traffic').count()).toBe(max ? 0 : 1)
    }
  })

  test('a projected torus: drawn, empty and filtered links sum to all, in each projection', async () => {
    await openOn(surface, `run=${of('torus-two')}`)
    const { links, loaded, max } = expected.runs['torus-two']!
    for (const projection of ['X,Y', 'X,Z', 'Y,Z']) {
      await setOn(surface, `run=${of('torus-two')}&projection=${projection}`)
      const { all, parts } = await account()
      expect([all, sum(parts)]).toEqual([links, links])
      // All non-zero links are drawn, also along the hidden axis.
      expect(parts[0]).toBe(loaded)
      await setOn(surface, `run=${of('torus-two')}&projection=${projection}&low=${max / 2}`)
      expect(sum((await account()).parts)).toBe(links)
    }
  })

  test('stacked routers show all their jobs', async () => {
    await openOn(surface, `run=${of('torus-two')}&projection=Y,Z&theme=light`)
    const colors = await page
      .locator('.picture canvas')
      .first()
      .evaluate((canvas: HTMLCanvasElement) => {
        // A canvas with a transferred bitmap has no readable context.
        const context = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d')!
        context.drawImage(canvas, 0, 0)
        const { data } = context.getImageData(0, 0, canvas.width, canvas.height)
        const found: Record<string, number> = {}
        for (let i = 0; i < data.length; i += 4) {
          const key = `${data[i]},${data[i + 1]},${data[i + 2]}`
          found[key] = (found[key] ?? 0) + 1
        }
        return found
      })
    // Blue and orange of the first two jobs, grey of idle routers: at least a pixel at each of the 64 places.
    for (const color of ['0,114,178', '230,159,0', '197,203,210'])
      expect(colors[color] ?? 0).toBeGreaterThan(64)
  })

  test('a name that looks like a script is only text', async () => {
    await openOn(surface, `run=${of('tags')}`)
    await page.waitForFunction(() => document.querySelector('.jobs')?.textContent?.includes('<!--<script>'))
    expect(await at('job-0').innerText()).toContain('<!--<script>')
  })

  test('24 jobs have 24 colours', async () => {
    await openOn(surface, `run=${of('many')}`)
    await page.waitForSelector('[data-test=job-23]')
    const colors = await page
      .locator('.jobs li > .swatch')
      .evaluateAll((swatches) => swatches.map((swatch) => (swatch as HTMLInputElement).value))
    expect(new Set(colors).size).toBe(24)
  })

  test('one black cable less: remaining cables carry more, the removed one has its own mark', async () => {
    const { black } = expected.difference
    await openOn(surface, 'view=compare&compared=0,1&difference=0')
    const row = await text('change-black-mean-1')
    expect(row).toMatch(/\+[\d.]+ %/)
    await setOn(surface, 'view=compare&compared=0,1&difference=1')
    expect(await text('count-black')).toBe(`${number(black.cables)} of ${number(black.cables)}`)
    expect(black.mean_change).toBeGreaterThan(0)
    expect(await text('mean-black')).toBe(`⌀ ${signed(black.mean_change, 'bytes')}`)
    expect(await text('pairing')).toContain(
      `${number(black.removed)} only in edison (removed), mean ${quantity(black.removed_mean, 'bytes')}`,
    )
    expect(await page.locator('.looks').first().innerText()).toContain('removed')
    await click('pairing-bundle')
    expect(await text('count-black')).toBe(`${number(black.bundles)} of ${number(black.bundles)}`)
    expect(await text('mean-black')).toBe(`⌀ ${signed(black.bundle_change, 'bytes')}`)
  })

  test('exports equal the view', async () => {
    const packet = of('packet')
    await openOn(surface, 'view=compare&compared=0,2&difference=0')
    await page.waitForSelector('.changes td')
    const compared = String(await download('svg'))
    for (const name of ['edison', 'dragonfly', 'Traffic per link']) expect(compared).toContain(`>${name}`)
    const lines = String(await download('csv'))
      .trimEnd()
      .split('\r\n')
    expect(lines[0]).toBe('run,source,target,class,parallel,bytes')
    expect(lines).toHaveLength(1 + expected.runs['edison']!.links + expected.runs['dragonfly']!.links)

    await setOn(surface, `view=time&run=${packet}&time=${expected.series.starts[10]}`)
    await page.waitForSelector('.moments .picture')
    const time = String(await download('svg'))
    for (const label of ['Throughput', 'Mean latency', 'Stall from']) expect(time).toContain(label)
    const series = String(await download('csv')).split('\r\n')
    const third = expected.series.third[0]!
    const start = expected.series.starts[2]!
    expect(series).toContain(`series.wire_bytes_per_s,near,${start},${third['wire_bytes_per_s']}`)

    await setOn(surface, `view=jobs&run=${packet}&focus=job%3A1`)
    await page.waitForSelector('[data-test=communication-map] canvas')
    const jobs = String(await download('svg'))
    for (const label of ['job far', 'Ranks (columns) on routers (rows)', 'From rank (row)'])
      expect(jobs).toContain(label)
    const cells = String(await download('csv')).split('\r\n')
    const cell = expected.communication[0]!.cells[0]!
    expect(cells).toContain(`bytes between ranks,${cell.source},${cell.destination},${cell.bytes}`)
    const png = await download('png')
    expect([...png.subarray(0, 4)]).toEqual([0x89, 0x50, 0x4e, 0x47])
  })

  test('Esc closes the help and changes nothing else', async () => {
    await openOn(surface, `run=${of('dragonfly')}&low=1000`)
    const range = async () => at('range-from').inputValue()
    const before = await range()
    expect(before).not.toBe('')
    await page.locator('[aria-label=Help]').first().click()
    await settle(page)
    expect(await page.locator('[role=dialog]').count()).toBe(1)
    await press('Escape')
    expect(await page.locator('[role=dialog]').count()).toBe(0)
    expect(await range()).toBe(before)
    await press('Escape')
    expect(await range()).toBe('')
  })

  test('invalid settings are reported', async () => {
    await openOn(
      surface,
      'run=99&compared=0,77&measure=charm&classesOff=mauve&jobs=31&low=9&high=1&ramp=x&zoom=0,0,0',
    )
    const said = await text('refused')
    expect(said).toContain('8 invalid settings')
    for (const words of [
      `unknown run 99; expected 0 to ${expected.families.length - 1}`,
      'unknown run 77',
      'unknown measure “charm”; expected',
      'unknown class “mauve”',
      'unknown job 31',
      'the range from 9 to 1 is empty',
      'unknown colour ramp “x”',
      '0 is out of range; expected 1 to 64',
    ])
      expect(said).toContain(words)
    await page.locator('[data-test=refused] button').click()
    expect(await at('refused').count()).toBe(0)
    // Also after a change, not only at load.
    await setOn(surface, 'view=compare&time=-4')
    expect(await text('refused')).toContain('-4 ps is before the start')
    await setOn(surface, 'focus=router%3Anowhere')
    expect(await at('refused').count()).toBe(0)
    expect(await text('focus')).toContain('not in this run')
  })
})

test('an unreadable run is listed, the others open', async () => {
  await open('damaged', 'hottest=0')
  expect(await page.locator('.failures').innerText()).toMatch(/Cannot open bad: cannot read .*links\.parquet/)
  expect(await text('mean-global')).toBe(
    `⌀ ${quantity(expected.runs['dragonfly']!.classes['global']!.mean, 'bytes')}`,
  )
  await set('low=1')
  expect(await text('selected-count')).toContain(number(expected.runs['dragonfly']!.links))
  await keepPicture('bad-run')
})
