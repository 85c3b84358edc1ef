/** Dragging a range on a machine with more than 200,000 links, where slow parts wait for its end. */
import { expect, test } from 'vitest'
import { address, at, number, open, page, runOf, settle, text, useBrowser } from './stage'

useBrowser()

/** Pixels of a canvas. */
const pixels = (selector: string): Promise<string> =>
  page.evaluate(
    (where) => document.querySelector<HTMLCanvasElement>(`${where} canvas`)!.toDataURL(),
    selector,
  )

/** The current ends of the range, also during a drag. */
const ends = (): Promise<{ low: number | null; high: number | null }> =>
  page.evaluate(() => {
    const { odonata } = document.querySelector('#odonata') as unknown as {
      odonata: { state: { get(): { low: number | null; high: number | null } } }
    }
    const { low, high } = odonata.state.get()
    return { low, high }
  })

test('each move counts all links; postponed parts are updated at the end', async () => {
  await open('large', 'hottest=0')
  const run = await runOf('large', 0)
  const { count, classes, class: classOf } = run.links
  expect(count).toBeGreaterThan(200_000)
  const values = run.measures[0]!.total
  const said = async (): Promise<number[]> =>
    Promise.all(
      classes.map(async (name) => Number((await text(`count-${name}`)).split(' ')[0]!.replaceAll(',', ''))),
    )
  const counted = ({ low, high }: { low: number | null; high: number | null }): number[] => {
    const counts = classes.map(() => 0)
    for (let l = 0; l < count; l++)
      if (values[l]! >= (low ?? -Infinity) && values[l]! <= (high ?? Infinity)) counts[classOf[l]!]!++
    return counts
  }

  const box = (await page.locator('[data-test=brush] .overlay').boundingBox())!
  const move = async (share: number): Promise<void> => {
    await page.mouse.move(box.x + box.width * share, box.y + 30)
    await settle(page)
  }
  await move(0.02)
  await page.mouse.down()
  const seen: number[][] = []
  for (const share of [0.1, 0.5, 0.3, 0.08, 0.2]) {
    await move(share)
    const range = await ends()
    expect(range.low).not.toBeNull()
    seen.push(await said())
    expect(seen.at(-1)).toEqual(counted(range))
    // Reduced: few arcs, no link account, unchanged table of hottest links.
    expect(Number(/^([\d,]+) of/.exec(await text('drawn'))![1]!.replaceAll(',', ''))).toBeLessThanOrEqual(
      2000,
    )
    expect(await text('drawn')).not.toContain('. All ')
    expect(await page.locator('.links [aria-busy=true]').count()).toBe(1)
    expect(await text('selected-count')).toContain(`of ${number(count)} selected`)
  }
  expect(new Set(seen.map(String)).size).toBe(seen.length)
  await page.mouse.up()
  await settle(page)
  const all = counted(await ends()).reduce((sum, n) => sum + n, 0)
  expect(await page.locator('.links [aria-busy=true]').count()).toBe(0)
  expect(await text('selected-count')).toContain(`of ${number(all)} selected`)
  const drawn = await text('drawn')
  expect(drawn).toContain(`All ${number(count)} links: `)

  // A page opened with the same settings looks the same.
  await page.mouse.move(5, 5)
  await settle(page)
  const [picture, matrices] = [await pixels('.picture'), await pixels('.matrices')]
  await open('large', String(await address()))
  expect(await text('drawn')).toBe(drawn)
  expect(await at('range-from').inputValue()).not.toBe('')
  expect((await pixels('.picture')) === picture).toBe(true)
  expect((await pixels('.matrices')) === matrices).toBe(true)
})
