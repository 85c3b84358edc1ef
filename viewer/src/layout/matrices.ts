/**
 * Links as cells of matrices: group by group, and inside each group by class.
 *
 * What a class joins decides its matrices: if its links inside a group differ in one axis only, there is one matrix per
 * line along that axis (16 x 16 per row, 6 x 6 per column on Aries), otherwise one of all routers of the group.
 */
import { marksFrom, type Marks } from '../data/aggregate'
import type { Run } from '../data/run'
import { groupMembers } from './radial'

/** Square matrices of one class, all of one size; matrix i has the cells `i * size^2` on, row by row (source, target). */
export interface Family {
  readonly class: number
  readonly title: string
  readonly size: number
  /** Matrices of one group. */
  readonly lines: number
  /** What distinguishes them, as in `row`; empty if a group has one. */
  readonly lineName: string
  /** What a cell's row and column count, as in `column`. */
  readonly memberName: string
  readonly marks: Marks
}

/** Beyond this many cells a family is left out, and said to be. */
const CELLS_MAX = 16_000_000

export interface Interior {
  readonly families: readonly Family[]
  readonly leftOut: readonly string[]
}

/** Matrix by groups; the diagonal holds the links inside each group. */
export function groupMatrix(run: Run): Marks {
  const { group, groups } = run.routers
  const ofLink = Int32Array.from(
    run.links.source,
    (s, l) => group[s]! * groups + group[run.links.target[l]!]!,
  )
  return marksFrom(ofLink, groups * groups)
}

export function interior(run: Run): Interior {
  const families: Family[] = []
  const leftOut: string[] = []
  run.links.classes.forEach((name, code) => {
    const shape = classShape(run, code)
    if (shape === null) return
    const cells = run.routers.groups * shape.lines * shape.size ** 2
    if (cells > CELLS_MAX) {
      leftOut.push(`${name} (${shape.size} × ${shape.size} per group)`)
      return
    }
    families.push({ class: code, title: name, ...shape, marks: marksFrom(shape.cellOf(), cells) })
  })
  return { families, leftOut }
}

interface ClassShape {
  readonly size: number
  readonly lines: number
  readonly lineName: string
  readonly memberName: string
  cellOf(): Int32Array
}

function classShape(run: Run, code: number): ClassShape | null {
  const { source, target, count, class: classOf } = run.links
  const { group, axes } = run.routers
  const varies = new Set<number>()
  let any = false
  for (let l = 0; l < count; l++) {
    if (classOf[l] !== code || group[source[l]!] !== group[target[l]!]) continue
    any = true
    axes.forEach((axis, i) => {
      if (axis.values[source[l]!] !== axis.values[target[l]!]) varies.add(i)
    })
  }
  if (!any) return null
  const fixed = axes.filter((axis, i) => axis.name !== 'group' && !varies.has(i))
  const [only] = varies
  const single = varies.size === 1 && fixed.length > 0 ? axes[only!]! : null
  const local = single ? single.values : localIndex(run)
  const size = single ? single.size : Math.max(...groupMembers(run).map((m) => m.length))
  const lines = single ? fixed.reduce((n, axis) => n * axis.size, 1) : 1
  const lineOf = (r: number): number =>
    single ? fixed.reduce((index, axis) => index * axis.size + axis.values[r]!, 0) : 0
  return {
    size,
    lines,
    lineName: single ? fixed.map((axis) => axis.name).join(', ') : '',
    memberName: single ? single.name : 'router',
    cellOf: () => {
      const ofLink = new Int32Array(count).fill(-1)
      for (let l = 0; l < count; l++) {
        const [s, t] = [source[l]!, target[l]!]
        if (classOf[l] !== code || group[s] !== group[t]) continue
        ofLink[l] = ((group[s]! * lines + lineOf(s)) * size + local[s]!) * size + local[t]!
      }
      return ofLink
    },
  }
}

/** Index of each router within its group. */
function localIndex(run: Run): Uint32Array {
  const index = new Uint32Array(run.routers.count)
  for (const members of groupMembers(run)) members.forEach((r, i) => (index[r] = i))
  return index
}

export interface PlacedMatrix {
  /** -1 for the matrix of groups, else index into the families. */
  readonly family: number
  readonly group: number
  readonly line: number
  readonly x: number
  readonly y: number
  readonly size: number
  /** Side of a cell in pixels. */
  readonly cell: number
  /** The first cell's number within the family. */
  readonly base: number
}

export interface MatrixText {
  readonly x: number
  readonly y: number
  readonly text: string
  readonly align: 'left' | 'center' | 'right'
  readonly strong: boolean
}

export interface MatrixPanel {
  readonly width: number
  readonly height: number
  readonly matrices: readonly PlacedMatrix[]
  readonly texts: readonly MatrixText[]
}

const LABEL_WIDTH = 24
const GAP = 2
const TITLE = 22

/**
 * Places all matrices in a panel of `width` pixels. Cells are as large as `height` allows, 1 to 12 whole pixels; a group's
 * matrices go on in a new line where they do not fit, and the panel grows downwards.
 */
export function placeMatrices(
  run: Run,
  inside: Interior,
  width: number,
  height: number,
  onlyGroup: number | null = null,
): MatrixPanel {
  const matrices: PlacedMatrix[] = []
  const texts: MatrixText[] = []
  const groups = run.routers.groups
  let y = 0
  if (groups > 1 && onlyGroup === null) {
    const cell = Math.max(1, Math.min(11, Math.floor(Math.min(0.3 * height, width - LABEL_WIDTH) / groups)))
    texts.push({
      x: 0,
      y: 13,
      text: 'Between groups: from ↓ to →',
      align: 'left',
      strong: true,
    })
    matrices.push({
      family: -1,
      group: -1,
      line: 0,
      x: LABEL_WIDTH,
      y: TITLE + 14,
      size: groups,
      cell,
      base: 0,
    })
    const stride = cell >= 9 ? 1 : Math.ceil(30 / cell)
    for (let g = 0; g < groups; g += stride) {
      texts.push({
        x: LABEL_WIDTH - 4,
        y: TITLE + 14 + (g + 0.5) * cell + 4,
        text: String(g),
        align: 'right',
        strong: false,
      })
      if (cell >= 11 ? g % 2 === 0 : true)
        texts.push({
          x: LABEL_WIDTH + (g + 0.5) * cell,
          y: TITLE + 10,
          text: String(g),
          align: 'center',
          strong: false,
        })
    }
    y = TITLE + 14 + groups * cell + 16
  }
  if (inside.families.length === 0) return { width, height: y, matrices, texts }

  const shown = onlyGroup === null ? Array.from({ length: groups }, (_, g) => g) : [onlyGroup]
  const cell = largestCell(inside, width, height - y - TITLE - 15, shown.length)
  const sizes = inside.families.map((f) =>
    f.lines > 1 ? `${f.title}: ${f.lines} × (${f.size} × ${f.size})` : `${f.title}: ${f.size} × ${f.size}`,
  )
  if (onlyGroup === null) {
    texts.push({ x: 0, y: y + 13, text: 'Inside groups', align: 'left', strong: true })
    y += 15
  }
  texts.push({ x: 0, y: y + 13, text: sizes.join(', '), align: 'left', strong: false })
  y += TITLE
  for (const group of shown) {
    const placed = placeGroup(inside, group, cell, width, y)
    matrices.push(...placed.matrices)
    if (onlyGroup === null)
      texts.push({
        x: LABEL_WIDTH - 6,
        y: y + Math.min(placed.height, 14) / 2 + 5,
        text: String(group),
        align: 'right',
        strong: false,
      })
    y += placed.height + Math.max(GAP, Math.min(8, cell * 2))
  }
  return { width, height: y, matrices, texts }
}

function largestCell(inside: Interior, width: number, height: number, groups: number): number {
  for (let cell = 12; cell > 1; cell--) {
    const used = placeGroup(inside, 0, cell, width, 0)
    if (used.height * groups + GAP * 2 * groups <= height && used.widest <= width) return cell
  }
  // It will scroll: two pixels a cell can be hit with the pointer, if the largest matrix fits.
  return Math.max(...inside.families.map((f) => f.size)) * 2 + LABEL_WIDTH <= width ? 2 : 1
}

function placeGroup(
  inside: Interior,
  group: number,
  cell: number,
  width: number,
  top: number,
): { matrices: PlacedMatrix[]; height: number; widest: number } {
  const matrices: PlacedMatrix[] = []
  let [x, y, lineHeight, widest] = [LABEL_WIDTH, top, 0, 0]
  inside.families.forEach((family, index) => {
    const side = family.size * cell
    if (index > 0) x += GAP * 2
    // A class that does not fit whole starts a line of its own, rather than leave its last matrices alone on one.
    if (index > 0 && x + family.lines * (side + GAP) - GAP > width) {
      ;[x, y, lineHeight] = [LABEL_WIDTH, y + lineHeight + GAP, 0]
    }
    for (let line = 0; line < family.lines; line++) {
      if (x > LABEL_WIDTH && x + side > width) {
        ;[x, y, lineHeight] = [LABEL_WIDTH, y + lineHeight + GAP, 0]
      }
      matrices.push({
        family: index,
        group,
        line,
        x,
        y,
        size: family.size,
        cell,
        base: (group * family.lines + line) * family.size ** 2,
      })
      x += side + GAP
      widest = Math.max(widest, x - GAP)
      lineHeight = Math.max(lineHeight, side)
    }
  })
  return { matrices, height: y + lineHeight - top, widest }
}
