/** Files dropped on the page. */
import { expect, test } from 'vitest'
import { readDropped, type DroppedFile } from '../src/data/dropped'

const file = (text: string, name = 'runs.html'): DroppedFile => ({
  name,
  directory: false,
  text: () => Promise.resolve(text),
})
const page = (data: string): DroppedFile =>
  file(`<body><script type="application/json" id="odonata-data">${data}</script>\n<script>1</script></body>`)

test('a page contains its runs', async () => {
  const data = { index: { protocol: 2, version: '0', keys: [], runs: [] }, blocks: { '0/links': 'x\u003c' } }
  const text = JSON.stringify(data).replaceAll('<', '\\u003c')
  expect(await readDropped([page(text)])).toEqual(data)
})

test.each<[string, DroppedFile[], RegExp]>([
  ['nothing', [], /not a file/],
  ['two pages', [page('{}'), page('{}')], /2 files.*expected one/],
  ['a run directory', [{ ...file(''), name: 'wd1', directory: true }], /wd1 is a directory/],
  ['another page', [file('<html></html>')], /runs.html is not an Odonata page/],
  [
    'a page that is cut',
    [file('<script type="application/json" id="odonata-data">{"index"')],
    /not an Odonata page/,
  ],
  ['a page with damaged data', [page('{"index":')], /damaged/],
  ['a page without runs', [page('{"index":{},"blocks":{}}')], /damaged/],
  ['a page with null', [page('null')], /damaged/],
])('%s is refused with a message', async (_, dropped, reason) => {
  await expect(readDropped(dropped)).rejects.toThrow(reason)
})
