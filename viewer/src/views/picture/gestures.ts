/** Wheel, pointer and keyboard control of a picture. */
import { useRef } from 'preact/hooks'
import type { Picture } from '../../layout/picture'
import { useFocusOn, useSession, type Hover, type Session } from '../session/session'
import type { Size } from '../../layout/picture'

/** Zoom and pan in scene units. */
function planeOf(session: Session, size: Size, picture: Picture) {
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
  return { scale, zoomBy, panBy, local }
}

/**
 * Drag pans, click focuses, double click resets; also keys + - arrows 0. Two fingers zoom, and so does the wheel
 * once the picture has the focus; before, it scrolls the page. `steps` handles keys first.
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
  /** Places of the pressed pointers, in scene units: two fingers. */
  const fingers = useRef(new Map<number, readonly [number, number]>())
  const { scale, zoomBy, panBy, local } = planeOf(session, size, picture)
  /** Zooms by the change of the distance of two fingers, and moves with their middle. */
  const pinch = (event: PointerEvent): void => {
    const before = fingers.current.get(event.pointerId)
    const other = [...fingers.current].find(([id]) => id !== event.pointerId)?.[1]
    const now = local(event)
    if (!before || !other) return
    fingers.current.set(event.pointerId, now)
    const apart = (at: readonly [number, number]): number => Math.hypot(at[0] - other[0], at[1] - other[1])
    panBy((now[0] - before[0]) / 2, (now[1] - before[1]) / 2)
    zoomBy(apart(now) / Math.max(apart(before), 1e-9), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2)
  }
  return {
    onWheel: (event: WheelEvent) => {
      // Two fingers on a touchpad are sent as a wheel with Ctrl.
      const hasFocus = event.currentTarget === document.activeElement
      if (!hasFocus && !event.ctrlKey) return
      event.preventDefault()
      zoomBy(Math.exp(-event.deltaY * 0.0015), ...local(event))
    },
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return
      fingers.current.set(event.pointerId, local(event))
      drag.current = { x: event.clientX, y: event.clientY, moved: fingers.current.size > 1 }
      ;(event.currentTarget as HTMLElement).setPointerCapture(event.pointerId)
    },
    onPointerMove: (event: PointerEvent) => {
      const d = drag.current
      if (!d) return session.hover.set(hit(event))
      if (fingers.current.size > 1) return pinch(event)
      if (!d.moved && Math.hypot(event.clientX - d.x, event.clientY - d.y) < 4) return
      panBy((event.clientX - d.x) / scale, (event.clientY - d.y) / scale)
      drag.current = { x: event.clientX, y: event.clientY, moved: true }
    },
    onPointerCancel: (event: PointerEvent) => {
      fingers.current.delete(event.pointerId)
      drag.current = null
    },
    onPointerUp: (event: PointerEvent) => {
      const moved = drag.current?.moved ?? true
      fingers.current.delete(event.pointerId)
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
