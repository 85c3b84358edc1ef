/**
 * A run under the current settings: values, statistics, colours and selection. Each is recomputed only when
 * needed.
 */
import { DOUBLINGS_MAX, type Unit } from '../base/format'
import { Memo } from '../base/memo'
import { difference, doublings, sizes, sumByItem, type Difference } from './difference'
import { resolveFocus, type Focus } from './focus'
import { valueAxis, type ValueAxis } from './histogram'
import { valueRange, type ValueRange } from './range'
import { jobNumbers, type Measure, type Run } from './run'
import { intervalAt, type Frames } from './series'
import { colorScale, shadeAll, type ColorScale } from './scale'
import { Brushing } from './brushing'
import { selectLinks, type Filter, type Selection } from './selection'
import type { Pairing, ViewState } from './state'
import { below, classStats, ClassValues, concatSorted, type ClassStats } from './stats'
import { countedJobs, linkValues } from './values'

export interface DerivedRun {
  readonly run: Run
  readonly measure: Measure
  readonly signed: boolean
  /** By job number: whether its traffic counts. */
  readonly counted: Uint8Array
  readonly values: Float64Array
  /** Sorted values per class. */
  readonly sorted: readonly Float64Array[]
  readonly stats: readonly ClassStats[]
  readonly classOn: Uint8Array
  readonly scale: ColorScale
  /** Of all links, selected or not. */
  readonly shades: Uint8Array
  readonly axis: ValueAxis
  /** The selected value range. */
  readonly range: ValueRange
  readonly focus: Focus | null
  readonly selection: Selection
  /** For a difference: both runs' values per link, for tooltips. */
  readonly sides: readonly Side[]
}

export interface Side {
  readonly label: string
  /** By link of the difference. */
  readonly values: Float64Array
  /** Unit of these values; a ratio has none. */
  readonly unit: Unit
  /** Number of cables per link. */
  readonly cables: Uint32Array
}

/** Common range of several runs side by side. */
export interface SharedRange {
  readonly sorted: Float64Array
}

abstract class Model {
  private readonly memo = {
    counted: new Memo<Uint8Array>(),
    byClass: new Memo<ClassValues>(),
    ends: new Memo<Float64Array>(),
    stats: new Memo<ClassStats[]>(),
    classOn: new Memo<Uint8Array>(),
    visible: new Memo<Float64Array>(),
    scale: new Memo<ColorScale>(),
    axis: new Memo<ValueAxis>(),
    shades: new Memo<Uint8Array>(),
    range: new Memo<ValueRange>(),
    focus: new Memo<Focus | null>(),
    selection: new Memo<Selection>(),
  }
  /** The last selection and its inputs. */
  private last: { made: Selection; values: Float64Array; shades: Uint8Array; filter: Filter } | undefined
  /** Incremental selection for the last brushed values. */
  private brushing: { values: Float64Array; moves: Brushing } | undefined

  constructor(
    readonly run: Run,
    private readonly signed: boolean,
  ) {}

  abstract values(state: ViewState): Float64Array

  protected sides(_: ViewState): readonly Side[] {
    return []
  }

  /** The sorted values that colours are spread over. */
  protected colored(range: Float64Array, _: ViewState): Float64Array {
    return range
  }

  measure(state: ViewState): Measure {
    return this.run.measures.find((measure) => measure.id === state.measure) ?? this.run.measures[0]!
  }

  counted(state: ViewState): Uint8Array {
    return this.memo.counted.get([state.jobs], () => countedJobs(jobNumbers(this.run), state.jobs))
  }

  /** Sorted values of all visible classes, for range and quantiles. */
  visible(state: ViewState): Float64Array {
    const [byClass, classOn] = [this.byClass(state), this.classOn(state)]
    return this.memo.visible.get([byClass, classOn], () =>
      concatSorted(byClass.sorted.filter((_, code) => classOn[code] === 1)),
    )
  }

  /** Minimum and maximum only, which need no sorting. */
  private ends(state: ViewState): Float64Array {
    const [byClass, classOn] = [this.byClass(state), this.classOn(state)]
    return this.memo.ends.get([byClass, classOn], () => {
      const on = (_: number, code: number): boolean => classOn[code] === 1
      const [least, most] = [byClass.min.filter(on), byClass.max.filter(on)]
      const ends = [Math.min(...least), Math.max(...most)] as const
      return ends[0] <= ends[1] ? Float64Array.from(ends) : new Float64Array(0)
    })
  }

  private axis(state: ViewState, shared?: SharedRange): ValueAxis {
    const range = shared?.sorted ?? (state.histogram === 'linear' ? this.ends(state) : this.visible(state))
    return this.memo.axis.get([state.histogram, range], () => {
      const positive = range.find((v) => v > 0) ?? 1
      return valueAxis(state.histogram, range[0] ?? 0, range[range.length - 1] ?? 1, positive)
    })
  }

  /** Values that the machine picture does not need are computed on access. */
  derive(state: ViewState, shared?: SharedRange): DerivedRun {
    const { memo, run } = this
    const values = this.values(state)
    const byClass = this.byClass(state)
    const classOn = this.classOn(state)
    const linear = state.scale === 'linear' && !this.signed
    const range = shared?.sorted ?? (linear ? this.ends(state) : this.visible(state))
    const scale = memo.scale.get([state.scale, range, state.frozen, state.change], () =>
      colorScale(state.scale, this.colored(range, state), this.signed, state.frozen),
    )
    const axis = (): ValueAxis => this.axis(state, shared)
    const shades = memo.shades.get([values, scale], () => shadeAll(values, scale))
    const focus = memo.focus.get([state.focus], () => resolveFocus(run, state.focus))
    const chosen = [byClass, state.low, state.high, state.inverted, state.hottest]
    const within = memo.range.get(chosen, () => valueRange(state, byClass, this.signed))
    const selection = memo.selection.get([values, shades, classOn, focus, within], () => {
      const filter = { range: within, classOn, focus: focus?.mask ?? null }
      const made = this.select(values, shades, filter)
      this.last = { made, values, shades, filter }
      return made
    })
    return {
      run,
      measure: this.measure(state),
      signed: this.signed,
      counted: this.counted(state),
      values,
      get sorted() {
        return byClass.sorted
      },
      get stats() {
        return memo.stats.get([byClass], () => byClass.sorted.map(classStats))
      },
      classOn,
      scale,
      shades,
      get axis() {
        return axis()
      },
      range: within,
      focus,
      selection,
      sides: this.sides(state),
    }
  }

  /** Precomputes what dragging needs; otherwise the first move would stutter. */
  prepare(state: ViewState): void {
    this.brushingOf(this.values(state))
  }

  private brushingOf(values: Float64Array): Brushing {
    const { class: classOf, classes } = this.run.links
    if (this.brushing?.values !== values)
      this.brushing = { values, moves: new Brushing(values, classOf, classes.length) }
    return this.brushing.moves
  }

  /** Incremental if only the range changed, else a full pass. */
  private select(values: Float64Array, shades: Uint8Array, filter: Filter): Selection {
    const { last } = this
    if (last?.values === values && last.shades === shades && last.filter.classOn === filter.classOn) {
      const moved = this.brushingOf(values).move(last.made, last.filter, filter, shades)
      if (moved) return moved
    }
    return selectLinks(values, shades, this.run.links.class, filter, last?.made)
  }

  private byClass(state: ViewState): ClassValues {
    const values = this.values(state)
    return this.memo.byClass.get([values], () =>
      ClassValues.of(values, this.run.links.class, this.run.links.classes.length),
    )
  }

  private classOn(state: ViewState): Uint8Array {
    return this.memo.classOn.get([state.classesOff.join()], () =>
      Uint8Array.from(this.run.links.classes, (name) => (state.classesOff.includes(name) ? 0 : 1)),
    )
  }
}

export class RunModel extends Model {
  private readonly valuesMemo = new Memo<Float64Array>()

  constructor(run: Run) {
    super(run, false)
  }

  values(state: ViewState): Float64Array {
    const [measure, counted] = [this.measure(state), this.counted(state)]
    return this.valuesMemo.get([measure, counted], () =>
      linkValues(measure, this.run.links, this.run.linkJobs, counted),
    )
  }
}

export class DifferenceModel extends Model {
  readonly difference: Difference
  private readonly sidesMemo = new Memo<readonly Side[]>()
  private readonly ratioMemo = new Memo<Measure>()
  private readonly valuesMemo = new Memo<Float64Array>()

  constructor(
    readonly base: RunModel,
    readonly other: RunModel,
    pairing: Pairing = 'cable',
  ) {
    const d = difference(base.run, other.run, pairing)
    super(d.run, true)
    this.difference = d
  }

  values(state: ViewState): Float64Array {
    const [before, after] = this.sides(state)
    return this.valuesMemo.get([before, after, state.change], () =>
      after!.values.map((value, l) => {
        const base = before!.values[l]!
        return state.change === 'ratio' ? doublings(base, value) : value - base
      }),
    )
  }

  /**
   * Links whose ratio is from or to zero get the end colours. Otherwise they alone would use the whole ramp.
   */
  protected override colored(range: Float64Array, state: ViewState): Float64Array {
    if (state.change !== 'ratio') return range
    const first = range.findIndex((v) => v > -DOUBLINGS_MAX)
    const known = range.subarray(Math.max(0, first), below(range, DOUBLINGS_MAX))
    return known.some((v) => v !== 0) ? known : range
  }

  /** Ratios must not be summed. */
  override measure(state: ViewState): Measure {
    const measure = super.measure(state)
    if (state.change !== 'ratio') return measure
    return this.ratioMemo.get([measure], () => ({ ...measure, unit: 'doublings', merge: 'mean' }))
  }

  /** Values of cables of only one run, in the order of `difference.cables`. */
  cableValues(state: ViewState): Float64Array {
    const { run, links, removed } = this.difference.cables
    const [a, b] = [this.base.values(state), this.other.values(state)]
    const { merge } = super.measure(state)
    const end = links.offsets[removed]!
    const of = (from: number, to: number): Uint32Array =>
      links.offsets.slice(from, to + 1).map((o) => o - links.offsets[from]!)
    const gone = sumByItem({ offsets: of(0, removed), links: links.links.subarray(0, end) }, a, merge)
    const fresh = sumByItem(
      { offsets: of(removed, run.links.count), links: links.links.subarray(end) },
      b,
      merge,
    )
    return Float64Array.from([...gone, ...fresh])
  }

  protected override sides(state: ViewState): readonly Side[] {
    const d = this.difference
    const [a, b] = [this.base.values(state), this.other.values(state)]
    const { merge, unit } = super.measure(state)
    return this.sidesMemo.get([a, b, merge], () => [
      { label: this.base.run.label, unit, values: sumByItem(d.base, a, merge), cables: sizes(d.base) },
      { label: this.other.run.label, unit, values: sumByItem(d.other, b, merge), cables: sizes(d.other) },
    ])
  }
}

/** A run at one time of a series: links have the values of the chosen interval. */
export class MomentModel extends Model {
  private readonly valuesMemo = new Memo<Float64Array>()
  /** One colour scale for all times. */
  private readonly range: SharedRange

  constructor(
    run: Run,
    private readonly frames: Frames,
    measure: Omit<Measure, 'total' | 'perJob'>,
  ) {
    super(
      { ...run, measures: [{ ...measure, total: new Float64Array(run.links.count), perJob: null }] },
      false,
    )
    this.range = { sorted: frames.sorted }
  }

  values(state: ViewState): Float64Array {
    return this.valuesMemo.get([intervalAt(this.frames.times, state.time).i], () =>
      this.frames.at(state.time),
    )
  }

  override derive(state: ViewState): DerivedRun {
    return super.derive(state, this.range)
  }
}
