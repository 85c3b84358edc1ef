/** Selects the picture that shows the structure of a machine. */
import type { Run } from '../data/run'
import { slimFlyPicture, isSlimFly } from './slimfly'
import { hopsPicture } from './hops'
import { isLevels, levelsPicture } from './levels'
import { isLines, linesPicture } from './lines'
import { hasNetworks, networksPicture } from './networks'
import type { Picture } from './picture'
import { radialPicture } from './radial'
import { torusPicture } from './torus'
import { isTrees, treesPicture } from './trees'

/** `projection` applies to tori. Edits may have removed links; the rest keeps the structure. */
export function machinePicture(run: Run, projection = ''): Picture {
  // Fat trees with several planes have axes but no shape of their own.
  if (isLevels(run)) return levelsPicture(run)
  if (hasNetworks(run)) return networksPicture(run, machinePicture)
  switch (run.shape) {
    case 'torus':
      return torusPicture(run, projection)
    case 'fat-tree':
      return levelsPicture(run)
    case 'grouped':
      return isTrees(run) ? treesPicture(run) : radialPicture(run)
    case 'graph':
      return isSlimFly(run) ? slimFlyPicture(run) : isLines(run) ? linesPicture(run) : hopsPicture(run)
  }
}
