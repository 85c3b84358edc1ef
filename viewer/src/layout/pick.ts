/** Hit testing. Linear search: 20,000 curves take about 2 ms and need no index. */

const SAMPLES = 24

/**
 * The curve nearest to a point, -1 if none is within `tolerance`.
 *
 * Args:
 * curves: Eight numbers per curve.
 * among: 1 for curves that can be hit.
 */
export function nearestCurve(
  curves: Float32Array,
  among: Uint8Array,
  x: number,
  y: number,
  tolerance: number,
): number {
  let best = -1
  let bestDistance = tolerance * tolerance
  for (let m = 0; m < among.length; m++) {
    if (among[m] === 0) continue
    const i = 8 * m
    // A Bézier curve lies within the hull of its control points.
    const [x0, y0, x1, y1, x2, y2, x3, y3] = [
      curves[i]!,
      curves[i + 1]!,
      curves[i + 2]!,
      curves[i + 3]!,
      curves[i + 4]!,
      curves[i + 5]!,
      curves[i + 6]!,
      curves[i + 7]!,
    ]
    if (Math.min(x0, x1, x2, x3) > x + tolerance || Math.max(x0, x1, x2, x3) < x - tolerance) continue
    if (Math.min(y0, y1, y2, y3) > y + tolerance || Math.max(y0, y1, y2, y3) < y - tolerance) continue
    let [px, py] = [x0, y0]
    for (let s = 1; s <= SAMPLES; s++) {
      const t = s / SAMPLES
      const u = 1 - t
      const [a, b, c, d] = [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t]
      const [qx, qy] = [a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3]
      const distance = segmentDistance(x, y, px, py, qx, qy)
      if (distance < bestDistance) {
        bestDistance = distance
        best = m
      }
      ;[px, py] = [qx, qy]
    }
  }
  return best
}

function segmentDistance(x: number, y: number, ax: number, ay: number, bx: number, by: number): number {
  const [dx, dy] = [bx - ax, by - ay]
  const length = dx * dx + dy * dy
  const t = length === 0 ? 0 : Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / length))
  return (x - ax - t * dx) ** 2 + (y - ay - t * dy) ** 2
}

/** The nearest point (two numbers each), -1 if none is within `tolerance`. */
export function nearestPoint(points: Float32Array, x: number, y: number, tolerance: number): number {
  let best = -1
  let bestDistance = tolerance * tolerance
  for (let i = 0; i < points.length; i += 2) {
    const distance = (points[i]! - x) ** 2 + (points[i + 1]! - y) ** 2
    if (distance < bestDistance) {
      bestDistance = distance
      best = i / 2
    }
  }
  return best
}

/** Midpoint of a curve. */
export function middleOf(curves: Float32Array, mark: number): [number, number] {
  const at = (axis: number): number => {
    const [a, b, c, d] = [0, 2, 4, 6].map((i) => curves[8 * mark + i + axis]!)
    return (a! + 3 * b! + 3 * c! + d!) / 8
  }
  return [at(0), at(1)]
}

/** The nearest mark within 10 pixels, null for none. */
export function nearestMark(
  marks: readonly { readonly x: number; readonly y: number }[],
  x: number,
  y: number,
): number | null {
  let [best, nearest]: [number | null, number] = [null, 10]
  marks.forEach((mark, i) => {
    const distance = Math.hypot(mark.x - x, mark.y - y)
    if (distance < nearest) [best, nearest] = [i, distance]
  })
  return best
}
