/** Close-up of a group: routers with nodes, links by class, matrices. */
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { count } from '../../../base/format'
import { describeRouter, jobOf, routerJobs, show, jobText } from '../../../data/describe'
import type { DerivedRun } from '../../../data/model'
import { axesInside, IDLE, SEVERAL, type Run } from '../../../data/run'
import { Choice } from '../../controls/choice'
import { MatricesView } from '../matrices/matrices'
import { useSession, useStore } from '../../session/session'
import { groupMembers } from '../../../layout/radial'
import { numbers, Table } from '../../tables/table'
import './group.css'

export function GroupView({ derived: d }: { derived: DerivedRun }) {
  const session = useSession()
  const last = useRef(0)
  const { run } = d
  if (d.focus && d.focus.group >= 0) last.current = d.focus.group
  const group = Math.min(last.current, run.routers.groups - 1)
  return (
    <div class="group-view">
      <div class="group-head">
        <Choice
          label="Group"
          value={String(group)}
          options={Array.from({ length: run.routers.groups }, (_, g) => ({
            value: String(g),
            label: String(g),
          }))}
          onChange={(value) => session.state.patch({ focus: `group:${value}` })}
        />
        <ClassTable derived={d} group={group} />
      </div>
      <RouterGrid derived={d} group={group} />
      <MatricesView derived={d} group={group} />
    </div>
  )
}

interface ClassRow {
  readonly name: string
  readonly where: string
  readonly links: number
  readonly selected: number
  readonly mean: number
  readonly max: number
}

function classRows({ run, values, selection }: DerivedRun, group: number): ClassRow[] {
  const of = run.routers.group
  const found = new Map<
    string,
    { name: string; where: string; links: number; selected: number; sum: number; max: number }
  >()
  for (let l = 0; l < run.links.count; l++) {
    const [from, to] = [of[run.links.source[l]!] === group, of[run.links.target[l]!] === group]
    if (!from && !to) continue
    const name = run.links.classes[run.links.class[l]!]!
    const where = from && to ? 'inside' : from ? 'outgoing' : 'incoming'
    const key = `${name} ${where}`
    const row = found.get(key) ?? { name, where, links: 0, selected: 0, sum: 0, max: 0 }
    found.set(key, row)
    row.links++
    if (selection.selected[l] === 0) continue
    row.selected++
    row.sum += values[l]!
    if (Math.abs(values[l]!) > Math.abs(row.max)) row.max = values[l]!
  }
  const order = (row: { name: string; where: string }): number =>
    run.links.classes.indexOf(row.name) * 3 + ['inside', 'outgoing', 'incoming'].indexOf(row.where)
  return [...found.values()]
    .sort((a, b) => order(a) - order(b))
    .map((row) => ({ ...row, mean: row.selected > 0 ? row.sum / row.selected : 0 }))
}

function ClassTable({ derived: d, group }: { derived: DerivedRun; group: number }) {
  const rows = useMemo(() => classRows(d, group), [d.selection, group])
  return (
    <Table heads={['Class', '', ...numbers('Links', 'Mean', 'Max')]}>
      {rows.map((row) => (
        <tr key={`${row.name} ${row.where}`}>
          <td>{row.name}</td>
          <td>{row.where}</td>
          <td class="number">
            {row.selected === row.links ? count(row.links) : `${count(row.selected)} of ${count(row.links)}`}
          </td>
          <td class="number">{show(d, row.mean)}</td>
          <td class="number">{show(d, row.max)}</td>
        </tr>
      ))}
    </Table>
  )
}

/** Routers in rows and columns, each with its nodes. */
function RouterGrid({ derived: d, group }: { derived: DerivedRun; group: number }) {
  const session = useSession()
  const state = useStore(session.state)
  const { run } = d
  const cells = useMemo(() => routerCells(run, group), [run, group])
  const jobs = useMemo(() => routerJobs(run, () => false), [run])
  const chosen = useRef<HTMLButtonElement>(null)
  useEffect(() => chosen.current?.scrollIntoView({ block: 'nearest' }), [d.focus])
  const color = (job: number): string =>
    job === IDLE || state.jobs[job] === 'hidden'
      ? 'var(--idle)'
      : job === SEVERAL
        ? 'var(--ink)'
        : jobOf(run, job).color
  return (
    <div
      class="router-grid"
      style={{ gridTemplateColumns: `repeat(${cells.columns}, minmax(0, 1fr))` }}
      role="group"
      aria-label={`Routers of group ${group}`}
    >
      {cells.routers.map(({ router, nodes, column, row }) => {
        const name = run.routers.names.at(router)
        const focused = d.focus?.router === router
        return (
          <button
            key={router}
            ref={focused ? chosen : null}
            class={`router-cell ${focused ? 'focused' : ''}`}
            style={{ gridColumn: column + 1, gridRow: row + 1 }}
            aria-label={`${name}, ${jobText(run, jobs[router]!)}`}
            onClick={() => session.state.patch({ focus: focused ? `group:${group}` : `router:${name}` })}
            onPointerEnter={(event) =>
              session.hover.set({
                run,
                links: [],
                routers: [router],
                groups: [],
                tip: describeRouter(d, router, jobs[router]!),
                x: event.clientX,
                y: event.clientY,
              })
            }
            onPointerLeave={() => session.hover.set(null)}
          >
            {nodes.map((node) => (
              <i
                key={node}
                style={{ background: color(run.nodes.job[node]!) }}
                class={d.focus?.node === node ? 'focused' : ''}
              />
            ))}
          </button>
        )
      })}
    </div>
  )
}

interface RouterCells {
  readonly columns: number
  readonly routers: readonly { router: number; nodes: number[]; column: number; row: number }[]
}

function routerCells(run: Run, group: number): RouterCells {
  const members = groupMembers(run)[group] ?? []
  const nodes = new Map<number, number[]>(members.map((r) => [r, []]))
  run.nodes.router.forEach((r, n) => nodes.get(r)?.push(n))
  const inside = axesInside(run.routers.axes)
  const grid = run.shape === 'grouped' && inside.length === 2
  const columns = grid ? inside[1]!.size : Math.ceil(Math.sqrt(members.length * 2))
  return {
    columns,
    routers: members.map((router, i) => ({
      router,
      nodes: nodes.get(router)!,
      column: grid ? inside[1]!.values[router]! : i % columns,
      row: grid ? inside[0]!.values[router]! : Math.floor(i / columns),
    })),
  }
}
