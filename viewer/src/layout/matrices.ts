/**
 * Links as matrix cells: between groups, and inside each group by class.
 *
 * If the links of a class inside a group each vary along one axis, there is one matrix per line of that axis
 * (16 x 16 per row, 6 x 6 per column on Aries). Otherwise there is one matrix of all routers of the group.
 */
import { marksFrom, type Marks } from '../data/aggregate'
import { axesInside, type Axis, type Run } from '../data/run'
import { groupMembers } from './radial'

/**
 * Square matrices of one class and size; matrix i starts at cell `i * size^2`, row-major (source, target).
 */
export interface Family {
  readonly class: number
  readonly title: string
  readonly size: number
  /** Matrices per group. */
  readonly lines: number
  /** What distinguishes them, such as `row`; empty if there is one. */
  readonly lineName: string
  /** What rows and columns of a cell count, such as `column`. */
  readonly memberName: string
  readonly marks: Marks
}

/** Families with more cells are left out, with a note. */
const CELLS_MAX = 16_000_000

export interface Interior {
  readonly families: readonly Family[]
  readonly leftOut: readonly string[]
  /** Groups with links inside. */
  readonly groups: readonly number[]
}

/** Matrix of groups; the diagonal holds links inside a group. Empty if it would be too large. */
export function groupMatrix(run: Run): Marks {
  const { group, groups } = run.routers
  if (groups ** 2 > CELLS_MAX) return marksFrom(new Int32Array(run.links.count).fill(-1), 0)
  const ofLink = Int32Array.from(
    run.links.source,
    (s, l) => group[s]! * groups + group[run.links.target[l]!]!,
  )
  return marksFrom(ofLink, groups * groups)
}

export function interior(run: Run): Interior {
  const families: Family[] = []
  const { groups } = run.routers
  const leftOut = groups ** 2 > CELLS_MAX ? [`between groups (${groups} × ${groups})`] : []
  run.links.classes.forEach((_, code) => {
    for (const { cellOf, ...shape } of classShapes(run, code)) {
      const cells = run.routers.groups * shape.lines * shape.size ** 2
      if (cells > CELLS_MAX) leftOut.push(`${shape.title} (${shape.size} × ${shape.size} per group)`)
      else families.push({ class: code, ...shape, marks: marksFrom(cellOf(), cells) })
    }
  })
  return { families, leftOut, groups: groupsWithLinks(run) }
}

/** Excludes the top level of a fat tree and groups without counters. */
function groupsWithLinks(run: Run): number[] {
  const { group, groups } = run.routers
  const found = new Uint8Array(groups)
  run.links.source.forEach((s, l) => {
    if (group[s] === group[run.links.target[l]!]) found[group[s]!] = 1
  })
  return Array.from({ length: groups }, (_, g) => g).filter((g) => found[g] === 1)
}

interface ClassShape {
  readonly size: number
  readonly lines: number
  readonly lineName: string
  readonly memberName: string
  cellOf(): Int32Array
}

/** Matrix shapes of a class: one per axis if each link inside a group follows one axis, else one in total. */
function classShapes(run: Run, code: number): (ClassShape & { title: string })[] {
  const { source, target, count, class: classOf } = run.links
  const { group, axes } = run.routers
  const inside: number[] = []
  const along = new Int8Array(count).fill(-1)
  const used = new Set<number>()
  let straight = true
  for (let l = 0; l < count; l++) {
    if (classOf[l] !== code || group[source[l]!] !== group[target[l]!]) continue
    inside.push(l)
    const varies = axes.flatMap((axis, i) => (axis.values[source[l]!] !== axis.values[target[l]!] ? [i] : []))
    along[l] = varies[0] ?? -1
    straight &&= varies.length === 1
    if (varies.length === 1) used.add(along[l]!)
  }
  if (inside.length === 0) return []
  const name = run.links.classes[code]!
  const others = (axis: number): readonly Axis[] => axesInside(axes).filter((a) => a !== axes[axis])
  if (!straight || [...used].some((axis) => others(axis).length === 0)) {
    const size = Math.max(...groupMembers(run).map((m) => m.length))
    return [{ title: name, ...shapeOf(run, inside, size, localIndex(run), []), memberName: 'router' }]
  }
  return [...used]
    .sort((a, b) => a - b)
    .map((axis) => ({
      title: used.size > 1 ? `${name} ${axes[axis]!.name}` : name,
      ...shapeOf(
        run,
        inside.filter((l) => along[l] === axis),
        axes[axis]!.size,
        axes[axis]!.values,
        others(axis),
      ),
      memberName: axes[axis]!.name,
    }))
}

/** Matrices of `size` members, one per combination of the `fixed` axes. */
function shapeOf(
  run: Run,
  links: readonly number[],
  size: number,
  member: Uint32Array,
  fixed: readonly Axis[],
): Omit<ClassShape, 'memberName'> {
  const { source, target, count } = run.links
  const lines = fixed.reduce((n, axis) => n * axis.size, 1)
  const lineOf = (r: number): number => fixed.reduce((index, axis) => index * axis.size + axis.values[r]!, 0)
  return {
    size,
    lines,
    lineName: fixed.map((axis) => axis.name).join(', '),
    cellOf: () => {
      const ofLink = new Int32Array(count).fill(-1)
      for (const l of links) {
        const [s, t] = [source[l]!, target[l]!]
        ofLink[l] = ((run.routers.group[s]! * lines + lineOf(s)) * size + member[s]!) * size + member[t]!
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
  /** Index into the families; -1 for the matrix of groups. */
  readonly family: number
  readonly group: number
  readonly line: number
  readonly x: number
  readonly y: number
  readonly size: number
  /** Cell size in pixels. */
  readonly cell: number
  /** Number of its first cell within the family. */
  readonly base: number
}

interface MatrixText {
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

/** Largest cell of the matrix of groups, in pixels, and the share of the panel's height for it. */
const CELL_MAX = 22
const GROUPS_HEIGHT = 0.55
const LABEL_WIDTH = 24
const GAP = 2
const TITLE = 22
/** Approximate letter width of titles. */
const LETTER = 6.4

/**
 * Places all matrices in a panel of `width` pixels. Cells have 1 to 12 whole pixels, limited by `height`. The
 * matrices of a group wrap to new lines, and the panel grows downwards.
 */
export function placeMatrices(
  run: Run,
  inside: Interior,
  width: number,
  height: number,
  /** The groups inside which links are shown, and whether the matrix of groups is; null for all of both. */
  onlyGroup: number | null = null,
  between = onlyGroup === null,
): MatrixPanel {
  const matrices: PlacedMatrix[] = []
  const texts: MatrixText[] = []
  const groups = run.routers.groups
  let y = 0
  if (groups > 1 && groups ** 2 <= CELLS_MAX && between)
    y = placeGroupMatrix(groups, width, height, matrices, texts)
  if (onlyGroup !== null && !inside.groups.includes(onlyGroup)) return { width, height: y, matrices, texts }
  // A cropped matrix would mislead: one wider than the panel at one pixel per cell is named instead of drawn.
  const fits = (f: Family): boolean => f.size + LABEL_WIDTH <= width
  for (const f of inside.families.filter((f) => !fits(f))) {
    const text = `${f.title}: ${f.size} × ${f.size} does not fit this panel`
    texts.push({ x: 0, y: y + 13, text, align: 'left', strong: false })
    y += 16
  }
  if (!inside.families.some(fits)) return { width, height: y, matrices, texts }

  const shown = onlyGroup === null ? inside.groups : [onlyGroup]
  const titled = onlyGroup === null && groups > 1
  const cell = largestCell(inside, width, height - y - TITLE - 15, shown.length)
  const sizes = inside.families
    .filter(fits)
    .map((f) =>
      f.lines > 1 ? `${f.title}: ${f.lines} × (${f.size} × ${f.size})` : `${f.title}: ${f.size} × ${f.size}`,
    )
  if (titled || between) {
    const text = titled ? 'Inside groups' : groups > 1 ? `Inside group ${onlyGroup}` : 'All links'
    texts.push({ x: 0, y: y + 13, text, align: 'left', strong: true })
    y += 15
  }
  for (const line of wrapLines(sizes, Math.floor(width / LETTER))) {
    texts.push({ x: 0, y: y + 13, text: line, align: 'left', strong: false })
    y += 15
  }
  y += TITLE - 15
  const columns = groupColumns(inside, cell, width)
  const pitch = Math.max(GAP, Math.min(8, cell * 2))
  let [column, lineHeight] = [0, 0]
  for (const group of shown) {
    const left = column * Math.floor(width / columns)
    const placed = placeGroup(inside, group, cell, columns > 1 ? Infinity : width, y, left, width)
    matrices.push(...placed.matrices)
    lineHeight = Math.max(lineHeight, placed.height)
    const at = { x: left + LABEL_WIDTH - 6, y: y + Math.min(placed.height, 14) / 2 + 5 }
    if (titled) texts.push({ ...at, text: String(group), align: 'right', strong: false })
    column = (column + 1) % columns
    if (column === 0 || group === shown[shown.length - 1]) {
      y += lineHeight + pitch
      lineHeight = 0
    }
  }
  return { width, height: y, matrices, texts }
}

/** Places the matrix of groups with its labels at the top; returns its bottom. */
function placeGroupMatrix(
  groups: number,
  width: number,
  height: number,
  matrices: PlacedMatrix[],
  texts: MatrixText[],
): number {
  const cell = Math.max(
    1,
    Math.min(CELL_MAX, Math.floor(Math.min(GROUPS_HEIGHT * height, width - LABEL_WIDTH) / groups)),
  )
  const top = TITLE + 14
  texts.push({ x: 0, y: 13, text: 'Between groups (from ↓ to →)', align: 'left', strong: true })
  matrices.push({ family: -1, group: -1, line: 0, x: LABEL_WIDTH, y: top, size: groups, cell, base: 0 })
  // Labels must not touch: of two digits across, of one line down.
  const [across, down] = [Math.ceil(18 / cell), Math.ceil(13 / cell)]
  for (let g = 0; g < groups; g++) {
    const middle = (g + 0.5) * cell
    const label = { text: String(g), strong: false }
    if (g % down === 0) texts.push({ ...label, x: LABEL_WIDTH - 4, y: top + middle + 4, align: 'right' })
    if (g % across === 0) texts.push({ ...label, x: LABEL_WIDTH + middle, y: TITLE + 10, align: 'center' })
  }
  return top + groups * cell + 16
}

/** Joins parts with commas, in lines of at most `letters` letters. */
function wrapLines(parts: readonly string[], letters: number): string[] {
  const lines: string[] = []
  for (const part of parts) {
    const last = lines[lines.length - 1]
    if (last !== undefined && last.length + part.length + 2 <= letters)
      lines[lines.length - 1] = `${last}, ${part}`
    else lines.push(part)
  }
  return lines
}

/** Number of groups side by side, each on one line. */
function groupColumns(inside: Interior, cell: number, width: number): number {
  const { widest } = placeGroup(inside, 0, cell, Infinity, 0, 0, width)
  return Math.max(1, Math.floor(width / (widest + 8)))
}

function largestCell(inside: Interior, width: number, height: number, groups: number): number {
  for (let cell = 12; cell > 1; cell--) {
    const columns = groupColumns(inside, cell, width)
    const used = placeGroup(inside, 0, cell, columns > 1 ? Infinity : width, 0, 0, width)
    const lines = Math.ceil(groups / columns)
    if ((used.height + Math.min(8, cell * 2)) * lines <= height && used.widest <= width) return cell
  }
  // The panel scrolls anyway: use at least two pixels per cell, which can be hit, if the largest matrix fits.
  return Math.max(...inside.families.map((f) => f.size)) * 2 + LABEL_WIDTH <= width ? 2 : 1
}

function placeGroup(
  inside: Interior,
  group: number,
  cell: number,
  width: number,
  top: number,
  left: number,
  panel: number,
): { matrices: PlacedMatrix[]; height: number; widest: number } {
  const matrices: PlacedMatrix[] = []
  const start = left + LABEL_WIDTH
  let [x, y, lineHeight, widest] = [start, top, 0, 0]
  inside.families.forEach((family, index) => {
    if (family.size + LABEL_WIDTH > panel) return
    const side = family.size * cell
    if (index > 0) x += GAP * 2
    // A class that does not fit in full starts a new line, so its last matrices are not left alone.
    if (index > 0 && x + family.lines * (side + GAP) - GAP > width) {
      ;[x, y, lineHeight] = [start, y + lineHeight + GAP, 0]
    }
    for (let line = 0; line < family.lines; line++) {
      if (x > start && x + side > width) {
        ;[x, y, lineHeight] = [start, y + lineHeight + GAP, 0]
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
