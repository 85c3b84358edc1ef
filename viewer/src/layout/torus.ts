/** The picture of a torus or mesh in the chosen projection. */
import { parseProjection } from '../data/projection'
import type { Run } from '../data/run'
import { cylindersPicture } from './cylinders'
import type { Picture } from './picture'
import { planesPicture } from './planes'

/** A projection that this machine lacks (for instance chosen for another run) falls back to the default. */
export function torusPicture(run: Run, projection: string): Picture {
  const axes = run.routers.axes.map(({ name }) => name)
  const chosen = parseProjection(projection, axes) ?? parseProjection('', axes)!
  return chosen.kind === 'cylinders' ? cylindersPicture(run, chosen) : planesPicture(run, chosen)
}
