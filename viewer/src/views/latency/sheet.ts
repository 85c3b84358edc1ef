/** Export of the latency view: boxes and group matrix. */
import { csvOf } from '../../data/csv'
import { jobOf } from '../../data/describe'
import {
  BOX_PERCENTILES,
  GROUP_TRAFFIC,
  groupMatrix,
  groupMeasures,
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
import { drawHead, MARGIN, TOP, type Exported, type ExportSheet } from '../export/sheets'
import { drawMap } from '../export/map'
import { shownLatencies } from './latency'

const WIDTH = 900
const MAP = 380

export function latencyExport({ session, derived: { run }, state, theme }: Exported): ExportSheet | null {
  const loaded = hasLatency(run.info) ? session.block(run.id, LATENCY, LATENCY_COLUMNS) : undefined
  const shown =
    loaded === undefined || typeof loaded === 'string' ? null : shownLatencies(latencies(loaded), state)
  const measures = groupMeasures(run.info)
  const measure = measures.find(({ id }) => id === state.groupMeasure) ?? measures[0]
  const columns = measure ? ['source_group', 'target_group', measure.id] : []
  const between =
    measure && hasGroupTraffic(run.info) ? session.block(run.id, GROUP_TRAFFIC, columns) : undefined
  const map =
    between === undefined || typeof between === 'string' ? null : groupMatrix(run, between, measure!.id)
  if (!shown?.boxes.length && !map) return null
  const looks = looksFor(theme, state.ramp, false)
  const nameOf = (job: number): string => jobOf(run, job).name
  const picture = shown?.boxes.length ? boxesPicture(shown, nameOf, WIDTH) : null
  const below = TOP + (picture?.height ?? 0) + 16
  const size = { width: WIDTH + 2 * MARGIN, height: below + (map ? MAP + 24 : 0) + MARGIN }
  const name = `${run.label}, latency`
  return {
    name,
    ...size,
    draw: (pen) => {
      drawHead(pen, size, name, 'boxes: 5, 25, 50, 75, 95, 99 % of the packets; ring: maximum', looks)
      if (picture && shown) {
        const colors = shown.boxes.map(({ job }) => jobOf(run, job).color)
        drawBoxes(pen, { x: MARGIN, y: TOP }, picture, colors, looks)
      }
      if (map && measure) {
        const box = { x: MARGIN, y: below, width: MAP, height: MAP }
        drawMap(
          pen,
          box,
          map,
          `${measure.label} from group (row) to group (column)`,
          measure.unit,
          state,
          looks,
        )
      }
    },
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
  }
}
