/** Close-up of the focused router: links by VC, injection FIFOs of its nodes. */
import { useMemo } from 'preact/hooks'
import { count, quantity } from '../../../base/format'
import { CHANNELS, channelColumns } from '../../../data/channels'
import { show } from '../../../data/describe'
import type { DerivedRun } from '../../../data/model'
import { linkName } from '../../../data/run'
import { channelValues, FIFO_COLUMNS, FIFOS, fifosOf, linksFrom } from '../../../data/router'
import { useFocusOn, useSession, useStore } from '../../session/session'
import { numbers, Table } from '../../tables/table'

export function RouterView({ derived: d }: { derived: DerivedRun }) {
  const router = d.focus?.router ?? -1
  if (router < 0) return null
  return (
    <section class="card router-view" aria-label="Router" data-test="router-view">
      <header>
        <h2>{d.run.routers.names.at(router)}</h2>
        <span class="hint">outgoing links</span>
      </header>
      <LinkTable derived={d} router={router} />
      {!d.signed && d.run.info.tables[FIFOS] && <FifoTable derived={d} router={router} />}
    </section>
  )
}

function LinkTable({ derived: d, router }: { derived: DerivedRun; router: number }) {
  const session = useSession()
  useStore(session.loaded)
  const focusOn = useFocusOn()
  const { run } = d
  const links = useMemo(() => linksFrom(run, router), [run, router])
  const has = !d.signed && channelColumns(run.info).includes(d.measure.id)
  const block = has ? session.block(run.id, CHANNELS, channelColumns(run.info)) : undefined
  const channels =
    block && typeof block !== 'string' ? channelValues(run, block, d.measure.id, links) : links.map(() => [])
  const vcs = channels[0]?.map((_, vc) => `vc ${vc}`) ?? []
  return (
    <Table heads={['Link', ...numbers(d.measure.label, ...vcs)]}>
      {links.map((l, i) => {
        const name = linkName(run, l)
        const focusIt = (): void => focusOn(`link:${name}`)
        return (
          <tr
            key={l}
            tabIndex={0}
            onClick={focusIt}
            onKeyDown={(event) => event.key === 'Enter' && focusIt()}
          >
            <td>{name}</td>
            <td class="number">{show(d, d.values[l]!)}</td>
            {channels[i]!.map((value, vc) => (
              <td class="number" key={vc}>
                {quantity(value, d.measure.unit)}
              </td>
            ))}
          </tr>
        )
      })}
    </Table>
  )
}

function FifoTable({ derived: { run }, router }: { derived: DerivedRun; router: number }) {
  const session = useSession()
  useStore(session.loaded)
  const block = session.block(run.id, FIFOS, FIFO_COLUMNS)
  if (block === undefined) return <p class="hint">Loading …</p>
  if (typeof block === 'string') return <p class="note">{block}</p>
  return (
    <Table
      test="fifos"
      caption="Torus FIFOs of its nodes; mean waits per packet"
      heads={['Node', ...numbers('FIFO', 'Packets', 'Busy', 'Memory FIFO', 'HOL blocked', 'Head stall')]}
    >
      {fifosOf(run, block, router).map((one) => (
        <tr key={`${one.node} ${one.fifo}`}>
          <td>{run.nodes.names.at(one.node)}</td>
          <td class="number">{one.fifo}</td>
          <td class="number">{count(one.packets)}</td>
          {[one.busy, one.memory, one.behind, one.head].map((time, i) => (
            <td class="number" key={i}>
              {quantity(time, 'ps')}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  )
}
