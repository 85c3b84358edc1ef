/** Shared helpers of the browser tests: the page, expected values, and screen positions. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject } from 'vitest'
import { loadRun, type Run } from '../src/data/run'
import { HttpSource } from '../src/data/source'
import { PANEL_NAMES } from '../src/views/panels/panels'
import { launch, openPage, openView, settle } from './chromium'

/** Addresses of all panels, of the first run with a group in focus. */
export const PANEL_PAGES: Record<string, string> = Object.fromEntries(
  PANEL_NAMES.map((panel) => [panel, `run=0&panel=${panel}&focus=group%3A2`]),
)

export interface ClassFigures {
  links: number
  mean: number
  mean_by_job: number[]
  percentiles: number[]
  above_half: number
  sum_above_half: number
}

export interface JobFigures {
  job: number
  name: string
  ranks: number
  nodes: number
  routers: number
  slowdown?: number
}

export interface RunFigures {
  links: number
  groups: number
  jobs: JobFigures[]
  max: number
  loaded: number
  loaded_between_groups: number
  between_groups: number
  hottest: { from: string; to: string; class: string; by_job: number[] }
  pairs: { from: number; to: number; links: number; max: number }[]
  /** Total, then each job, by link name; every tenth link of a large machine. */
  by_name: Record<string, number[]>
  router_jobs: Record<string, number[]>
  classes: Record<string, ClassFigures>
  /** Labels of the measures of links. */
  measures: string[]
  /** Null for an engine that does not iterate. */
  converged: boolean | null
}

interface ExpectedValues {
  runs: Record<string, RunFigures>
  /** The runs of the server and of the pages `families`, in order. */
  families: string[]
  /** Mean traffic by run. */
  sweep: Record<string, number>
  series: {
    starts: number[]
    third: Record<string, number>[]
    /** Picoseconds by router and start of the interval. */
    stalls_of_routers: Record<string, Record<string, number>>
    link_stall_max: number
    tenth: { stall_max: number; stalled: number; bytes_max: number }
  }
  /** A sweep: maximum traffic and latency of a job for each cell, by seed. */
  grid: { routing: string; ranks: number; most: number[]; latency: number[] }[]
  /** Rows of the tables of the search. */
  search: Record<'front' | 'trials', Record<string, number | string | boolean | null>[]>
  /** Slowdown of the call time of each job with the other job, by seed. */
  interference: { routing: string; target: string; slowdowns: number[] }[]
  /** Maximum on the dynamic VCs of a link, also as a share; the kind of each VC. */
  channels: { kinds: string[]; largest: number; share: number }
  /** One job on a torus with two mappings: traffic of each link on dynamic VCs, and its share. */
  mappings: { links: string[] } & Record<'plain' | 'tilted', Record<'dynamic' | 'share', number[]>>
  lanes: Record<
    'ranks' | 'first' | 'last' | 'waiting_of_first' | 'computing_share' | 'waiting_share',
    number
  > &
    Record<'waits' | 'computes', [number, number]>
  /**
   * Communicator groups of the first job, one communicator with several groups, and routers of the second
   * job.
   */
  communicators: { groups: Record<string, number[][]>; several: number; routers: number[] }
  /** The second job of `packet`, and the group pair with the largest congestion index. */
  latency: Record<'packets' | 'p50_ns' | 'p95_ns' | 'p99_ns', number> & {
    worst: Record<'source_group' | 'target_group' | 'congestion_index', number>
  }
  /** The cycle of the second job of `amg`, and the only job of `model`. */
  costs: {
    scenarios: Record<string, number>
    levels: number
    /** First scenario, all phases. */
    finest_compute: number
    largest: { scenario: string; level: number; phase: string; term: string; time_s: number }
    /** The slowest level of each scenario. */
    slowest: { scenario: string; level: number; time_s: number }[]
    per_rank: Record<string, number>
    per_rank_time: number
  }
  communication: {
    cells: Record<'source' | 'destination' | 'ranks_per_cell' | 'messages' | 'bytes', number>[]
    bytes: number
  }[]
  /** Levels of a multigrid cycle, each a job. */
  levels: { name: string; bytes: number; messages: number; most: number }[]
  /** After a redistribution: all but the finest level, the two coarsest on fewer ranks. */
  regrouped: { name: string; bytes: number; messages: number; most: number }[]
  difference: {
    from: string
    to: string
    before: number
    after: number
    black: Record<'cables' | 'mean_change' | 'removed' | 'removed_mean' | 'bundles' | 'bundle_change', number>
  }
  /** Effect of removing a cable of each black bundle on the job with the largest slowdown. */
  answer: { job: string; before: number; after: number } & Record<
    'link_before' | 'link_after',
    { name: string; share: number }
  >
  /** Bottleneck of the first job of Edison's run. */
  explanation: { job: string; name: string; share: number; sharers: { name: string; share: number }[] }
  counters: { edison: { paths: string[]; links: number; flits_max: number; groups: number } | null }
}

export const expected = JSON.parse(
  readFileSync(join(inject('runs'), 'expected.json'), 'utf8'),
) as ExpectedValues

/** Runs of the server `all`, in order. */
export const RUNS = [
  'edison',
  'edison-K',
  'dragonfly',
  'torus',
  'tree',
  'corner',
  'packet',
  'packet-torus',
] as const
export const numberOf = (run: (typeof RUNS)[number]): number => RUNS.indexOf(run)

/** Number of a run on the pages `families`. */
export const familyOf = (run: string): number => expected.families.indexOf(run)

export const urls = inject('urls')

export const picture = (name: string): string => join(inject('runs'), `${name}.png`)

/** Saves a screenshot with the runs: `ODONATA_VIEWER_RUNS=DIRECTORY make test`. */
export async function keepPicture(name: string): Promise<void> {
  if (process.env['ODONATA_VIEWER_RUNS'] !== undefined) await page.screenshot({ path: picture(name) })
}

export let page: Page
let browser: Browser
let errors: string[]
let onPurpose: RegExp | null

export function useBrowser(): void {
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(async () => browser?.close())
  beforeEach(async () => {
    ;({ page, errors } = await openPage(browser))
    onPurpose = null
  })
  afterEach(async () => {
    await page.close()
    expect(errors.filter((error) => !onPurpose?.test(error))).toEqual([])
  })
}

/** Ignores errors that a test causes on purpose; the console may report them late. */
export function forgive(errors: RegExp): void {
  onPurpose = errors
}

/** With all controls open, unless the first page is opened. */
const withControls = (settings: string): string =>
  settings === '' || settings.includes('colours=') ? settings : `${settings}&colours=1`

export const open = (server: string, settings = ''): Promise<void> =>
  openView(page, urls[server]!, withControls(settings))

/** Opens a page and waits for content after its first picture, such as another table or run. */
export async function openUntil(
  server: string,
  settings: string,
  ...shown: readonly string[]
): Promise<void> {
  await open(server, settings)
  for (const selector of shown) await page.waitForSelector(selector)
  await settle(page)
}

/** Reloads the page with the settings in its address. */
export async function reload(): Promise<void> {
  await page.reload()
  await page.waitForSelector('[data-test=app][data-ready=yes]')
  await settle(page)
}

/** The three hosts of the viewer: served page, standalone page, notebook cell. */
export const SURFACES = ['served', 'html', 'notebook'] as const
export type Surface = (typeof SURFACES)[number]

/** Opens the runs of all families with these settings. */
export async function openOn(surface: Surface, settings = ''): Promise<void> {
  if (surface === 'served') return open('families', settings)
  if (surface === 'html') return openView(page, inject('families'), withControls(settings))
  await openInNotebook('families.json')
  await setOn(surface, settings)
}

/** Renders the data of a widget in a notebook cell, `#cell`; `window.cleanUp` removes it. */
export async function openInNotebook(file: string): Promise<void> {
  // The served page is only used to import the module.
  await open('dragonfly')
  const data = readFileSync(join(inject('runs'), file), 'utf8')
  await page.evaluate((json) => Object.assign(window, { cellData: json }), data)
  // As text: the test runner rewrites import() in functions. A notebook cell is narrower than a window.
  await page.evaluate(`(async () => {
    const module = await import(new URL('viewer.js', location.href).href)
    const cell = document.createElement('div')
    cell.id = 'cell'
    document.body.replaceChildren(cell)
    window.cleanUp = await module.default.render({ model: { get: () => JSON.parse(window.cellData) }, el: cell })
  })()`)
}

/** Changes the settings; a notebook has no address, so they go to the viewer itself. */
export async function setOn(surface: Surface, settings: string): Promise<void> {
  if (surface !== 'notebook') await set(settings)
  else
    await page.evaluate((text) => {
      const cell = document.querySelector('#cell > div') as unknown as {
        odonata: { readAddress(text: string): void }
      }
      cell.odonata.readAddress(text)
    }, withControls(settings))
  await page.waitForSelector('[data-test=app][data-ready=yes]')
  await settle(page)
}

/** Changes the settings of the open page. */
export async function set(settings: string): Promise<void> {
  await page.evaluate((hash) => (location.hash = hash), withControls(settings))
  await settle(page)
}

export const at = (test: string): Locator => page.locator(`[data-test="${test}"]`).first()

export const text = async (test: string): Promise<string> => (await at(test).innerText()).trim()

export async function click(test: string): Promise<void> {
  await at(test).click()
  await settle(page)
}

export async function press(...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key)
  await settle(page)
}

/** The settings in the address, which are written 150 ms after the last change; timers run in order. */
export async function address(): Promise<URLSearchParams> {
  const hash = await page.evaluate(
    () => new Promise<string>((resolve) => setTimeout(() => resolve(location.hash), 170)),
  )
  const settings = new URLSearchParams(hash.slice(1))
  settings.delete('colours')
  return settings
}

export async function tipAt(x: number, y: number): Promise<string> {
  await page.mouse.move(x, y)
  await settle(page)
  const tip = page.locator('[data-test=tooltip]')
  return (await tip.count()) === 0 ? '' : tip.innerText()
}

/** The run in the page, to find screen positions; expected figures come from the tables. */
export async function runOf(server: string, number: number): Promise<Run> {
  const source = new HttpSource(urls[server]!)
  const { runs } = await source.index()
  return loadRun(source, number, runs[number]!)
}

/** Converts scene coordinates to page coordinates. */
export async function placeOf(
  frame: Locator,
  scene: { width: number; height: number },
): Promise<(x: number, y: number) => [number, number]> {
  const box = (await frame.boundingBox())!
  const k = Math.min(box.width / scene.width, box.height / scene.height)
  const [left, top] = [box.x + (box.width - scene.width * k) / 2, box.y + (box.height - scene.height * k) / 2]
  return (x, y) => [left + x * k, top + y * k]
}

export const number = (value: number): string => value.toLocaleString('en-US')

export { settle }
