/** The brush over the histograms. */
import { brushX, type BrushBehavior, type D3BrushEvent } from 'd3-brush'
import { select } from 'd3-selection'
import { useEffect, useRef } from 'preact/hooks'
import type { DerivedRun } from '../../data/model'
import { useSession } from '../session/session'

interface BrushProps {
  readonly derived: DerivedRun
  readonly width: number
  readonly height: number
  readonly from: number
  readonly to: number
}

/** Wraps d3's brush. The settings own the range, so the brush follows other controls. */
export function Brush({ derived: d, width, height, from, to }: BrushProps) {
  const session = useSession()
  const element = useRef<SVGGElement>(null)
  const brush = useRef<BrushBehavior<unknown> | null>(null)
  const axis = useRef(d.axis)
  axis.current = d.axis
  useEffect(() => {
    const behavior = brushX<unknown>().extent([
      [0, 0],
      [width, height],
    ])
    let pending: [number, number] | null | undefined
    const apply = (): void => {
      if (pending === undefined) return
      const range = pending
      pending = undefined
      session.state.patch({
        hottest: 0,
        ...(range === null ? { inverted: false } : {}),
        low: range === null || range[0] <= 0.5 ? null : axis.current.value(range[0] / width),
        high: range === null || range[1] >= width - 0.5 ? null : axis.current.value(range[1] / width),
      })
    }
    behavior.on('start brush end', (event: D3BrushEvent<unknown>) => {
      if (!event.sourceEvent) return
      if (event.type === 'start') return session.dragging.set(true)
      // Pointers report faster than frames: only the last position of a frame counts.
      const idle = pending === undefined
      pending = event.selection as [number, number] | null
      if (event.type === 'end') {
        // Apply both together, otherwise the views would be computed twice.
        apply()
        session.dragging.set(false)
      } else if (idle) requestAnimationFrame(apply)
    })
    brush.current = behavior
    select(element.current!).call(behavior as never)
    return () => void select(element.current!).on('.brush', null)
  }, [width, height])
  useEffect(() => {
    if (!brush.current) return
    const open = from <= 0 && to >= width
    select(element.current!).call(brush.current.move as never, open ? null : [from, Math.max(from, to)])
  }, [from, to, width, height])
  return <g class="brush" ref={element} data-test="brush" />
}
