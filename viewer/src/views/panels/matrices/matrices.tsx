/** The matrices on a scrolling canvas; only the visible part is painted. */
import { useContext, useMemo, useRef, useState } from 'preact/hooks'
import type { DerivedRun } from '../../../data/model'
import { cellAt, cellsByValue, type CellHit } from '../../../draw/cells'
import { looksFor } from '../../../draw/look'
import { placeMatrices } from '../../../layout/matrices'
import { cellRows, cellSource, describeCell, useCellSteps } from './cells'
import { geometryOf, ThemeContext, useFocusOn, useSession, useStore } from '../../session/session'
import { useMarkedCells, useMatrixCanvas } from './canvas'
import { MiniRamp } from '../../canvas/miniramp'
import { useSize } from '../../canvas/size'
import { TableButton } from '../../tables/tables'
import './matrices.css'

interface MatricesProps {
  readonly derived: DerivedRun
  /** The group inside which links are shown; -1 for none. */
  readonly group: number
  /** Whether the matrix of groups is shown, with its legend. */
  readonly between?: boolean
}

/** What a cell of the matrix of groups shows. */
const MERGED = { max: 'Largest link', mean: 'Mean of the links', sum: 'Sum of the links' } as const

export function MatricesView({ derived: d, group, between = false }: MatricesProps) {
  const session = useSession()
  const state = useStore(session.state)
  const theme = useContext(ThemeContext)
  const frame = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const overlay = useRef<HTMLCanvasElement>(null)
  const size = useSize(frame)
  const [top, setTop] = useState(0)
  const focusOn = useFocusOn()
  const geometry = geometryOf(d.run)
  const looks = looksFor(theme, state.ramp, d.signed)
  const panel = useMemo(
    () => placeMatrices(d.run, geometry.interior, size.width - 4, size.height, group, between),
    [d.run, size, group, between],
  )
  const source = cellSource(d, state)

  const scene = { panel, source, looks, size, top }
  useMatrixCanvas(canvas, d, scene)
  useMarkedCells(overlay, d, scene)

  const describe = (found: CellHit) => describeCell(d, geometry.interior, source, found)
  const hit = (event: MouseEvent) => {
    const box = frame.current!.getBoundingClientRect()
    const found = cellAt(panel, event.clientX - box.left, event.clientY - box.top + top)
    if (!found) return null
    const { focus, ...hover } = describe(found)
    return { hover: { ...hover, x: event.clientX, y: event.clientY }, focus }
  }
  const steps = useCellSteps(frame, () => cellsByValue(panel, source), describe, [panel, d.selection])

  const { leftOut } = geometry.interior
  return (
    <div class="matrices">
      {between && d.run.routers.groups > 1 && (
        <p class="hint matrix-legend" data-test="matrix-legend">
          {MERGED[state.aggregate]} <MiniRamp scale={source.scales[0]!} unit={d.measure.unit} />
        </p>
      )}
      <div
        class="canvas-frame scrolling"
        ref={frame}
        tabIndex={0}
        role="region"
        aria-label="Matrices of links; the keys . and , select the next and previous cell"
        onKeyDown={steps}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        onPointerMove={(event) => session.hover.set(hit(event)?.hover ?? null)}
        onPointerLeave={() => session.hover.set(null)}
        onClick={(event) => focusOn(hit(event)?.focus ?? '')}
      >
        <div class="pane" style={{ height: 0 }}>
          <canvas ref={canvas} />
          <canvas ref={overlay} class="overlay" />
        </div>
        <div style={{ height: `${Math.max(panel.height, 0)}px` }} />
      </div>
      <div class="reading foot">
        <p>{leftOut.length > 0 && `Not shown (too large): ${leftOut.join(', ')}.`}</p>
        <TableButton
          of="matrices"
          rows={() => cellRows(d, `Matrix cells of ${d.run.label}`, cellsByValue(panel, source), describe)}
        />
      </div>
    </div>
  )
}
