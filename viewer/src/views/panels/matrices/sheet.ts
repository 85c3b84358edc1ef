/** The matrices in an export. */
import type { DerivedRun } from '../../../data/model'
import type { ViewState } from '../../../data/state'
import { drawMatrices } from '../../../draw/cells'
import type { LookTable } from '../../../draw/look'
import { BESIDE, type Beside } from '../../../draw/sheet'
import { placeMatrices } from '../../../layout/matrices'
import { geometryOf } from '../../session/session'
import { cellSource } from './cells'

/** Of small machines only; 241 groups would be ten metres long. */
export function matricesBeside(d: DerivedRun, { aggregate }: ViewState, looks: LookTable): Beside | null {
  const panel = placeMatrices(d.run, geometryOf(d.run).interior, BESIDE.width, BESIDE.height)
  if (panel.matrices.length === 0 || panel.height > 2 * BESIDE.height) return null
  return {
    height: panel.height,
    draw: (pen) => drawMatrices(pen, panel, cellSource(d, aggregate), looks),
  }
}
