/** The picture of a torus or mesh, in the way that is chosen. */
import { parseProjection } from '../data/projection'
import type { Run } from '../data/run'
import { cylindersPicture } from './cylinders'
import type { Picture } from './picture'
import { planesPicture } from './planes'

/** A projection that the machine does not have, as of another one beside it, leaves the usual planes. */
export function torusPicture(run: Run, projection: string): Picture {
  const axes = run.routers.axes.map(({ name }) => name)
  const chosen = parseProjection(projection, axes) ?? parseProjection('', axes)!
  return chosen.kind === 'cylinders' ? cylindersPicture(run, chosen) : planesPicture(run, chosen)
}
