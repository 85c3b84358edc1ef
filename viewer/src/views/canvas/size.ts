/** The size of an element, kept up to date. */
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import type { Size } from '../../layout/picture'

export function useSize(element: RefObject<HTMLElement | null>): Size {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 })
  useLayoutEffect(() => {
    const { current } = element
    if (current) setSize({ width: current.clientWidth, height: current.clientHeight })
  }, [element])
  useEffect(() => {
    const { current } = element
    if (!current) return
    const observer = new ResizeObserver(() => {
      setSize((old) =>
        old.width === current.clientWidth && old.height === current.clientHeight
          ? old
          : { width: current.clientWidth, height: current.clientHeight },
      )
    })
    observer.observe(current)
    return () => observer.disconnect()
  }, [element])
  return size
}

/** Resizes the canvas to the screen resolution and clears it; the context draws in CSS pixels. */
export function prepareCanvas(canvas: HTMLCanvasElement, { width, height }: Size): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio || 1
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))]
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w
    canvas.height = h
  }
  const context = canvas.getContext('2d')!
  context.setTransform(ratio, 0, 0, ratio, 0, 0)
  context.clearRect(0, 0, width, height)
  return context
}
