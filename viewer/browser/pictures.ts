/** The pictures of the documentation: `npm run pictures -- URL DIRECTORY`; URL shows WD1, WD1 without black cables, bursts, a Dragonfly+ and a Slim Fly. */
import { join } from 'node:path'
import { launch, openPage, openView, settle } from './chromium'

/** Name, settings, and what is hovered. */
const PICTURES: readonly (readonly [string, string, string])[] = [
  ['viewer', 'run=0&theme=light', '.links tbody tr:nth-child(3)'],
  ['viewer-brushed', 'run=0&theme=dark&low=2.1e8&panel=group&focus=group%3A2', ''],
  ['viewer-difference', 'view=compare&compared=0,1&difference=1&theme=light&scale=log', ''],
  ['viewer-time', 'view=time&run=2&theme=light&time=12000000', ''],
  ['viewer-dragonfly-plus', 'run=3&theme=light&hottest=25', ''],
  ['viewer-slim-fly', 'run=4&theme=light&hottest=25', ''],
  ['viewer-jobs', 'view=jobs&run=0&theme=dark&focus=job%3A2&scale=log', ''],
]

const [url, directory] = process.argv.slice(2)
if (!url || !directory) throw new Error('give an address and a directory')
const browser = await launch()
const { page, errors } = await openPage(browser)
for (const [name, settings, hovered] of PICTURES) {
  await openView(page, url, settings)
  // Tables of the time and jobs views are asked for after the first picture.
  await page.waitForTimeout(1500)
  if (hovered !== '') await page.hover(hovered)
  await settle(page)
  await page.screenshot({ path: join(directory, `${name}.png`) })
}
await browser.close()
if (errors.length > 0) throw new Error(errors.join('\n'))
process.exit(0)
