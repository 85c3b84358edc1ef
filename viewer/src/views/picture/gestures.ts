/** Wheel, pointer and keyboard control of a picture. */
import { useRef } from 'preact/hooks'
import type { Picture } from '../../layout/picture'
import { useFocusOn, useSession, type Hover } from '../session/session'
import type { Size } from '../../layout/picture'

/**
 * Wheel zooms, drag pans, click focuses, double click resets; also keys + - arrows 0. `steps` handles keys
 * first.
 */
export function useGestures(
  size: Size,
  picture: Picture,
  hit: (event: MouseEvent) => (Hover & { focus: string }) | null,
  steps: (event: KeyboardEvent) => boolean,
) {
  const session = useSession()
  const focusOn = useFocusOn()
  const drag = useRef<{ x: number; y: number; moved: boolean } | null>(null)
  const scale = Math.min(size.width / picture.width, size.height / picture.height) || 1
  const zoomBy = (factor: number, px: number, py: number): void => {
    const [k, x, y] = session.state.get().zoom
    const next = Math.max(1, Math.min(64, k * factor))
    if (next === 1) return session.state.patch({ zoom: [1, 0, 0] })
    session.state.patch({ zoom: [next, px - ((px - x) * next) / k, py - ((py - y) * next) / k] })
  }
  const panBy = (dx: number, dy: number): void => {
    const [k, x, y] = session.state.get().zoom
    session.state.patch({ zoom: [k, x + dx, y + dy] })
  }
  /** Pointer position in scene units, before zoom. */
  const local = (event: MouseEvent): [number, number] => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
    return [
      (event.clientX - box.left - (size.width - picture.width * scale) / 2) / scale,
      (event.clientY - box.top - (size.height - picture.height * scale) / 2) / scale,
    ]
  }
  return {
    onWheel: (event: WheelEvent) => {
      event.preventDefault()
      zoomBy(Math.exp(-event.deltaY * 0.0015), ...local(event))
    },
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return
      drag.current = { x: event.clientX, y: event.clientY, moved: false }
      ;(event.currentTarget as HTMLElement).setPointerCapture(event.pointerId)
    },
    onPointerMove: (event: PointerEvent) => {
      const d = drag.current
      if (!d) return session.hover.set(hit(event))
      if (!d.moved && Math.hypot(event.clientX - d.x, event.clientY - d.y) < 4) return
      panBy((event.clientX - d.x) / scale, (event.clientY - d.y) / scale)
      drag.current = { x: event.clientX, y: event.clientY, moved: true }
    },
    onPointerUp: (event: PointerEvent) => {
      const moved = drag.current?.moved ?? true
      drag.current = null
      if (moved) return
      focusOn(hit(event)?.focus ?? '')
    },
    onPointerLeave: () => session.hover.set(null),
    onDblClick: () => session.state.patch({ zoom: [1, 0, 0] }),
    onKeyDown: (event: KeyboardEvent) => {
      if (steps(event)) return
      const middle: [number, number] = [picture.width / 2, picture.height / 2]
      const step = 60
      const actions: Record<string, () => void> = {
        '+': () => zoomBy(1.3, ...middle),
        '=': () => zoomBy(1.3, ...middle),
        '-': () => zoomBy(1 / 1.3, ...middle),
        '0': () => session.state.patch({ zoom: [1, 0, 0] }),
        ArrowLeft: () => panBy(step, 0),
        ArrowRight: () => panBy(-step, 0),
        ArrowUp: () => panBy(0, step),
        ArrowDown: () => panBy(0, -step),
      }
      const action = actions[event.key]
      if (!action || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      event.stopPropagation()
      action()
    },
  }
}
