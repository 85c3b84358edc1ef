/** Export of the latency view: boxes and group matrix. */
import type { SheetPart } from '../../draw/sheet'
import { csvOf } from '../../data/csv'
import { jobOf } from '../../data/describe'
import {
  BOX_PERCENTILES,
  GROUP_TRAFFIC,
  groupColumns,
  groupMatrix,
  groupMeasure,
  hasGroupTraffic,
  hasLatency,
  LATENCY,
  LATENCY_COLUMNS,
  latencies,
  partName,
} from '../../data/latency'
import { drawBoxes } from '../../draw/boxes'
import { looksFor } from '../../draw/look'
import { boxesPicture } from '../../layout/boxes'
import { densityScale } from '../canvas/density'
import { mapPart } from '../export/parts'
import { sheetOf, type ExportRequest, type ExportSheet } from '../export/sheets'
import { shownLatencies } from './latency'

const WIDTH = 900

export function latencyExport({
  session,
  derived: { run },
  state,
  theme,
}: ExportRequest): ExportSheet | null {
  const loaded = hasLatency(run.info) ? session.block(run.id, LATENCY, LATENCY_COLUMNS) : null
  const shown = typeof loaded === 'object' && loaded ? shownLatencies(latencies(loaded), state) : null
  const measure = groupMeasure(run.info, state.groupMeasure)
  const between =
    measure && hasGroupTraffic(run.info)
      ? session.block(run.id, GROUP_TRAFFIC, groupColumns(measure.id))
      : null
  const map = typeof between === 'object' && between ? groupMatrix(run, between, measure!.id) : null
  if (!shown?.boxes.length && !map) return null
  const looks = looksFor(theme, state.ramp, false)
  const nameOf = (job: number): string => jobOf(run, job).name
  const parts: SheetPart[] = []
  if (shown?.boxes.length) {
    const picture = boxesPicture(shown, nameOf, WIDTH)
    const colors = shown.boxes.map(({ job }) => jobOf(run, job).color)
    parts.push({ ...picture, draw: (pen) => drawBoxes(pen, picture, colors, looks) })
  }
  if (map) {
    const title = `${measure!.label} from group (row) to group (column)`
    parts.push(mapPart(map, title, measure!.unit, densityScale([map], state.scale), looks))
  }
  return sheetOf({
    name: `${run.label}, latency`,
    facts: 'boxes: 5, 25, 50, 75, 95, 99 % of the packets; ring: maximum',
    columns: [parts],
    looks,
    csv: () =>
      csvOf(
        ['what', 'from', 'to', 'value'],
        [
          ...(shown?.boxes ?? []).flatMap((box) => [
            ...BOX_PERCENTILES.map((p, i) => [
              `latency_p${p}_ps`,
              nameOf(box.job),
              partName(shown!.parts[box.part]!),
              box.at[i]!,
            ]),
            ['latency_max_ps', nameOf(box.job), partName(shown!.parts[box.part]!), box.most],
          ]),
          ...Array.from(map?.values ?? [], (value, i) => [
            measure!.id,
            Math.floor(i / map!.columns),
            i % map!.columns,
            value,
          ]).filter(([, , , value]) => value !== 0),
        ],
      ),
  })
}
