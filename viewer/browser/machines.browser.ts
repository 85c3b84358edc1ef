/** All machine families and engines: displayed values equal the tables. */
import { describe, expect, test } from 'vitest'
import { percent, quantity } from '../src/base/format'
import { interior, placeMatrices } from '../src/layout/matrices'
import { machinePicture } from '../src/layout/machine'
import { axisPairs } from '../src/data/projection'
import { radialPicture } from '../src/layout/radial'
import { linkName, type Run } from '../src/data/run'
import {
  at,
  click,
  expected,
  number,
  open,
  page,
  keepPicture,
  placeOf,
  press,
  runOf,
  RUNS,
  set,
  settle,
  text,
  tipAt,
  useBrowser,
} from './stage'

useBrowser()

const scene = (run: Run) => machinePicture(run)

/** About `n` items, evenly spread. */
const some = <T>(all: readonly T[], n: number): T[] =>
  all.filter((_, i) => i % Math.max(1, Math.floor(all.length / n)) === 0).slice(0, n)

// Removed black cables appear only in comparisons.
const SHOWN = RUNS.map((name, run) => ({ name, run, ...expected.runs[name]! })).filter(
  ({ name }) => name !== 'edison-K',
)

describe.each(SHOWN)('$name', ({ name, run, links, max, hottest, classes, jobs, ...figures }) => {
  const grouped = !/torus|tree/.test(name)

  test('displayed figures equal the tables', async () => {
    await open('all', `run=${run}`)
    for (const [code, stats] of Object.entries(classes)) {
      expect(await text(`count-${code}`)).toBe(`${number(stats.links)} of ${number(stats.links)}`)
      expect(await text(`mean-${code}`)).toBe(`⌀ ${quantity(stats.mean, 'bytes')}`)
    }
    expect(await text('hot-value')).toBe(quantity(max, 'bytes'))
    expect(await text('selected-count')).toContain(`${number(links)} in total`)
    const row = await page.locator('.links tbody tr').first().innerText()
    expect(row.split(/\s+/)[0]).toBe(`${hottest.from}>${hottest.to}:${hottest.class}.0`)
    expect((await text('ramp-labels')).split('\n').at(-1)).toBe(quantity(max, 'bytes'))
    const marks = await page.locator('.percentile title').allTextContents()
    for (const [code, { percentiles }] of Object.entries(classes))
      for (const [i, p] of [50, 90, 99].entries())
        expect(marks).toContain(
          `${p}th percentile of the ${code} links: ${quantity(percentiles[i]!, 'bytes')}`,
        )
    // All omissions are reported.
    const [drawn, all] = grouped
      ? [figures.loaded_between_groups, figures.between_groups]
      : [figures.loaded, links]
    expect(await text('drawn')).toMatch(new RegExp(`^${number(drawn)} of ${number(all)} links drawn`))
    for (const job of jobs) {
      const line = await at(`job-${job.job}`).innerText()
      expect(line).toContain(job.name)
      expect(line).toContain(`${number(job.nodes)} nodes, ${number(job.routers)} routers`)
      if (job.slowdown) expect(line).toContain(`slowdown ${Number(job.slowdown.toPrecision(3))}`)
    }
  })

  test('one job only, hidden, subtracted, and a threshold: remaining links per class', async () => {
    await open('all', `run=${run}`)
    const meansAre = async (of: (by: number[]) => number): Promise<void> => {
      for (const [code, stats] of Object.entries(classes))
        expect(await text(`mean-${code}`)).toBe(`⌀ ${quantity(of(stats.mean_by_job), 'bytes')}`)
    }
    const rest = (by: number[]): number => by.slice(1).reduce((sum, v) => sum + v, 0)
    const button = (word: string) => at('job-0').locator('.switch', { hasText: word })
    if (jobs.length > 1) {
      await press('1')
      await meansAre((by) => by[0]!)
      await button('only').click()
      await settle(page)
      await meansAre((by) => by.reduce((sum, v) => sum + v, 0))
    }
    await button('show').click()
    await settle(page)
    await meansAre(rest)
    await button('show').click()
    await press('Shift+1')
    await meansAre(rest)
    // A threshold keeps links above it, with their counts and means.
    await set(`run=${run}&low=${max / 2}`)
    for (const [code, stats] of Object.entries(classes)) {
      expect(await text(`count-${code}`)).toBe(`${number(stats.above_half)} of ${number(stats.links)}`)
      const mean = stats.above_half > 0 ? quantity(stats.sum_above_half / stats.above_half, 'bytes') : '–'
      expect(await text(`mean-${code}`)).toBe(`⌀ ${mean}`)
    }
  })

  test('tooltips of links, routers and cells show ends, values and jobs', async () => {
    await open('all', `run=${run}`)
    const loaded = await runOf('all', run)
    const drawing = scene(loaded)
    const place = await placeOf(page.locator('.picture .canvas-frame'), drawing)
    const routers = some(Object.keys(figures.router_jobs), 5)
    for (const router of routers) {
      const r = loaded.routers.names.toArray().indexOf(router)
      const tip = await tipAt(...place(drawing.routers[2 * r]!, drawing.routers[2 * r + 1]!))
      expect(tip.split('\n')[0]).toMatch(new RegExp(`^${router} `))
      const on = figures.router_jobs[router]!
      const works =
        on.length === 0 ? 'idle' : on.length > 1 || on[0] === -2 ? 'several jobs' : jobs[on[0]!]!.name
      expect(tip).toContain(works)
    }

    // Between groups: maximum and number of links.
    const inside = interior(loaded)
    const frame = page.locator('.matrices .canvas-frame')
    const grouped = loaded.routers.groups > 1
    let panel = (await frame.boundingBox())!
    const [between] = placeMatrices(loaded, inside, panel.width - 4, panel.height, -1, true).matrices
    for (const pair of grouped ? figures.pairs : []) {
      const [x, y] = [
        between!.x + (pair.to + 0.5) * between!.cell,
        between!.y + (pair.from + 0.5) * between!.cell,
      ]
      const tip = await tipAt(panel.x + x, panel.y + y)
      if (pair.links > 1) {
        expect(tip).toContain(`Group ${pair.from} to group ${pair.to}`)
        expect(tip).toMatch(new RegExp(`Links\\s+${pair.links}`))
      }
      expect(tip).toContain(quantity(pair.max, 'bytes'))
    }

    // Inside the group in focus.
    if (grouped) await set(`run=${run}&focus=group%3A0`)
    panel = (await frame.boundingBox())!
    const { matrices } = placeMatrices(loaded, inside, panel.width - 4, panel.height, 0, true)
    const seen = matrices.filter((m) => m.family >= 0 && m.y + m.size * m.cell < panel.height)
    const cells = seen.flatMap((m) =>
      Array.from({ length: m.size ** 2 }, (_, c) => {
        const { offsets, links: of } = inside.families[m.family]!.marks
        const [from, end] = [offsets[m.base + c]!, offsets[m.base + c + 1]!]
        return end - from === 1 ? [{ m, c, link: linkName(loaded, of[from]!) }] : []
      }).flat(),
    )
    const known = cells.filter(({ link }) => figures.by_name[link] !== undefined)
    if (matrices.some((m) => m.family >= 0)) expect(known.length).toBeGreaterThan(0)
    for (const { m, c, link } of some(known, 6)) {
      const [x, y] = [m.x + ((c % m.size) + 0.5) * m.cell, m.y + (Math.floor(c / m.size) + 0.5) * m.cell]
      const tip = await tipAt(panel.x + x, panel.y + y)
      const [total, ...byJob] = figures.by_name[link]!
      expect(tip.split('\n')[0]).toContain(link)
      expect(tip).toContain(quantity(total!, 'bytes'))
      const all = byJob.reduce((sum, v) => sum + v, 0)
      byJob.forEach((value, job) => {
        const share = `${quantity(value, 'bytes')} (${percent(value / all)})`
        if (value > 0) expect(tip).toContain(share)
        else expect(tip).not.toContain(`${jobs[job]!.name}\n`)
      })
    }
  })

  test.runIf(name === 'torus')('a torus can be projected on any two of its axes', async () => {
    await open('all', `run=${run}`)
    const planes = axisPairs((await runOf('all', run)).routers.axes.map(({ name }) => name))
    expect(planes).toEqual(['X,Y', 'X,Z', 'Y,Z'])
    for (const axes of planes) {
      await at('planes').selectOption(axes)
      await settle(page)
      expect(await text('drawn')).toContain('projected links drawn')
    }
  })

  test.runIf(name === 'torus')('a torus can be looked at down any axis, every link counted', async () => {
    await open('all', `run=${run}`)
    const { links } = await runOf('all', run)
    for (const axis of ['X', 'Y', 'Z']) {
      await at('planes').selectOption(`cylinders:${axis}`)
      await settle(page)
      const said =
        /Of ([\d,]+) links, ([\d,]+) along it are radial, ([\d,]+) follow .*, ([\d,]+) are dashed stubs/.exec(
          await text('drawn'),
        )!
      const [all, ...parts] = said.slice(1).map((number) => Number(number.replaceAll(',', '')))
      expect(all).toBe(links.count)
      expect(parts.reduce((sum, part) => sum + part)).toBe(all)
    }
  })

  test.runIf(name === 'packet-torus')('virtual channels one by one, by kind and as a share', async () => {
    const { kinds, largest, share } = expected.channels
    await open('all', `run=${run}`)
    const options = await at('channel').locator('option').allInnerTexts()
    const single = kinds.map((_, vc) => `channel ${vc}`)
    expect(options).toEqual(['all', ...new Set(kinds), 'dynamic share', ...single])
    const chosen = async (option: string): Promise<string> => {
      await at('channel').selectOption(option)
      await settle(page)
      return text('hot-value')
    }
    expect(await chosen('dynamic')).toBe(quantity(largest, 'bytes'))
    expect(await chosen('share')).toBe(quantity(share, 'share'))
    expect(await chosen('')).toBe(quantity(max, 'bytes'))
    // Router close-up: the VCs of a link sum to its traffic.
    await open('all', `run=${run}&focus=router:${(await runOf('all', run)).routers.names.at(0)}`)
    const cells = await at('router-view').locator('tbody tr').first().locator('td').allInnerTexts()
    expect(cells).toHaveLength(2 + kinds.length)
    expect(await at('router-view').locator('tbody tr').count()).toBe(6)
    // With a run without VC records, there is no VC choice.
    await set(`view=compare&compared=${run},0&difference=0&channel=dynamic`)
    expect(await at('channel').count()).toBe(0)
  })

  test.runIf(name === 'torus')('minimaps look at the machine from their side', async () => {
    await open('all', `run=${run}&projection=cylinders:Z`)
    expect(await at('minimap-X,Y').getAttribute('aria-pressed')).toBe('true')
    await click('minimap-Y,Z')
    expect(await at('minimap-Y,Z').getAttribute('aria-pressed')).toBe('true')
    expect(await text('drawn')).toContain('View along X')
  })

  test.runIf(name === 'torus')('a direction focus keeps only its links', async () => {
    const { routers, links, measures } = await runOf('all', run)
    const { size, values } = routers.axes.find((axis) => axis.name === 'Y')!
    const those = [...measures[0]!.total].filter(
      (_, l) => (values[links.target[l]!]! - values[links.source[l]!]! + size) % size === 1,
    )
    const mean = those.reduce((sum, value) => sum + value, 0) / those.length
    await open('all', `run=${run}&hottest=0`)
    expect((await text('direction-Y+')).replace(/\s+/, ' ')).toBe(`Y+ ${quantity(mean, 'bytes')}`)
    await click('direction-Y+')
    expect(await at('direction-Y+').getAttribute('aria-pressed')).toBe('true')
    expect(await text('selected-count')).toContain(`of ${number(those.length)} selected links`)
    await click('direction-Y+')
    expect(await text('selected-count')).toContain(`of ${number(links.count)} selected links`)
  })

  test('nothing overflows at both sizes, light and dark', async () => {
    await fits(name, `run=${run}`)
  })
})

describe.each(['time', 'jobs', 'compare', 'sweep'])('the view %s', (view) => {
  test('fits at both sizes, light and dark', async () => {
    await fits(view, `view=${view}&run=6&compared=0,1`)
  })
})

async function fits(name: string, settings: string): Promise<void> {
  await open('all', settings)
  for (const [width, height] of [
    [1440, 900],
    [1024, 768],
  ] as const) {
    await page.setViewportSize({ width, height })
    for (const theme of ['light', 'dark']) {
      await set(`${settings}&theme=${theme}`)
      expect(await misplaced()).toEqual([])
      await keepPicture(`${name}-${width}-${theme}`)
    }
  }
}

/** Controls and headings that are outside of the window, cut off or overlapping. */
async function misplaced(): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = []
    if (document.documentElement.scrollWidth > innerWidth) found.push('the page scrolls sideways')
    const shown: { e: Element; box: DOMRect }[] = []
    for (const e of document.querySelectorAll(
      '.odonata button, .odonata th, .odonata h2, .odonata label > b, .picture .reading, .odonata select',
    )) {
      const box = e.getBoundingClientRect()
      if (box.width === 0 || e.closest('details:not([open]) > div')) continue
      const scroller = e.closest('.left, .right, .table-frame, .page, .charts, .figures')
      const clip = scroller?.getBoundingClientRect()
      // Content that is scrolled out of view overlaps nothing.
      if (clip && (box.bottom > clip.bottom || box.top < clip.top)) continue
      shown.push({ e, box })
      if (box.right > innerWidth + 1 || box.left < -1) found.push(`outside: ${e.textContent}`)
      if (
        e.tagName !== 'SELECT' &&
        e.scrollWidth > e.clientWidth + 1 &&
        getComputedStyle(e).overflowX === 'visible' &&
        e.clientWidth > 0
      )
        found.push(`cut: ${e.textContent}`)
    }
    shown.forEach(({ e, box }, i) => {
      for (const { e: other, box: b } of shown.slice(i + 1))
        if (
          !e.contains(other) &&
          !other.contains(e) &&
          // Sticky table heads cover their own rows.
          e.tagName !== 'TH' &&
          other.tagName !== 'TH' &&
          Math.min(box.right, b.right) - Math.max(box.left, b.left) > 1.5 &&
          Math.min(box.bottom, b.bottom) - Math.max(box.top, b.top) > 1.5
        )
          found.push(`overlap: ${e.textContent} / ${other.textContent}`)
    })
    return found
  })
}

test('a machine with unused groups is drawn completely', async () => {
  await open('all', 'run=5')
  expect(await page.locator('.facts').innerText()).toContain('15 groups')
  const run = await runOf('all', 5)
  const drawing = radialPicture(run)
  const place = await placeOf(page.locator('.picture .canvas-frame'), drawing)
  // The last group is idle; the pointer is where its band would be.
  const { start, end } = drawing.rings[0]!.sectors[14]!
  const middle = (start + end) / 2
  const radius = (drawing.rings[0]!.bandInner + drawing.rings[0]!.bandOuter) / 2
  const tip = await tipAt(
    ...place(
      drawing.rings[0]!.x + radius * Math.sin(middle),
      drawing.rings[0]!.y - radius * Math.cos(middle),
    ),
  )
  expect(tip).toContain('Group 14')
  expect(tip).toMatch(/Routers\s+96/)
  expect(tip).toMatch(/Inside, sum\s+0 B/)
  await click('panel-group')
  expect(await page.locator('.router-cell').count()).toBe(96)
})
