/** Export of one picture, with what stands next to it. */
import { count } from '../../base/format'
import { selectionCsv } from '../../data/csv'
import { write } from '../../draw/blocks'
import type { Pen } from '../../draw/pen'
import { drawJobs, drawScale, drawWhole } from '../../draw/sheet'
import { describeFilter, machineOf, sheetOf, type ExportRequest, type ExportSheet } from './sheets'
import { matricesPart } from '../panels/matrices/sheet'
import type { Change } from '../picture/content'

const PICTURE = 820
const RAMP = 280

/** The links, or the changes of a comparison. */
export function overviewExport(
  { derived, state, theme }: ExportRequest,
  change: Change | null = null,
): ExportSheet {
  const machine = machineOf(derived, state, theme, change)
  const { picture, looks } = machine
  const { run } = derived
  const { engine, routing, machine: built } = run.summary
  const part = matricesPart(derived, state, looks)
  const filter = describeFilter(derived, state)
  let reading = ''
  const whole = {
    width: PICTURE,
    height: (PICTURE * picture.height) / picture.width,
    draw: (pen: Pen) => {
      reading = drawWhole(pen, machine, PICTURE).join('')
    },
  }
  const foot = {
    width: PICTURE,
    height: 54,
    draw: (pen: Pen) => {
      drawScale(pen, derived, looks)
      write(pen, `${reading}. ${picture.reading}`, 0, 64, looks, { size: 11 })
      pen.translate(RAMP, 0)
      drawJobs(pen, machine)
    },
  }
  return sheetOf({
    name: run.label,
    facts: [
      built.name,
      `${count(run.links.count)} links`,
      `${engine}, ${routing}`,
      ...(filter ? [filter] : []),
    ].join(' · '),
    columns: [[whole], ...(part ? [[part]] : [])],
    below: [foot],
    looks,
    csv: () => selectionCsv(derived),
  })
}
