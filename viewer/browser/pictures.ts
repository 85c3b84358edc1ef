/**
 * Creates the pictures of the documentation: `npm run pictures -- DIRECTORY RUNS SWEEP SEARCH CROWD TUTORIAL
 * ROUTINGS`. All but the first are addresses of `odonata view`.
 *
 * RUNS has, in this order: WD1, WD1 without black cables, bursts, Dragonfly+, Slim Fly, HyperX. Then
 * Jellyfish, torus, multigrid costs, multigrid levels as jobs, the levels after a redistribution, and a torus
 * job in axis order and tilted. TUTORIAL and ROUTINGS are the two runs and the sweep of the tutorial.
 */
import { join } from 'node:path'
import { launch, openPage, openView, settle } from './chromium.ts'

type Server = 'runs' | 'sweep' | 'search' | 'crowd' | 'tutorial' | 'routings'

/** The busiest links from group 1 to group 2. */
const QUERY = encodeURIComponent(
  'SELECT link, class, bytes FROM links\nWHERE source_group = 1 AND target_group = 2\nORDER BY bytes DESC LIMIT 24',
)

/** Name, server, settings, and what is hovered. */
const PICTURES: readonly (readonly [string, Server, string, string])[] = [
  // What a newcomer sees: an address without settings.
  ['viewer', 'runs', '', ''],
  ['viewer-brushed', 'runs', 'run=0&theme=dark&low=2.1e8&panel=group&focus=group%3A2', ''],
  ['viewer-query', 'runs', `run=0&theme=light&panel=query&query=${QUERY}`, '.query tbody tr:nth-child(2)'],
  ['viewer-difference', 'runs', 'view=compare&compared=0,1&difference=1&theme=light&scale=log', ''],
  ['viewer-time', 'runs', 'view=time&run=2&theme=light&time=12000000', ''],
  ['viewer-latency', 'runs', 'view=latency&run=2&theme=light', ''],
  ['viewer-dragonfly-plus', 'runs', 'run=3&theme=light&hottest=25', ''],
  ['viewer-slim-fly', 'runs', 'run=4&theme=light&hottest=25', ''],
  ['viewer-hyperx', 'runs', 'run=5&theme=light&hottest=25', ''],
  ['viewer-hops', 'runs', 'run=6&theme=light', ''],
  ['viewer-cylinders', 'runs', 'run=7&theme=light&projection=cylinders%3Ax2', ''],
  ['viewer-costs', 'runs', 'view=costs&run=8&theme=light', ''],
  ['viewer-levels', 'runs', 'view=jobs&run=9&theme=light&matrices=all&scale=log', ''],
  [
    'viewer-regrouped',
    'runs',
    'view=jobs&run=9&theme=light&matrices=all&scale=log&otherRun=10&jobs=0,1,2',
    '',
  ],
  ['viewer-ranks', 'runs', 'run=12&theme=light&routers=rank&ranks=0.8x8x8.0&projection=slices%3AX%2CZ', ''],
  [
    'viewer-mappings',
    'runs',
    'view=compare&run=11&compared=11,12&difference=1&change=ratio&channel=dynamic&projection=X%2CZ&theme=light',
    '',
  ],
  ['viewer-jobs', 'runs', 'view=jobs&run=0&theme=dark&focus=job%3A2&scale=log', ''],
  ['viewer-sweep', 'sweep', 'view=sweep&theme=light', ''],
  ['viewer-front', 'search', 'view=study&theme=light', ''],
  ['viewer-interference', 'crowd', 'view=study&theme=light', ''],
  ['tutorial-view', 'tutorial', 'run=0&theme=light', ''],
  ['tutorial-compare', 'tutorial', 'view=compare&compared=0,1&difference=1&theme=light&scale=log', ''],
  ['tutorial-sweep', 'routings', 'view=sweep&theme=light', ''],
]

const [directory, runs, sweep, search, crowd, tutorial, routings] = process.argv.slice(2)
if (!directory || !runs || !sweep || !search || !crowd || !tutorial || !routings)
  throw new Error('give a directory and six addresses')
const urls: Record<Server, string> = { runs, sweep, search, crowd, tutorial, routings }
const browser = await launch()
const { page, errors } = await openPage(browser)

const WINDOW = { width: 1440, height: 900 }
/** The sweep of the tutorial has two rows. */
const SMALL = { width: 1080, height: 275 }

/** Waits for what is loaded after the first picture: sentences, bottlenecks, tables. */
async function settleAll(): Promise<void> {
  await page.waitForTimeout(1500)
  const isComplete = (): boolean => {
    const sentence = document.querySelector('.overview-head .headline')
    const reasons = [...document.querySelectorAll('.job-bars .why')]
    const isNamed = [sentence, ...reasons].every((one) => one === null || one.textContent.trim() !== '')
    return isNamed && !document.body.innerText.includes('Loading ')
  }
  await page.waitForFunction(isComplete, null, { timeout: 120_000 })
}

for (const [name, server, settings, hovered] of PICTURES) {
  await page.setViewportSize(name === 'tutorial-sweep' ? SMALL : WINDOW)
  await openView(page, urls[server], settings)
  await settleAll()
  if (hovered !== '') await page.hover(hovered)
  await settle(page)
  await page.screenshot({ path: join(directory, `${name}.png`) })
}
await browser.close()
if (errors.length > 0) throw new Error(errors.join('\n'))
process.exit(0)
