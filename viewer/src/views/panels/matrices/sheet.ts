/** The matrices in an export. */
import type { SheetPart } from '../../../draw/sheet'
import type { DerivedRun } from '../../../data/model'
import type { ViewState } from '../../../data/state'
import { drawMatrices } from '../../../draw/cells'
import type { LookTable } from '../../../draw/look'
import { placeMatrices } from '../../../layout/matrices'
import { geometryOf } from '../../session/session'
import { cellSource } from './cells'

const SIZE = { width: 520, height: 820 }

/** Of small machines only; 241 groups would be ten metres long. */
export function matricesPart(d: DerivedRun, state: ViewState, looks: LookTable): SheetPart | null {
  const panel = placeMatrices(d.run, geometryOf(d.run).interior, SIZE.width, SIZE.height)
  if (panel.matrices.length === 0 || panel.height > 2 * SIZE.height) return null
  return {
    width: SIZE.width,
    height: panel.height,
    draw: (pen) => drawMatrices(pen, panel, cellSource(d, state), looks),
  }
}
