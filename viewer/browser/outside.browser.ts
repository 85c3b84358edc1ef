/** Exports, standalone pages, notebooks, counters and damaged data. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { quantity } from '../src/base/format'
import { openView } from './chromium'
import {
  at,
  expected,
  forgive,
  keepPicture,
  number,
  open,
  openInNotebook,
  page,
  picture,
  settle,
  text,
  urls,
  useBrowser,
} from './stage'

useBrowser()

const dragonfly = expected.runs['dragonfly']!

describe('exports', () => {
  const download = async (kind: string): Promise<Buffer> => {
    await page.locator('[data-test=export]').click()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.locator(`[data-test=export-${kind}]`).click(),
    ])
    return readFileSync(await file.path())
  }

  test('CSV: only the selected links, with the values of the tables', async () => {
    const { max, classes, by_name } = dragonfly
    await open('dragonfly', `low=${max / 2}`)
    const [header, ...lines] = String(await download('csv'))
      .trimEnd()
      .split('\r\n')
    expect(header).toBe('link,source,target,class,parallel,bytes,job a,job b')
    expect(lines).toHaveLength(Object.values(classes).reduce((sum, stats) => sum + stats.above_half, 0))
    for (const line of lines) {
      const [, source, target, code, parallel, ...values] = line.split(',')
      expect(values.map(Number)).toEqual(by_name[`${source}>${target}:${code}.${parallel}`])
    }
  })

  test('SVG and PNG contain the picture', async () => {
    await open('dragonfly')
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
    // Width in the PNG header: 1400 at double resolution.
    expect(png.readUInt32BE(16)).toBe(2 * 1400)
    writeFileSync(picture('export'), png)
  })
})

describe('standalone page', () => {
  test('a standalone page shows the same figures without requests', async () => {
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await openView(page, inject('standalone'), 'hottest=0')
    for (const [code, stats] of Object.entries(dragonfly.classes))
      expect(await text(`mean-${code}`)).toBe(`⌀ ${quantity(stats.mean, 'bytes')}`)
    await page.locator('[data-test=view-jobs]').click()
    await page.waitForSelector('[data-test=communication-map]')
    expect(asked.filter((url) => !/^(file|about|data|blob):/.test(url))).toEqual([])
  })

  test('a notebook widget draws the data of run.view()', async () => {
    await openInNotebook('widget.json')
    await page.waitForSelector('#cell [data-ready=yes]')
    await page.locator('#cell [data-test=hottest-undo]').click()
    await settle(page)
    expect(await page.locator('#cell [data-test=mean-global]').innerText()).toBe(
      `⌀ ${quantity(dragonfly.classes['global']!.mean, 'bytes')}`,
    )
    // A notebook handles its own keys outside of the cell.
    await page.keyboard.press('1')
    await settle(page)
    expect(await page.locator('#cell .jobs li.hidden').count()).toBe(0)
    await page.evaluate('window.cleanUp()')
    expect(await page.locator('#cell .odonata').count()).toBe(0)
  })
})

describe('hardware counters', () => {
  test('a small table: flits, stalls and jobs, only the measured part of the machine', async () => {
    await open('counters', 'hottest=0')
    expect(await text('count-green')).toBe('2 of 2')
    expect(await text('count-black')).toBe('1 of 1')
    const options = await at('measure').locator('option').allTextContents()
    expect(options).toEqual(['Flits', 'Stalls', 'Stalls per flit', 'Flits vc 0', 'Stalls vc 0'])
    expect(await text('hot-value')).toBe('1,000')
    await at('measure').selectOption('stalls')
    await settle(page)
    expect(await text('hot-value')).toBe('50')
    expect(await text('alarm')).toContain('only outgoing links of groups 1, 4 were measured')
    expect(await at('job-0').innerText()).toContain('2 nodes, 1 router')
    await keepPicture('counters')
  })

  test.runIf(expected.counters.edison !== null)('real counters of Edison', async () => {
    const { links, flits_max } = expected.counters.edison!
    await open('edison-counters', 'hottest=0')
    expect(await text('selected-count')).toContain(`${number(links)} in total`)
    expect(await text('ramp-labels')).toContain(quantity(flits_max, 'count'))
    await keepPicture('counters-edison')
  })
})

describe('errors', () => {
  test('a table damaged while the server runs', async () => {
    forgive(/Failed to load resource/)
    writeFileSync(join(inject('runs'), 'broken', 'links.parquet'), 'PAR1 not really')
    await page.goto(urls['broken']!)
    await page.waitForSelector('.failures')
    expect(await page.locator('.failures').innerText()).toContain('links.parquet')
  })

  test('an address with a wrong token', async () => {
    forgive(/status of 403/)
    await page.goto(urls['dragonfly']!.replace(/\/[^/]+\/$/, '/wrong/'))
    expect(await page.locator('body').innerText()).toContain('wrong or missing token')
  })
})

describe('files dropped on the page', () => {
  /** Simulates a dropped file; browsers let scripts create a drop with content, but open no file. */
  const drop = (content: string, name: string): Promise<void> =>
    page.evaluate(
      ([content, name]) => {
        const dataTransfer = new DataTransfer()
        dataTransfer.items.add(new File([content!], name!, { type: 'text/html' }))
        const over = new DragEvent('dragover', { dataTransfer, bubbles: true, cancelable: true })
        document.body.dispatchEvent(over)
        // Otherwise the browser would navigate to the file.
        if (!over.defaultPrevented) throw new Error('a drop is not accepted')
        document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
      },
      [content, name],
    )

  test('a standalone page opens, also on a served page', async () => {
    await open('all', 'run=3&scale=log')
    await drop(readFileSync(new URL(inject('standalone')), 'utf8'), 'standalone.html')
    await page.waitForFunction(
      (links) => document.querySelector('.facts')?.textContent?.includes(links),
      `${number(dragonfly.links)} links`,
    )
    expect(await text('hot-value')).toBe(quantity(dragonfly.max, 'bytes'))
    expect(await page.evaluate(() => location.hash)).not.toContain('log')
  })

  test('other files are refused with a message, and the runs stay open', async () => {
    await open('dragonfly')
    await drop('<html><body>news</body></html>', 'news.html')
    await page.waitForSelector('.failures')
    expect(await page.locator('.failures').first().innerText()).toContain('news.html is not an Odonata page')
    expect(await text('hot-value')).toBe(quantity(dragonfly.max, 'bytes'))
  })
})

test('the served page runs only its own script and contacts no other host', async () => {
  await open('dragonfly')
  forgive(/Content Security Policy|Failed to load resource|violates/)
  // As text: the test runner rewrites functions.
  const refused = await page.evaluate<{ ran: string; found: string[] }>(`(async () => {
    const found = []
    document.addEventListener('securitypolicyviolation', (e) => found.push(e.effectiveDirective))
    const add = (fields) => {
      const script = Object.assign(document.createElement('script'), fields)
      document.body.append(script)
    }
    add({ textContent: 'window.ran = "inline"' })
    add({ src: URL.createObjectURL(new Blob(['window.ran = "blob"'])) })
    await fetch('http://127.0.0.1:9/').catch(() => 0)
    await new Promise((resolve) => setTimeout(resolve, 200))
    return { ran: window.ran ?? '', found }
  })()`)
  expect(refused.ran).toBe('')
  expect(refused.found.sort()).toEqual(['connect-src', 'script-src-elem', 'script-src-elem'])
  // Its pictures are also drawn in a thread.
  expect(page.workers()).toHaveLength(1)
})
