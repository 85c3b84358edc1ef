/** The picture of a machine: the one that shows the structure which its axes and links have. */
import type { Run } from '../data/run'
import { halvesPicture, isHalves } from './halves'
import { hopsPicture } from './hops'
import { isLevels, levelsPicture } from './levels'
import { isLines, linesPicture } from './lines'
import type { Picture } from './picture'
import { radialPicture } from './radial'
import { torusPicture } from './torus'
import { isTrees, treesPicture } from './trees'

/** `projection` is for tori. Edits may have taken links away; what is left still has the structure. */
export function machinePicture(run: Run, projection = ''): Picture {
  // Fat trees on several planes have no shape of their own, but their axes.
  if (isLevels(run)) return levelsPicture(run)
  switch (run.shape) {
    case 'torus':
      return torusPicture(run, projection)
    case 'fat-tree':
      return levelsPicture(run)
    case 'grouped':
      return isTrees(run) ? treesPicture(run) : radialPicture(run)
    case 'graph':
      return isHalves(run) ? halvesPicture(run) : isLines(run) ? linesPicture(run) : hopsPicture(run)
  }
}
