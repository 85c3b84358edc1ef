/** Linked views: a brush, click or search in one view applies to all. */
import { describe, expect, test } from 'vitest'
import { parseQuantity, quantity } from '../src/base/format'
import { interior, placeMatrices } from '../src/layout/matrices'
import {
  address,
  at,
  click,
  expected,
  keepPicture,
  number,
  open,
  page,
  press,
  reload,
  RUNS,
  runOf,
  settle,
  text,
  useBrowser,
} from './stage'

useBrowser()

const edison = expected.runs['edison']!
const PACKET = RUNS.indexOf('packet')

describe('the distribution', () => {
  test('dragging over the histogram filters all views; Escape clears it', async () => {
    await open('all', 'run=0')
    const before = await text('drawn')
    const box = (await page.locator('[data-test=brush] .overlay').boundingBox())!
    await page.mouse.move(box.x + box.width / 2, box.y + 45)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.7, box.y + 45)
    await page.mouse.move(box.x + box.width - 1, box.y + 45, { steps: 4 })
    await page.mouse.up()
    await settle(page)
    const low = Number((await address()).get('low'))
    // The brush starts mid-axis; the axis runs from zero to the maximum. A pixel of 248 is 0.4 %.
    expect(low / edison.max).toBeGreaterThan(0.49)
    expect(low / edison.max).toBeLessThan(0.51)
    const counts = await Promise.all(Object.keys(edison.classes).map((code) => text(`count-${code}`)))
    const selected = counts.reduce((sum, line) => sum + Number(line.split(' ')[0]!.replace(',', '')), 0)
    expect(selected).toBeGreaterThan(0)
    expect(selected).toBeLessThan(edison.links / 2)
    expect(await text('selected-count')).toContain(`of ${number(selected)} selected`)
    expect(await text('drawn')).not.toBe(before)
    await press('Escape')
    expect(await text('drawn')).toBe(before)
  })

  test('exact ends can be typed; invalid text is refused', async () => {
    await open('all', 'run=0')
    const field = at('range-from')
    await field.fill('50 bananas')
    await field.press('Enter')
    expect((await address()).has('low')).toBe(false)
    const half = quantity(edison.max / 2, 'bytes')
    await field.fill(half)
    await field.press('Enter')
    await settle(page)
    expect(Number((await address()).get('low'))).toBeCloseTo(parseQuantity(half, 'bytes')!, 0)
  })

  test('a log axis starts at the smallest positive value and counts empty links separately', async () => {
    await open('all', 'run=0&histogram=log')
    const empty = edison.links - edison.loaded
    expect(await page.locator('[aria-label=Distribution]').innerText()).toContain(
      `${number(empty)} links without traffic`,
    )
  })
})

describe('the address', () => {
  const SETTINGS =
    'run=0&measure=transfer_ps&aggregate=mean&classesOff=black&jobs=1&low=1000&scale=log&ramp=viridis&frozen=10,1e9&histogram=log&' +
    'routers=value&theme=dark&focus=group%3A3&zoom=2,-100,-50&panel=group'

  test('stores the settings: a reload shows the same', async () => {
    await open('all', SETTINGS)
    const shown = async () => [
      await text('mean-blue'),
      await text('count-green'),
      await text('drawn'),
      await text('focus'),
      await text('ramp-labels'),
      await at('measure').inputValue(),
      await at('class-black').isChecked(),
      await page.locator('.odonata.dark').count(),
      await page.locator('.router-cell').count(),
    ]
    const before = await shown()
    expect(before.slice(5)).toEqual(['transfer_ps', false, 1, 96])
    await reload()
    expect(await shown()).toEqual(before)
    expect([...new URLSearchParams(SETTINGS).keys()].filter((key) => key !== 'run').sort()).toEqual(
      [...(await address()).keys()].filter((key) => key !== 'run').sort(),
    )
  })

  test('invalid settings are reported and ignored', async () => {
    await open('all', 'run=0&low=lots&view=moon')
    expect(await page.locator('.failures').innerText()).toContain('low')
  })
})

describe('linked views', () => {
  test('a table row focuses its link; hovering shows ends, class, value and shares', async () => {
    await open('all', 'run=0')
    const { hottest, max } = edison
    await page.locator('.links tbody tr').first().hover()
    await settle(page)
    const tip = await text('tooltip')
    for (const part of [hottest.from, hottest.to, hottest.class, quantity(max, 'bytes'), '%'])
      expect(tip).toContain(part)
    hottest.by_job.forEach((value) => value > 0 && expect(tip).toContain(quantity(value, 'bytes')))
    await page.locator('.links tbody tr').first().click()
    await settle(page)
    expect(await text('focus')).toContain(`${hottest.from}>${hottest.to}:${hottest.class}`)
  })

  test('a cell of the group matrix focuses its links', async () => {
    await open('all', 'run=0')
    const box = (await page.locator('.matrices .canvas-frame').boundingBox())!
    const run = await runOf('all', 0)
    const [matrix] = placeMatrices(run, interior(run), box.width - 4, box.height, -1, true).matrices
    const { x, y, cell } = matrix!
    await page.mouse.click(box.x + x + 5.5 * cell, box.y + y + 2.5 * cell)
    await settle(page)
    expect(await text('focus')).toContain('pair 2>5')
    expect(await text('selected-count')).toContain('24 selected')
    expect(await text('count-blue')).toBe('24 of 5,040')
  })

  test.each([
    ['g3r2c14', 'router g3r2c14'],
    ['g3r2c14n1', 'node g3r2c14n1'],
    // 15 green, 15 black and 2 blue cables (column 14 serves one other group), both directions.
  ])('a search jumps to %s and narrows to its links', async (wanted, focus) => {
    await open('all', 'run=0')
    await press('/')
    await page.keyboard.type(wanted)
    await press('Enter')
    expect(await text('focus')).toContain(focus)
    expect(await text('count-green')).toBe('30 of 21,600')
    expect(await text('count-blue')).toBe('4 of 5,040')
    await click('panel-group')
    expect(await page.locator('.router-cell').count()).toBe(96)
    expect(await page.locator('.router-cell.focused').getAttribute('aria-label')).toMatch(/^g3r2c14, /)
    // The class table counts inside and outgoing: the group's own links of the router.
    expect(await page.locator('.group-head table').innerText()).toMatch(/green\s+inside\s+30 of 1,440/)
  })

  test('search finds links and groups, and reports no result', async () => {
    await open('all', 'run=0')
    const { from, to, class: code } = edison.hottest
    await press('/')
    await page.keyboard.type(`${from}>${to}`)
    await press('Enter')
    expect(await text('focus')).toContain(`link ${from}>${to}:${code}`)
    await press('Escape', '/')
    await page.keyboard.type('group 4')
    await press('Enter')
    expect(await text('focus')).toContain('group 4')
    await press('/')
    await page.keyboard.type('router nine')
    expect(await page.locator('.search').innerText()).toContain('Nothing found')
  })
})

describe('the keyboard', () => {
  test('changes every setting', async () => {
    await open('all', `run=${PACKET}`)
    const settings = async (...keys: string[]) => {
      await press(...keys)
      return Object.fromEntries(await address())
    }
    const run = String(PACKET)
    expect(await settings('l')).toEqual({ run, scale: 'log' })
    expect(await settings('l')).toEqual({ run, scale: 'quantile' })
    expect(await settings('l', 'h')).toEqual({ run, histogram: 'log' })
    expect(await settings('h', 'm')).toEqual({ run, measure: 'packets' })
    expect(await settings('c')).toEqual({ run, measure: 'packets', classesOff: 'global' })
    expect(await settings('c')).toEqual({ run, measure: 'packets', classesOff: 'local' })
    expect(await settings('a', 'f')).toMatchObject({ frozen: expect.stringMatching(/^0,\d+$/) as string })
    expect(await settings('f', 'r', 'g')).toMatchObject({ routers: 'value', panel: 'group' })
    expect(await settings('2')).toMatchObject({ jobs: '0' })
    expect(await settings('2', ']', ']')).toMatchObject({ low: expect.stringMatching(/./) as string })
    expect(await settings('Escape')).not.toHaveProperty('low')
    expect(await settings('t', 'v')).toMatchObject({ theme: 'light', view: 'compare' })
    expect(await settings('n')).toMatchObject({ run: String(PACKET + 1) })
  })

  test('zooms and pans the picture', async () => {
    await open('dragonfly')
    await page.locator('.picture .canvas-frame').focus()
    await press('+', 'ArrowLeft')
    const [k, x] = (await address()).get('zoom')!.split(',').map(Number)
    expect(k).toBeCloseTo(1.3)
    // Zoomed around the centre of 1000, then moved by 60.
    expect(x).toBeCloseTo(500 - 650 + 60)
    await press('0')
    expect((await address()).has('zoom')).toBe(false)
  })

  test('the help lists the keys and closes', async () => {
    await open('dragonfly')
    await press('?')
    expect(await page.locator('.help').innerText()).toContain('show only this job')
    await page.locator('.help button').click()
    expect(await page.locator('.help').count()).toBe(0)
  })

  test('each control is reachable and has a name', async () => {
    for (const view of ['overview', 'compare', 'time', 'jobs', 'sweep']) {
      await open('all', `view=${view}&run=${PACKET}`)
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
    }
  })
})

test('wheel zooms around the pointer, drag pans, double click resets', async () => {
  await open('dragonfly')
  const box = (await page.locator('.picture .canvas-frame').boundingBox())!
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
  await page.locator('.picture .canvas-frame').focus()
  await page.mouse.wheel(0, -400)
  await settle(page)
  const [k, x, y] = (await address()).get('zoom')!.split(',').map(Number)
  expect(k).toBeCloseTo(Math.exp(0.6), 3)
  // The centre is fixed, within a pixel (1.6 scene units).
  expect(Math.abs(x! - (500 - 500 * k!))).toBeLessThan(1.6)
  expect(Math.abs(y! - (500 - 500 * k!))).toBeLessThan(1.6)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width / 2 + 50, box.y + box.height / 2, { steps: 3 })
  await page.mouse.up()
  expect(Number((await address()).get('zoom')!.split(',')[1])).toBeGreaterThan(x! + 30)
  await page.mouse.dblclick(box.x + box.width / 2, box.y + box.height / 2)
  expect((await address()).has('zoom')).toBe(false)
})

test('frozen range: a single job keeps the colours of all', async () => {
  await open('all', 'run=0')
  const whole = await text('ramp-labels')
  await press('f', '1')
  expect(await text('ramp-labels')).toBe(whole)
  await press('f')
  expect(await text('ramp-labels')).not.toBe(whole)
})

test('an address entered before the last change is written is not lost', async () => {
  await open('dragonfly')
  // The page writes the address 150 ms after a change: between the new address and its event.
  await page.evaluate(async () => {
    const { odonata } = document.querySelector('#odonata') as unknown as {
      odonata: { state: { patch(fields: object): void } }
    }
    odonata.state.patch({ low: 1 })
    const until = performance.now() + 149
    while (performance.now() < until) await new Promise((resolve) => setTimeout(resolve))
    location.hash = 'low=1000&scale=log'
    const busy = performance.now() + 40
    while (performance.now() < busy);
  })
  await settle(page)
  expect((await address()).get('scale')).toBe('log')
})

test('a job colour changes all pictures and the address, and can be reset', async () => {
  await open('all', 'run=0')
  const shown = (): Promise<string[]> =>
    page
      .locator('.links tbody td i')
      .evaluateAll((bars) => [...new Set(bars.map((bar) => getComputedStyle(bar).backgroundColor))])
  const inked = (): Promise<boolean> =>
    page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('.picture canvas')!
      // A canvas with a transferred bitmap has no readable context.
      const context = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d')!
      context.drawImage(canvas, 0, 0)
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height)
      for (let i = 0; i < data.length; i += 4)
        if (data[i] === 255 && data[i + 1] === 0 && data[i + 2] === 204 && data[i + 3] === 255) return true
      return false
    })
  const before = await shown()
  expect(await inked()).toBe(false)
  await at('color-0').fill('#ff00cc')
  await settle(page)
  expect(await shown()).toContain('rgb(255, 0, 204)')
  expect(await inked()).toBe(true)
  await keepPicture('recoloured')
  expect((await address()).get('colors')).toBe('0-ff00cc')
  await click('own-colors')
  expect(await shown()).toEqual(before)
  expect(await inked()).toBe(false)
  expect((await address()).get('colors')).toBeNull()
})
