/** Matrix cells as tooltips, keyboard stops and table rows. */
import type { RefObject } from 'preact'
import { count } from '../../../base/format'
import { markScale } from '../../../data/aggregate'
import { describeLinks, show, valueLabel } from '../../../data/describe'
import type { DerivedRun } from '../../../data/model'
import { ROWS_MAX, type Rows } from '../../../data/rows'
import type { ViewState } from '../../../data/state'
import { linkName } from '../../../data/run'
import { marksOf, type CellHit, type CellSource, type CellValue } from '../../../draw/cells'
import type { Interior } from '../../../layout/matrices'
import { geometryOf, useFocusOn, type Hover } from '../../session/session'
import { useSteps } from '../../canvas/steps'

type CellText = Omit<Hover, 'x' | 'y'> & { readonly focus: string; readonly links: number[] }

export function cellSource(d: DerivedRun, { aggregate, scale: kind }: ViewState): CellSource {
  const { groupMarks, interior: inside } = geometryOf(d.run)
  const { selected, looks, step, changed } = d.selection
  const { values, shades, scale } = d
  const all = [groupMarks, ...inside.families.map(({ marks }) => marks)]
  const scales = all.map((marks) => markScale([marks], [d], aggregate, kind))
  return { groupMarks, inside, values, selected, looks, shades, step, changed, aggregate, scale, scales }
}

const linksOf = (source: CellSource, { matrix, cell }: CellHit): number[] => {
  const marks = marksOf(source, matrix.family)
  return [...marks.links.subarray(marks.offsets[cell], marks.offsets[cell + 1])]
}

export function describeCell(d: DerivedRun, inside: Interior, source: CellSource, found: CellHit): CellText {
  const links = linksOf(source, found)
  const at = { run: d.run, routers: [] }
  const { matrix, row: from, column: to } = found
  if (matrix.family < 0) {
    const title = from === to ? `Inside group ${from}` : `Group ${from} to group ${to}`
    const tip = links.length > 0 ? describeLinks(d, links, title) : { title, rows: [], note: 'no link' }
    return {
      ...at,
      links: links.length <= 60 ? links : [],
      groups: [from, to],
      tip,
      focus: `pair:${from}>${to}`,
    }
  }
  const family = inside.families[matrix.family]!
  const lineName = family.lines > 1 ? `, ${family.lineName} ${matrix.line}` : ''
  const title = `Group ${matrix.group}${lineName}, ${family.memberName} ${from} to ${to}`
  if (links.length > 0)
    return {
      ...at,
      links,
      groups: [],
      tip: describeLinks(d, links, title),
      focus: `link:${linkName(d.run, links[0]!)}`,
    }
  const tip = { title, rows: [['Class', family.title] as const], note: 'no link' }
  return { ...at, links, groups: [], tip, focus: '' }
}

/** The cells as a table, largest first. */
export function cellRows(
  d: DerivedRun,
  title: string,
  cells: readonly CellValue[],
  describe: (cell: CellHit) => CellText,
): Rows {
  return {
    title,
    head: ['Cell', 'Links', valueLabel(d)],
    rows: cells.slice(0, ROWS_MAX).map((cell) => {
      const { tip, links } = describe(cell)
      const several = tip?.rows.find(([label]) => label === 'Links')?.[1]
      return [tip?.title ?? '', several ?? count(links.length), show(d, cell.value)]
    }),
    all: cells.length,
  }
}

/** Keyboard stops in order of value; scrolls to each. */
export function useCellSteps(
  frame: RefObject<HTMLDivElement | null>,
  cells: () => readonly CellValue[],
  describe: (cell: CellHit) => CellText,
  keys: readonly unknown[],
): (event: KeyboardEvent) => boolean {
  const focusOn = useFocusOn()
  return useSteps(
    cells,
    (found) => {
      const { matrix, row, column } = found
      const { focus, ...hover } = describe(found)
      const element = frame.current!
      const y = matrix.y + (row + 0.5) * matrix.cell
      if (y < element.scrollTop || y > element.scrollTop + element.clientHeight)
        element.scrollTo({ top: y - element.clientHeight / 2 })
      const box = element.getBoundingClientRect()
      const place = {
        x: box.left + matrix.x + (column + 0.5) * matrix.cell,
        y: box.top + y - element.scrollTop,
      }
      return { hover: { ...hover, ...place }, enter: () => focusOn(focus) }
    },
    keys,
  )
}
