/** Each view in a window, a notebook cell and a phone: the layout follows the container. */
import { describe, expect, test } from 'vitest'
import { familyOf, keepPicture, openOn, page, PANEL_PAGES, settle, open, useBrowser } from './stage'

useBrowser()

const VIEWS: Record<string, string> = {
  run: 'run=0',
  ...PANEL_PAGES,
  compare: 'view=compare&compared=0,1&difference=0',
  difference: 'view=compare&compared=0,1&difference=1',
  time: `view=time&run=${familyOf('packet')}`,
  jobs: `view=jobs&run=${familyOf('packet')}`,
  torus: `run=${familyOf('torus-two')}`,
  sweep: 'view=sweep',
  latency: `view=latency&run=${familyOf('packet')}`,
  costs: `view=costs&run=${familyOf('amg')}`,
}

/** Width and height of a window, a notebook cell, a low window, a tablet and a phone. */
const ROOMS: readonly (readonly [number, number])[] = [
  [1440, 900],
  [1000, 720],
  [1200, 480],
  [768, 1024],
  [390, 844],
]

/** Minimum useful size of a machine picture. */
const SIDE_MIN = 170

interface SearchResult {
  /** Sizes of the machine pictures. */
  readonly pictures: [number, number][]
  /** Controls and texts outside of the viewer, where nobody can scroll to. */
  readonly cut: string[]
  readonly sideways: boolean
}

/** As text: the test runner rewrites functions. */
const measure = (): Promise<SearchResult> =>
  page.evaluate(`(() => {
    const frame = document.querySelector('.odonata .frame')
    const room = frame.getBoundingClientRect()
    const pictures = [...frame.querySelectorAll('.picture .canvas-frame')].map((e) => [e.clientWidth, e.clientHeight])
    const cut = [...frame.querySelectorAll('button, select, input, h1, h2, p, label, .canvas-frame')]
      .filter((e) => e.closest('.table-frame, .answers') === null)
      .filter((e) => {
        const box = e.getBoundingClientRect()
        return box.width > 0 && (box.right > room.right + 1 || box.left < room.left - 1)
      })
      .map((e) => e.tagName + ' ' + (e.textContent || e.className).slice(0, 30))
    return { pictures, cut, sideways: frame.scrollWidth > frame.clientWidth }
  })()`)

const hasMachine = (view: string): boolean => !['sweep', 'costs', 'latency'].includes(view)

function check({ pictures, cut, sideways }: SearchResult, view: string): void {
  expect(cut).toEqual([])
  expect(sideways).toBe(false)
  if (hasMachine(view)) expect(pictures.length).toBeGreaterThan(0)
  for (const side of pictures.flat()) expect(side).toBeGreaterThanOrEqual(SIDE_MIN)
}

describe.each(ROOMS)('a window of %d x %d pixels', (width, height) => {
  test.each(Object.entries(VIEWS))(
    '%s: nothing is cut, the machine keeps its size',
    async (view, settings) => {
      await page.setViewportSize({ width, height })
      await open('families', settings)
      await settle(page)
      // Tables of the picture may still be loading.
      if (hasMachine(view)) await page.waitForSelector('.frame .picture .canvas-frame')
      check(await measure(), view)
      await keepPicture(`room-${view}-${width}`)
    },
  )
})

/** Short settings, and a setting with an edit. */
const LONG = 'edit=["-1 global per group pair"], routing=adaptive-hybrid, placement=random-routers'
const RANKED = [1440, 820, 768, 390].flatMap((width) => [
  { width, settings: 'short' },
  { width, settings: 'long' },
])

test.each(RANKED)('numbers of a ranking, $settings settings, in $width px', async ({ width, settings }) => {
  await page.setViewportSize({ width, height: 844 })
  await open('grid', 'view=sweep')
  await page.waitForSelector('.ranking .number')
  if (settings === 'long')
    await page
      .locator('.ranking th button')
      .evaluateAll((all, text) => all.forEach((one) => (one.textContent = text)), LONG)
  const ends = await page
    .locator('.ranking :is(.number, tbody th)')
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().right))
  expect(ends.length).toBeGreaterThan(4)
  expect(Math.max(...ends)).toBeLessThanOrEqual(width)
  await keepPicture(`room-ranking-${settings}-${width}`)
})

test.each([890, 820, 390])('at %d px, tabs have a row, the other controls one', async (width) => {
  await page.setViewportSize({ width, height: 844 })
  await open('grid', 'view=sweep')
  const rows = await page
    .locator('.bar > :is(select, .search, .menu, button), .bar nav button')
    .evaluateAll((all) => {
      const middle = (one: Element): number => {
        const { top, bottom } = one.getBoundingClientRect()
        return Math.round((top + bottom) / 20)
      }
      const inNav = (one: Element): boolean => one.closest('nav') !== null
      return [true, false].map((nav) => new Set(all.filter((one) => inNav(one) === nav).map(middle)).size)
    })
  expect(rows[1]).toBe(1)
  if (width > 400) expect(rows[0]).toBe(1)
})

test.each([1000, 390])('a cell of %d px in a wide window is laid out as its own room asks', async (width) => {
  await openOn('notebook', 'run=0')
  await page.evaluate((px) => (document.getElementById('cell')!.style.width = `${px}px`), width)
  await settle(page)
  check(await measure(), 'run')
  const columns = await page.evaluate(
    () =>
      new Set([...document.querySelectorAll('.body > *')].map((e) => e.getBoundingClientRect().left)).size,
  )
  // Three columns, or all stacked, whatever the window.
  expect(columns).toBe(width === 1000 ? 3 : 1)
})

test.each([820, 768])('at %d px, the panel starts below the picture and its text', async (width) => {
  await page.setViewportSize({ width, height: 900 })
  for (const settings of ['run=0', 'run=0&focus=group%3A2', 'view=jobs&run=0']) {
    await open('dragonfly', settings)
    const [end, start] = await page.evaluate(() => {
      const centre = document.querySelector('.centre')!
      const parts = [...centre.children].map((e) => e.getBoundingClientRect().bottom)
      const right = document.querySelector('.right')?.getBoundingClientRect().top ?? Infinity
      return [Math.max(...parts), right] as const
    })
    expect(end).toBeLessThanOrEqual(start + 1)
  }
})

test('on a phone the machine comes first, then what it is narrowed by', async () => {
  await page.setViewportSize({ width: 390, height: 844 })
  await open('dragonfly', 'run=0')
  const tops = await page.evaluate(() =>
    ['.centre', '.left', '.right'].map((part) => document.querySelector(part)!.getBoundingClientRect().top),
  )
  expect(tops).toEqual([...tops].sort((a, b) => a - b))
})

test.each([820, 390])('at %d px no line is cut, no number is apart from its unit', async (width) => {
  await page.setViewportSize({ width, height: 900 })
  await open('packet-alone', 'view=time')
  const cut = await page
    .locator('.picture .foot p, .facts > span')
    .evaluateAll((all) =>
      all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent),
    )
  expect(cut).toEqual([])
  const broken = await page
    .locator('.mini-ramp')
    .evaluateAll((all) => all.filter((one) => one.clientHeight > 24).map((one) => one.textContent))
  expect(broken).toEqual([])
  // No control of the bar is alone on a second line.
  if (width > 640) expect((await page.locator('.bar').boundingBox())!.height).toBeLessThan(60)
})
