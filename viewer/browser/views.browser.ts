import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { parseQuantity, quantity } from '../src/base/format'
import { launch, openPage, openView, settle } from './chromium'

interface Expected {
  links: number
  jobs: string[]
  max: number
  hottest: { from: string; to: string; class: string }
  classes: Record<string, { links: number; mean: number; mean_of_job_0: number; above_half: number }>
}

const RUNS = ['edison', 'edison-K', 'dragonfly', 'torus', 'tree'] as const
const expected = JSON.parse(readFileSync(join(inject('runs'), 'expected.json'), 'utf8')) as Record<
  string,
  Expected
>
const urls = inject('urls')

let browser: Browser
let page: Page
let errors: string[]

beforeAll(async () => {
  browser = await launch()
})
afterAll(async () => browser?.close())
beforeEach(async () => {
  ;({ page, errors } = await openPage(browser))
})
afterEach(async () => {
  await page.close()
  expect(errors).toEqual([])
})

const text = async (test: string): Promise<string> =>
  (await page.locator(`[data-test="${test}"]`).first().innerText()).trim()
const click = async (test: string): Promise<void> => {
  await page.locator(`[data-test="${test}"]`).first().click()
  await settle(page)
}
const address = async (): Promise<string> => {
  // The address follows the settings with a short delay.
  await page.waitForTimeout(300)
  return page.evaluate(() => location.hash)
}

describe.each(RUNS.map((name, run) => ({ name, run, ...expected[name]! })))(
  '$name',
  ({ name, run, links, max, hottest, classes }) => {
    test('figures on the screen are those of the tables', async () => {
      await openView(page, urls['all']!, `run=${run}`)
      for (const [code, stats] of Object.entries(classes)) {
        const count = stats.links.toLocaleString('en-US')
        expect(await text(`count-${code}`)).toBe(`${count} of ${count}`)
        expect(await text(`mean-${code}`)).toBe(`⌀ ${quantity(stats.mean, 'bytes')}`)
      }
      expect(await text('hot-value')).toBe(quantity(max, 'bytes'))
      expect(await text('selected-count')).toContain(`${links.toLocaleString('en-US')} in all`)
      const row = await page.locator('.links tbody tr').first().innerText()
      expect(row.split(/\s+/).slice(0, 3)).toEqual([hottest.from, hottest.to, hottest.class])
      expect((await text('ramp-labels')).split('\n').at(-1)).toBe(quantity(max, 'bytes'))
    })

    test('one job alone: its own traffic, by key and by button', async () => {
      await openView(page, urls['all']!, `run=${run}`)
      if (expected[name]!.jobs.length < 2) {
        await page.keyboard.press('Shift+1')
        await settle(page)
        for (const code of Object.keys(classes)) expect(await text(`mean-${code}`)).toBe('⌀ 0 B')
        return
      }
      await page.keyboard.press('1')
      await settle(page)
      for (const [code, stats] of Object.entries(classes))
        expect(await text(`mean-${code}`)).toBe(`⌀ ${quantity(stats.mean_of_job_0, 'bytes')}`)
      await page.locator('[data-test=job-0] .switch', { hasText: 'solo' }).click()
      await settle(page)
      for (const [code, stats] of Object.entries(classes))
        expect(await text(`mean-${code}`)).toBe(`⌀ ${quantity(stats.mean, 'bytes')}`)
    })

    test('a threshold keeps the links above it', async () => {
      await openView(page, urls['all']!, `run=${run}&low=${max / 2}`)
      for (const [code, stats] of Object.entries(classes))
        expect(await text(`count-${code}`)).toBe(
          `${stats.above_half.toLocaleString('en-US')} of ${stats.links.toLocaleString('en-US')}`,
        )
    })

    test('nothing sticks out or is cut at both sizes, light and dark', async () => {
      for (const [width, height] of [
        [1440, 900],
        [1024, 768],
      ] as const)
        for (const theme of ['light', 'dark']) {
          await page.setViewportSize({ width, height })
          await openView(page, urls['all']!, `run=${run}&theme=${theme}`)
          const wrong = await page.evaluate(() => {
            const found: string[] = []
            if (document.documentElement.scrollWidth > innerWidth) found.push('the page scrolls sideways')
            for (const e of document.querySelectorAll(
              '.odonata button, .odonata th, .odonata h2, .odonata label > b, .picture .reading',
            )) {
              const box = e.getBoundingClientRect()
              if (box.width > 0 && (box.right > innerWidth + 1 || box.left < -1))
                found.push(`outside: ${e.textContent}`)
              if (
                e.scrollWidth > e.clientWidth + 1 &&
                getComputedStyle(e).overflowX === 'visible' &&
                e.clientWidth > 0
              )
                found.push(`cut: ${e.textContent}`)
            }
            return found
          })
          expect(wrong).toEqual([])
          await page.screenshot({ path: join(inject('runs'), `${name}-${width}-${theme}.png`) })
        }
    })
  },
)

describe('brush', () => {
  test('dragging over the histogram filters everything, Escape lets go', async () => {
    await openView(page, urls['all']!, 'run=0')
    const before = await text('drawn')
    const box = (await page.locator('[data-test=brush] .overlay').boundingBox())!
    await page.mouse.move(box.x + box.width / 2, box.y + 45)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.7, box.y + 45)
    await page.mouse.move(box.x + box.width - 1, box.y + 45, { steps: 4 })
    await page.mouse.up()
    await settle(page)
    const { classes, max } = expected['edison']!
    const low = Number(new URLSearchParams((await address()).slice(1)).get('low'))
    // The brush starts in the middle of the axis, from zero to the largest; a pixel of 248 is 0.4 %.
    expect(low / max).toBeGreaterThan(0.49)
    expect(low / max).toBeLessThan(0.51)
    const counts = await Promise.all(Object.keys(classes).map((code) => text(`count-${code}`)))
    const selected = counts.reduce((sum, line) => sum + Number(line.split(' ')[0]!.replace(',', '')), 0)
    expect(selected).toBeGreaterThan(0)
    expect(selected).toBeLessThan(expected['edison']!.links / 2)
    expect(await text('selected-count')).toContain(`of ${selected.toLocaleString('en-US')} selected`)
    expect(await text('drawn')).not.toBe(before)
    await page.keyboard.press('Escape')
    await settle(page)
    expect(await text('drawn')).toBe(before)
  })

  test('exact ends can be typed, nonsense is not taken', async () => {
    await openView(page, urls['all']!, 'run=0')
    const field = page.locator('[data-test=range-from]')
    await field.fill('50 bananas')
    await field.press('Enter')
    expect(await address()).not.toContain('low')
    const half = quantity(expected['edison']!.max / 2, 'bytes')
    await field.fill(half)
    await field.press('Enter')
    await settle(page)
    expect(Number(new URLSearchParams((await address()).slice(1)).get('low'))).toBeCloseTo(
      parseQuantity(half, 'bytes')!,
      0,
    )
  })
})

describe('the address', () => {
  test('holds the settings: a reload shows the same figures', async () => {
    await openView(page, urls['all']!, 'run=0')
    await page.keyboard.press('1')
    await click('class-green')
    await page.keyboard.press('l')
    await settle(page)
    const [hash, mean, drawn] = [await address(), await text('mean-blue'), await text('drawn')]
    expect(hash).toContain('jobs=1')
    await page.reload()
    await page.waitForSelector('[data-ready=yes]')
    await settle(page)
    expect([await text('mean-blue'), await text('drawn')]).toEqual([mean, drawn])
    expect(await page.locator('[data-test=class-green]').isChecked()).toBe(false)
  })

  test('settings that make no sense are said and left out', async () => {
    await openView(page, urls['all']!, 'run=0&low=lots&view=moon')
    expect(await page.locator('.failures').innerText()).toContain('low')
  })
})

describe('linked views', () => {
  test('a table row marks its link everywhere; hovering tells ends, class, value and shares', async () => {
    await openView(page, urls['all']!, 'run=0')
    const { hottest, max } = expected['edison']!
    await page.locator('.links tbody tr').first().hover()
    await settle(page)
    const tip = await text('tooltip')
    for (const part of [hottest.from, hottest.to, hottest.class, quantity(max, 'bytes'), '%'])
      expect(tip).toContain(part)
    await page.locator('.links tbody tr').first().click()
    await settle(page)
    expect(await text('focus')).toContain(`${hottest.from}>${hottest.to}:${hottest.class}`)
  })

  test('every cell of a matrix has a tooltip', async () => {
    await openView(page, urls['all']!, 'run=0')
    const box = (await page.locator('.matrices .canvas-frame').boundingBox())!
    // The matrix of groups starts at (24, 36) with cells of 11 pixels at this size: row 2, column 5.
    await page.mouse.move(box.x + 24 + 5 * 11 + 5, box.y + 36 + 2 * 11 + 5)
    await settle(page)
    const tip = await text('tooltip')
    expect(tip).toContain('Group 2 to group 5')
    expect(tip).toContain('24')
  })

  test('a search jumps to a router and narrows to its links', async () => {
    await openView(page, urls['all']!, 'run=0')
    await page.keyboard.press('/')
    await page.keyboard.type('g3r2c14')
    await page.keyboard.press('Enter')
    await settle(page)
    expect(await text('focus')).toContain('g3r2c14')
    // 15 green, 15 black and 2 blue cables (column 14 serves one other group), both directions.
    expect(await text('count-green')).toBe('30 of 21,600')
    expect(await text('count-blue')).toBe('4 of 5,040')
    await click('panel-group')
    expect(await page.locator('.router-cell').count()).toBe(96)
    expect(await page.locator('.router-cell.focused').getAttribute('aria-label')).toBe('g3r2c14')
  })
})

describe('comparison', () => {
  test('-K against Edison: means per class, and a difference that counts the missing links', async () => {
    await openView(page, urls['all']!, 'view=compare&compared=0,1')
    const [base, fewer] = [expected['edison']!, expected['edison-K']!]
    for (const code of ['green', 'black', 'blue']) {
      const shown = await text(`change-${code}-mean-1`)
      const change = (100 * (fewer.classes[code]!.mean / base.classes[code]!.mean - 1))
        .toFixed(1)
        .replace('-', '−')
      expect(shown).toContain(quantity(fewer.classes[code]!.mean, 'bytes'))
      expect(shown.replace('+', '')).toContain(`${change} %`)
    }
    await click('difference')
    expect(await text('pairing')).toContain('41,040 links paired; 7,200 are only in edison')
    await page.screenshot({ path: join(inject('runs'), 'difference.png') })
  })

  test('a sweep shows a thumbnail of every run, a click opens it', async () => {
    await openView(page, urls['all']!, 'view=sweep')
    expect(await page.locator('.thumbnail').count()).toBe(5)
    await click('thumbnail-2')
    await page.waitForSelector('[data-test=selected-count]')
    await settle(page)
    expect(await text('selected-count')).toContain(expected['dragonfly']!.links.toLocaleString('en-US'))
  })
})

describe('exports', () => {
  const download = async (kind: string): Promise<Buffer> => {
    await page.locator('[data-test=export]').click()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.locator(`[data-test=export-${kind}]`).click(),
    ])
    return readFileSync(await file.path())
  }

  test('CSV: the selected links and no others, with the tables’ values', async () => {
    const { max, classes } = expected['dragonfly']!
    await openView(page, urls['dragonfly']!, `low=${max / 2}`)
    const lines = String(await download('csv'))
      .trimEnd()
      .split('\r\n')
    const above = Object.values(classes).reduce((sum, stats) => sum + stats.above_half, 0)
    expect(lines).toHaveLength(1 + above)
    expect(Math.max(...lines.slice(1).map((line) => Number(line.split(',')[5])))).toBe(max)
  })

  test('SVG and PNG hold the picture', async () => {
    await openView(page, urls['dragonfly']!)
    const svg = String(await download('svg'))
    expect(svg).toMatch(/^<svg /)
    const { parsed, paths } = await page.evaluate((source) => {
      const document = new DOMParser().parseFromString(source, 'image/svg+xml')
      return {
        parsed: document.querySelector('parsererror') === null,
        paths: document.querySelectorAll('path').length,
      }
    }, svg)
    expect(parsed).toBe(true)
    expect(paths).toBeGreaterThan(100)
    const png = await download('png')
    expect([...png.subarray(0, 4)]).toEqual([0x89, 0x50, 0x4e, 0x47])
    // Width in the header: 1400 at twice the resolution.
    expect(png.readUInt32BE(16)).toBe(2 * 1400)
  })
})

describe('without a server', () => {
  test('a standalone page shows the same figures and asks nobody for anything', async () => {
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await openView(page, inject('standalone'))
    const { classes } = expected['dragonfly']!
    for (const [code, stats] of Object.entries(classes))
      expect(await text(`mean-${code}`)).toBe(`⌀ ${quantity(stats.mean, 'bytes')}`)
    expect(asked.filter((url) => !/^(file|about|data|blob):/.test(url))).toEqual([])
  })

  test('a notebook’s widget draws from its own data', async () => {
    await openView(page, urls['dragonfly']!)
    const html = readFileSync(new URL(inject('standalone')), 'utf8')
    const data = /<script type="application\/json" id="odonata-data">(.*?)<\/script>/s.exec(html)![1]!
    await page.evaluate((json) => Object.assign(window, { cellData: json }), data)
    // As text, since the test runner rewrites import() in functions.
    await page.evaluate(`(async () => {
      const module = await import(new URL('viewer.js', location.href).href)
      const cell = document.createElement('div')
      cell.id = 'cell'
      document.body.replaceChildren(cell)
      await module.default.render({ model: { get: () => JSON.parse(window.cellData) }, el: cell })
    })()`)
    await page.waitForSelector('#cell [data-ready=yes]')
    await settle(page)
    expect(await page.locator('#cell [data-test=mean-global]').innerText()).toBe(
      `⌀ ${quantity(expected['dragonfly']!.classes['global']!.mean, 'bytes')}`,
    )
  })
})

test('the keys are listed and the page closes again', async () => {
  await openView(page, urls['dragonfly']!)
  await page.keyboard.press('?')
  expect(await page.locator('.help').innerText()).toContain('only this job')
  await page.locator('.help button').click()
  expect(await page.locator('.help').count()).toBe(0)
})

test('every control can be reached by the keyboard and has a name', async () => {
  await openView(page, urls['dragonfly']!)
  const unnamed = await page.evaluate(() =>
    [...document.querySelectorAll('button, select, input, summary')]
      .filter(
        (e) =>
          !(
            e.textContent?.trim() ||
            e.getAttribute('aria-label') ||
            e.getAttribute('placeholder') ||
            e.closest('label')?.textContent?.trim()
          ),
      )
      .map((e) => e.outerHTML),
  )
  expect(unnamed).toEqual([])
})
