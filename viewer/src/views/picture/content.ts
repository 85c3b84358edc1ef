/** What a picture shows under the current settings: mark values, routers, bands, highlights. */
import { Memo } from '../../base/memo'
import { UNKNOWN_JOB } from '../../base/palette'
import {
  aggregateMarks,
  groupJobTraffic,
  markScale,
  updateMarks,
  type MarkValues,
} from '../../data/aggregate'
import { routerJobs } from '../../data/describe'
import type { Difference } from '../../data/difference'
import { markedRouters } from '../../data/communicators'
import { placesOf, type RankPlaces } from '../../data/ranks'
import { resolveFocus, translation } from '../../data/focus'
import type { DerivedRun } from '../../data/model'
import { isOfNothing } from '../../data/range'
import { IDLE, jobNumbers, type Run } from '../../data/run'
import { EMPTY, FILTERED, FIRST_SHADE, SHADES } from '../../data/scale'
import type { Aggregate, ViewState } from '../../data/state'
import type { CableMarks, Highlight, PictureData } from '../../draw/picture'
import type { RouterLook } from '../../draw/routers'
import type { Picture } from '../../layout/picture'
import type { Comparison } from '../session/comparison'
import { geometryOf, type Hover } from '../session/session'

export type Change = NonNullable<Comparison['change']>

/** Computes and caches the data of one picture. */
export class PictureContent {
  private readonly jobs = new Memo<Int32Array>()
  private readonly nodes = new Memo<Int32Array>()
  private readonly colors = new Memo<string[]>()
  private readonly all = new Memo<PictureData>()
  private slow: Pick<PictureData, 'bands' | 'routers'> | undefined
  private marked:
    | { picture: Picture; values: Float64Array; aggregate: Aggregate; step: number; marks: MarkValues }
    | undefined

  /** `reduced`: keep bands and routers unchanged while a range is dragged on a large machine. */
  data(
    picture: Picture,
    d: DerivedRun,
    state: ViewState,
    reduced = false,
    change: Change | null = null,
    /** The runs that are shown side by side. */
    peers: readonly DerivedRun[] = [d],
  ): PictureData {
    const scale = markScale(
      peers.map(({ run }) => geometryOf(run).picture(state.projection).marks),
      peers,
      state.aggregate,
      state.scale,
    )
    const keys = [
      picture,
      d.selection,
      d.scale,
      scale,
      d.focus,
      d.counted,
      state.aggregate,
      state.jobs,
      state.routers,
      state.ranks,
      placesOf(d.run, state),
      markedRouters(d.run, state.communicator),
    ]
    return this.all.get([...keys, reduced, change?.difference], () => {
      const slow = reduced && this.slow ? this.slow : this.detail(picture, d, state)
      this.slow = slow
      return {
        marks: this.marks(picture, d, state),
        places: placesOf(d.run, state),
        scale,
        nodes: this.nodes.get([d.run, state.jobs], () =>
          d.run.nodes.job.map((job) => (state.jobs[job] === 'hidden' ? IDLE : job)),
        ),
        jobColors: this.jobColors(d.run),
        cables: change && cableMarks(change.difference, d, state),
        ...slow,
      }
    })
  }

  /** Updates only the marks of changed links if the previous marks match. */
  private marks(picture: Picture, { values, selection }: DerivedRun, { aggregate }: ViewState): MarkValues {
    const { selected, changed, step } = selection
    const last = this.marked
    const same = last?.picture === picture && last.values === values && last.aggregate === aggregate
    const into = last?.picture === picture ? last.marks : undefined
    if (same && changed && last.step === step - 1)
      updateMarks(picture.marks, values, selected, aggregate, into!, changed)
    const marks =
      same && (last.step === step || (changed && last.step === step - 1))
        ? into!
        : aggregateMarks(picture.marks, values, selected, aggregate, into)
    this.marked = { picture, values, aggregate, step, marks }
    return marks
  }

  private jobColors(run: Run): string[] {
    return this.colors.get([run], () => {
      const colors = Array.from({ length: jobNumbers(run) }, () => UNKNOWN_JOB)
      for (const job of run.jobs) colors[job.job] = job.color
      return colors
    })
  }

  private detail(picture: Picture, d: DerivedRun, state: ViewState): Pick<PictureData, 'bands' | 'routers'> {
    const { run, selection, focus } = d
    const { perJob } = d.measure
    const marked = markedRouters(run, state.communicator)
    const { group, groups, up } = run.routers
    // Without traffic, the hottest links are none, and all routers keep their look.
    const narrowed = selection.count < run.links.count && !isOfNothing(d.range)
    return {
      bands:
        picture.rings.length > 0 && perJob !== null && !d.signed
          ? groupJobTraffic(
              group,
              groups,
              jobNumbers(run),
              run.links,
              run.linkJobs,
              perJob,
              d.counted,
              selection.selected,
            )
          : null,
      routers: {
        job: this.jobs.get([run, state.jobs], () => routerJobs(run, (job) => state.jobs[job] === 'hidden')),
        ...shadesOf(d, state),
        active:
          marked ??
          (focus && focus.job >= 0 ? routersOf(run, focus.job) : narrowed ? activeRouters(d) : null),
        up,
      },
    }
  }
}

/** Removed and added cables within the visible classes and focus. */
function cableMarks({ cables: { run, removed } }: Difference, d: DerivedRun, state: ViewState): CableMarks {
  const picture = geometryOf(run).picture(state.projection)
  const mask = resolveFocus(run, state.focus)?.mask ?? null
  const marks = [new Set<number>(), new Set<number>()] as const
  for (let l = 0; l < run.links.count; l++) {
    const mark = picture.marks.ofLink[l]!
    if (mark < 0 || d.classOn[run.links.class[l]!] === 0 || (mask && mask[l] === 0)) continue
    marks[l < removed ? 0 : 1].add(mark)
  }
  return { curves: picture.curves, removed: [...marks[0]], added: [...marks[1]] }
}

/** Shades by largest link or by rank; null for job colours. */
function shadesOf(d: DerivedRun, state: ViewState): Pick<RouterLook, 'shade' | 'ranked'> {
  const places = placesOf(d.run, state)
  if (places) return { shade: rankShades(places), ranked: true }
  return { shade: state.routers === 'value' ? routerShades(d) : null, ranked: false }
}

function rankShades({ values, most }: RankPlaces): Uint8Array {
  const step = (SHADES - 1) / Math.max(1, most)
  return Uint8Array.from(values, (value) => (value < 0 ? EMPTY : FIRST_SHADE + Math.round(value * step)))
}

/** A router has the look of its largest selected link. */
function routerShades({ run, values, selection, scale }: DerivedRun): Uint8Array {
  const largest = new Float64Array(run.routers.count)
  const shades = new Uint8Array(run.routers.count).fill(FILTERED)
  for (let l = 0; l < run.links.count; l++) {
    if (selection.selected[l] === 0) continue
    for (const r of [run.links.source[l]!, run.links.target[l]!]) {
      shades[r] = EMPTY
      if (Math.abs(values[l]!) > Math.abs(largest[r]!)) largest[r] = values[l]!
    }
  }
  return shades.map((look, r) => (largest[r] === 0 ? look : scale.shade(largest[r]!)))
}

function routersOf(run: Run, job: number): Uint8Array {
  const routers = new Uint8Array(run.routers.count)
  run.nodes.job.forEach((of, n) => of === job && (routers[run.nodes.router[n]!] = 1))
  return routers
}

function activeRouters({ run, selection }: DerivedRun): Uint8Array {
  const active = new Uint8Array(run.routers.count)
  for (let l = 0; l < run.links.count; l++)
    if (selection.selected[l] === 1) {
      active[run.links.source[l]!] = 1
      active[run.links.target[l]!] = 1
    }
  return active
}

/** With more routers, rings would overlap; their size alone then marks them. */
const RINGS_MAX = 4000

/** Highlighted marks, routers and groups for a hover or focus. */
export function highlightOf(
  run: Run,
  picture: Picture,
  hover: Hover | null,
  d: DerivedRun,
  state: ViewState,
): Highlight {
  const marks = new Set<number>()
  const routers = new Set<number>()
  const groups = new Set<number>()
  const addLink = (l: number): void => {
    if (picture.marks.ofLink[l]! >= 0) marks.add(picture.marks.ofLink[l]!)
    routers.add(run.links.source[l]!).add(run.links.target[l]!)
  }
  if (hover) {
    const here = translation(hover.run, run)
    hover.links.slice(0, 400).forEach((l) => here.link(l) >= 0 && addLink(here.link(l)))
    hover.routers.forEach((r) => here.router(r) >= 0 && routers.add(here.router(r)))
    hover.groups.forEach((g) => groups.add(g))
  }
  const { focus } = d
  if (focus) {
    if (focus.link >= 0) addLink(focus.link)
    if (focus.router >= 0) routers.add(focus.router)
    else if (focus.group >= 0) groups.add(focus.group)
    if (focus.toGroup >= 0) groups.add(focus.toGroup)
  }
  const marked: number[] = []
  markedRouters(run, state.communicator)?.forEach((one, r) => one === 1 && marked.push(r))
  if (marked.length <= RINGS_MAX) marked.forEach((r) => routers.add(r))
  return { marks: [...marks], routers: [...routers], groups: [...groups] }
}
