/** Several runs: side by side, their difference, and the runs of a sweep. */
import { describe, expect, test } from 'vitest'
import { quantity, signed } from '../src/base/format'
import { radialPicture } from '../src/layout/radial'
import {
  at,
  click,
  expected,
  open,
  page,
  keepPicture,
  placeOf,
  runOf,
  set,
  settle,
  text,
  tipAt,
  useBrowser,
} from './stage'

useBrowser()

const [base, fewer] = [expected.runs['edison']!, expected.runs['edison-K']!]

describe('comparison', () => {
  test('-K against Edison: means per class and job', async () => {
    await open('all', 'view=compare&compared=0,1')
    const changes = (name: string, before: number, after: number) =>
      text(`change-${name}-mean-1`).then((shown) => {
        const change = before === after ? '±0' : (100 * (after / before - 1)).toFixed(1).replace('-', '−')
        expect(shown).toContain(quantity(after, 'bytes'))
        expect(shown.replace('+', '')).toContain(`${change} %`)
      })
    for (const code of ['green', 'black', 'blue']) {
      const [before, after] = [base.classes[code]!, fewer.classes[code]!]
      await changes(code, before.mean, after.mean)
      for (const [job, { name }] of base.jobs.entries())
        await changes(`${name}, ${code}`, before.mean_by_job[job]!, after.mean_by_job[job]!)
    }
    // One scale for both.
    expect((await text('ramp-labels')).split('\n').at(-1)).toBe(
      quantity(Math.max(base.max, fewer.max), 'bytes'),
    )
  })

  test('up to four runs, of any machines, on one scale', async () => {
    await open('all', 'view=compare&compared=0,1')
    await click('compare-add')
    await click('compare-add')
    await page.waitForFunction(() => document.querySelectorAll('.pictures .picture').length === 4)
    expect(await at('compare-add').count()).toBe(0)
    const most = Math.max(
      ...['edison', 'edison-K', 'dragonfly', 'torus'].map((run) => expected.runs[run]!.max),
    )
    expect((await text('ramp-labels')).split('\n').at(-1)).toBe(quantity(most, 'bytes'))
    expect(await page.locator('.changes thead').innerText()).toContain('torus')
    await keepPicture('compare-four')
    await page.getByLabel('Take edison-K out').click()
    await settle(page)
    expect(await page.locator('.pictures .picture').count()).toBe(3)
  })

  test('the difference: pairs by link, says which have no partner, and hovering tells both values', async () => {
    await open('all', 'view=compare&compared=0,1&difference=1')
    expect(await text('pairing')).toContain('41,040 links in both; 7,200 are only in edison (removed)')
    const { from, to, before, after } = expected.difference
    const row = page.locator('.links tbody tr').first()
    expect((await row.innerText()).split(/\s+/).slice(0, 2)).toEqual([from, to])
    await row.hover()
    await settle(page)
    const tip = await text('tooltip')
    expect(tip).toContain(signed(after - before, 'bytes'))
    expect(tip).toMatch(new RegExp(`edison\\s+${quantity(before, 'bytes')}`))
    expect(tip).toContain(quantity(after, 'bytes'))
    await keepPicture('difference')
  })

  test('what is hovered or searched for in one run is marked in the other', async () => {
    await open('all', 'view=compare&compared=0,1')
    const frames = page.locator('.pictures .canvas-frame')
    const marked = () =>
      frames.nth(1).evaluate((frame) => {
        const overlay = frame.querySelector<HTMLCanvasElement>('.overlay')!
        const { data } = overlay.getContext('2d')!.getImageData(0, 0, overlay.width, overlay.height)
        return data.reduce((n, v, i) => n + Number(i % 4 === 3 && v > 0), 0)
      })
    expect(await marked()).toBe(0)
    const run = await runOf('all', 0)
    const drawing = radialPicture(run)
    const place = await placeOf(frames.first(), drawing)
    await tipAt(...place(drawing.routers[0]!, drawing.routers[1]!))
    expect(await marked()).toBeGreaterThan(10)
    await set('view=compare&compared=0,1&focus=router%3Ag3r2c14')
    expect(await text('focus')).toContain('g3r2c14')
    expect(await marked()).toBeGreaterThan(10)
  })
})

describe('a sweep', () => {
  test('shows a thumbnail of every run in the order of any key; a click opens it', async () => {
    await open('sweep', 'view=sweep')
    expect(await page.locator('.thumbnail').count()).toBe(3)
    const names = async () =>
      (await page.locator('.thumbnail b').allTextContents()).map((name) => name.split('/').at(-1))
    expect(await names()).toEqual(['seed-1', 'seed-2', 'seed-3'])
    const keys = await page.locator('[data-test=sweep-key] option').allTextContents()
    expect(keys).toContain('seed')
    expect(keys).toContain('mean of a link')
    await at('sweep-key').selectOption('mean of a link')
    await settle(page)
    const means = [1, 2, 3].map((seed) => [expected.sweep[`seed-${seed}`]!, `seed-${seed}`] as const)
    expect(await names()).toEqual(means.sort((a, b) => a[0] - b[0]).map(([, name]) => name))
    await click('thumbnail-2')
    await page.waitForSelector('[data-test=selected-count]')
    expect(await page.locator('[data-test=run]').inputValue()).toBe('2')
  })
})
