/** Tooltip texts for links, bundles, cells, routers and groups. */
import { count, percent, quantity, signed } from '../base/format'
import { UNKNOWN_JOB } from '../base/palette'
import { hasTraffic } from './source'
import type { DerivedRun } from './model'
import { jobAt, linkName, SEVERAL, type Run } from './run'

export interface Tip {
  readonly title: string
  readonly rows: readonly (readonly [string, string])[]
  readonly shares?: readonly {
    readonly name: string
    readonly color: string
    readonly text: string
    readonly share: number
  }[]
  readonly note?: string
}

export function show(d: Pick<DerivedRun, 'signed' | 'measure'>, value: number): string {
  return d.signed ? signed(value, d.measure.unit) : quantity(value, d.measure.unit)
}

/** How the values relate to the measure; empty if they are the measure. */
const changeNoun = ({ signed, measure: { unit } }: Pick<DerivedRun, 'signed' | 'measure'>): string =>
  !signed ? '' : unit === 'doublings' ? 'factor' : 'change'

/** The label for table heads. */
export function valueLabel(d: Pick<DerivedRun, 'signed' | 'measure'>): string {
  const word = changeNoun(d)
  return `${d.measure.label}${word && ', '}${word}`
}

/** What a picture of one job shows. A measure that is not attributed to jobs shows all of them. */
export const jobTitle = ({ run, measure }: DerivedRun, { name }: { readonly name: string }): string =>
  !hasTraffic(run.info)
    ? `Routers of ${name}`
    : measure.perJob !== null || run.jobs.length < 2
      ? `${measure.label} of ${name}`
      : `Routers of ${name}; ${measure.label} of all jobs`

export function place(run: Run, router: number): string {
  const parts = run.routers.axes.map((axis) => `${axis.name} ${axis.values[router]}`)
  return parts.length > 0
    ? `${run.routers.names.at(router)} (${parts.join(', ')})`
    : run.routers.names.at(router)
}

export function describeLinks(d: DerivedRun, links: readonly number[], title: string): Tip {
  const [only] = links
  if (links.length === 1 && only !== undefined) return describeLink(d, only)
  const { run, values, selection, measure } = d
  const totals = new LinkTotals()
  for (const l of links) if (selection.selected[l] === 1) totals.add(values[l]!)
  const { sum, max, count: selected } = totals
  const classes = [...new Set(links.map((l) => run.links.classes[run.links.class[l]!]!))]
  const rows: [string, string][] = [
    ['Class', classes.join(', ')],
    [
      'Links',
      selected === links.length
        ? count(links.length)
        : `${count(selected)} of ${count(links.length)} selected`,
    ],
  ]
  if (selected > 0)
    rows.push(
      [`${measure.label}, max${d.signed ? ` ${changeNoun(d)}` : ''}`, show(d, max)],
      ['mean', show(d, sum / selected)],
      ...(measure.merge === 'sum' ? [['sum', show(d, sum)] as [string, string]] : []),
      ...sideRows(d, (values) => sumOf(values, links, selection.selected)).flatMap(
        ([label, value]): [string, string][] => (measure.merge === 'sum' ? [[`sum in ${label}`, value]] : []),
      ),
    )
  if (links.length <= 4 && sameEnds(run, links))
    rows.push(['Each link', links.map((l) => show(d, values[l]!)).join(', ')])
  return {
    title,
    rows,
    shares: jobShares(
      d,
      links.filter((l) => selection.selected[l] === 1),
    ),
    note: selected === 0 ? 'filtered out' : sum === 0 && max === 0 ? 'no traffic' : '',
  }
}

/** Sum, count and largest absolute value of several links. */
class LinkTotals {
  sum = 0
  max = 0
  count = 0

  add(value: number): void {
    this.sum += value
    this.count++
    if (Math.abs(value) > Math.abs(this.max)) this.max = value
  }

  text(d: DerivedRun): string {
    if (d.measure.merge === 'sum' || this.count === 0) return show(d, this.sum)
    return show(d, d.measure.merge === 'max' ? this.max : this.sum / this.count)
  }
}

/** Aggregation shown for each merge rule. */
const MERGE_LABELS: Readonly<Record<DerivedRun['measure']['merge'], string>> = {
  sum: 'sum',
  max: 'max',
  mean: 'mean',
  last: 'mean',
  key: 'mean',
  attribute: 'mean',
}

/** Values of both runs, for a difference. */
function sideRows(d: DerivedRun, value: (values: Float64Array) => number): [string, string][] {
  return d.sides.map(({ label, unit, values }) => [label, quantity(value(values), unit)])
}

function sumOf(values: Float64Array, links: readonly number[], selected: Uint8Array): number {
  return links.reduce((sum, l) => (selected[l] === 1 ? sum + values[l]! : sum), 0)
}

function sameEnds({ links: { source, target } }: Run, links: readonly number[]): boolean {
  return links.every((l) => source[l] === source[links[0]!] && target[l] === target[links[0]!])
}

function describeLink(d: DerivedRun, link: number): Tip {
  const { run, values, selection } = d
  const { source, target, class: code, classes, parallel, capacity } = run.links
  const value = values[link]!
  const rows: [string, string][] = [
    ['From', place(run, source[link]!)],
    ['To', place(run, target[link]!)],
    ['Class', `${classes[code[link]!]}, parallel ${parallel[link]}`],
    [valueLabel(d), show(d, value)],
    ...sideRows(d, (values) => values[link]!).map(([label, text], i): [string, string] => {
      const cables = d.sides[i]!.cables[link]!
      return [
        label,
        cables === 1 && d.sides.every((side) => side.cables[link] === 1)
          ? text
          : `${text} on ${count(cables)} cables`,
      ]
    }),
  ]
  if (!d.signed && capacity[link]! > 0) rows.push(['Capacity', quantity(capacity[link]!, 'bytes-per-s')])
  return {
    title: linkName(run, link),
    rows,
    shares: jobShares(d, [link]),
    note: selection.selected[link] === 0 ? 'filtered out' : value === 0 ? 'no traffic' : '',
  }
}

function jobShares(d: DerivedRun, links: readonly number[]): NonNullable<Tip['shares']> {
  const { run, measure, counted } = d
  if (measure.perJob === null) return []
  const totals = new Map<number, number>()
  for (const l of links)
    for (let i = run.linkJobs.offsets[l]!; i < run.linkJobs.offsets[l + 1]!; i++) {
      const job = run.linkJobs.job[i]!
      if (counted[job] === 1) totals.set(job, (totals.get(job) ?? 0) + measure.perJob[i]!)
    }
  const all = [...totals.values()].reduce((sum, v) => sum + v, 0)
  if (!(all > 0)) return []
  return [...totals]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 8)
    .map(([job, value]) => {
      const { name, color } = jobOf(run, job)
      return {
        name,
        color,
        text: `${quantity(value, measure.unit)} (${percent(value / all)})`,
        share: value / all,
      }
    })
}

/** A cable that only one of the compared runs has. */
export function describeCable(run: Run, link: number, removed: boolean, carried: string): Tip {
  const { source, target, class: code, classes } = run.links
  return {
    title: linkName(run, link),
    rows: [
      ['From', place(run, source[link]!)],
      ['To', place(run, target[link]!)],
      ['Class', classes[code[link]!]!],
      [removed ? 'Traffic in the base' : 'Traffic', carried],
    ],
    note: removed ? 'removed' : 'added',
  }
}

export function jobOf(run: Run, job: number): { name: string; color: string } {
  return jobAt(run, job) ?? { name: `job ${job}`, color: UNKNOWN_JOB }
}

export function describeRouter(d: DerivedRun, router: number, routerJob: number): Tip {
  const { run, values, selection } = d
  const [out, into] = [new LinkTotals(), new LinkTotals()]
  let [selected, all] = [0, 0]
  const own: number[] = []
  for (let l = 0; l < run.links.count; l++) {
    const [leaves, enters] = [run.links.source[l] === router, run.links.target[l] === router]
    if (!leaves && !enters) continue
    all++
    if (selection.selected[l] === 0) continue
    selected++
    own.push(l)
    if (leaves) out.add(values[l]!)
    else into.add(values[l]!)
  }
  const job = jobText(run, routerJob)
  return {
    title: place(run, router),
    rows: [
      ['Job', run.routers.up[router] === 0 ? 'failed' : job],
      ['Links', selected === all ? count(all) : `${count(selected)} of ${count(all)} selected`],
      [`Outgoing, ${MERGE_LABELS[d.measure.merge]} (max)`, `${out.text(d)} (${show(d, out.max)})`],
      [`Incoming, ${MERGE_LABELS[d.measure.merge]} (max)`, `${into.text(d)} (${show(d, into.max)})`],
    ],
    shares: jobShares(d, own),
  }
}

/** Routers drawn at the same place: how many run which job. */
export function describeStack(d: DerivedRun, stack: readonly number[], routerJobs: Int32Array): Tip {
  const { run } = d
  const counts = new Map<string, number>()
  for (const r of stack) {
    const runs = run.routers.up[r] === 0 ? 'failed' : jobText(run, routerJobs[r]!)
    counts.set(runs, (counts.get(runs) ?? 0) + 1)
  }
  const same = run.routers.axes.filter((axis) =>
    stack.every((r) => axis.values[r] === axis.values[stack[0]!]),
  )
  return {
    title: `${count(stack.length)} routers at ${same.map((axis) => `${axis.name} ${axis.values[stack[0]!]}`).join(', ')}`,
    rows: [...counts].map(([name, n]) => [name, count(n)] as const),
  }
}

export const jobText = (run: Run, job: number): string =>
  job === SEVERAL ? 'several jobs' : job < 0 ? 'idle' : jobOf(run, job).name

export function describeGroup(d: DerivedRun, group: number): Tip {
  const { run, values, selection } = d
  const of = run.routers.group
  const parts = { inside: new LinkTotals(), out: new LinkTotals(), into: new LinkTotals() }
  const own: number[] = []
  for (let l = 0; l < run.links.count; l++) {
    if (selection.selected[l] === 0) continue
    const [from, to] = [of[run.links.source[l]!] === group, of[run.links.target[l]!] === group]
    if (!from && !to) continue
    own.push(l)
    parts[from && to ? 'inside' : from ? 'out' : 'into'].add(values[l]!)
  }
  return {
    title: `Group ${group}`,
    rows: [
      ['Routers', count(of.reduce((n, g) => n + (g === group ? 1 : 0), 0))],
      ['Selected links', count(own.length)],
      [`Inside, ${MERGE_LABELS[d.measure.merge]}`, parts.inside.text(d)],
      [`Outgoing, ${MERGE_LABELS[d.measure.merge]}`, parts.out.text(d)],
      [`Incoming, ${MERGE_LABELS[d.measure.merge]}`, parts.into.text(d)],
    ],
    shares: jobShares(d, own),
  }
}

/** Job of each router: the only job on its nodes, SEVERAL, or IDLE. Nodes of hidden jobs count as idle. */
export function routerJobs(run: Run, hidden: (job: number) => boolean): Int32Array {
  const jobs = new Int32Array(run.routers.count).fill(-1)
  for (let n = 0; n < run.nodes.count; n++) {
    const job = run.nodes.job[n]!
    if (job === -1 || (job >= 0 && hidden(job))) continue
    const r = run.nodes.router[n]!
    jobs[r] = jobs[r] === -1 || jobs[r] === job ? job : SEVERAL
  }
  return jobs
}

export function describeNode(run: Run, node: number): Tip {
  const { names, router, job, ejectedBytes, injectedBytes, storage } = run.nodes
  const of = jobAt(run, job[node]!)
  return {
    title: names.at(node),
    rows: [
      ['Router', place(run, router[node]!)],
      ...(storage?.[node] ? [['Kind', 'storage node'] as const] : []),
      ['Job', of?.name ?? (job[node] === SEVERAL ? 'several jobs' : 'none')],
      ['Bytes received', quantity(ejectedBytes[node]!, 'bytes')],
      ['Bytes sent', quantity(injectedBytes[node]!, 'bytes')],
    ],
  }
}
