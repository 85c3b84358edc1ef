/** Export of the jobs view: routers, figures, placement and communication. */
import type { SheetPart } from '../../draw/sheet'
import type { Theme } from '../../base/ramps'
import { count, quantity, type Unit } from '../../base/format'
import { csvOf } from '../../data/csv'
import { jobTitle } from '../../data/describe'
import type { DerivedRun } from '../../data/model'
import {
  COMMUNICATION,
  communicationMatrix,
  PLACEMENT,
  placementDensity,
  type Communication,
  type Density,
} from '../../data/placement'
import { hasRanks } from '../../data/ranks'
import type { Job } from '../../data/run'
import type { ViewState } from '../../data/state'
import type { JobCommunication } from '../../data/communication'
import type { Cell } from '../../draw/blocks'
import { looksFor } from '../../draw/look'
import { densityScale } from '../canvas/density'
import { machinePart, MAP, mapPart, tablePart } from '../export/parts'
import { inColumns, machineOf, sheetOf, type ExportRequest, type ExportSheet } from '../export/sheets'
import type { Session } from '../session/session'
import { loadPairs } from './communication'

const MACHINE = 620
const GRID = 128
const PER_ROW = 3

export function jobsExport({ session, derived: d, state, theme }: ExportRequest): ExportSheet | null {
  const job = d.run.jobs.find(({ job }) => job === d.focus?.job) ?? d.run.jobs[0]
  if (!job) return null
  if (state.matrices === 'all') return matricesExport(session, d, state, theme)
  const looks = looksFor(theme, state.ramp, false)
  const [placed, matrix] = [placementOf(session, d, job), communicationOf(session, d, job)]
  const figures: Cell[][] = [
    [{ text: 'Figure' }, { text: '' }],
    [{ text: 'Pattern' }, { text: job.pattern }],
    [{ text: 'Placement' }, { text: job.placement }],
    ...job.figures.map(({ label, unit, value }) => [{ text: label }, { text: quantity(value, unit) }]),
  ]
  const map = (of: Density | null, title: string, unit: Unit): SheetPart[] =>
    of ? [mapPart(of, title, unit, densityScale([of], state.scale), looks)] : []
  return sheetOf({
    name: `${d.run.label}, job ${job.name}`,
    facts: `${count(job.ranks)} ranks on ${count(job.nodes)} nodes`,
    columns: [
      [
        machinePart(machineOf(d, state, theme), MACHINE, jobTitle(d, job)),
        tablePart([220, 200], figures, looks, 1),
      ],
      [
        ...map(placed, 'Ranks (columns) on routers (rows)', 'count'),
        ...map(matrix, 'From rank (row) to rank (column)', 'bytes'),
      ],
    ],
    looks,
    csv: () =>
      csvOf(
        ['what', 'row', 'column', 'value'],
        [
          ...figureRows(job),
          ...cellRows('ranks on routers', placed),
          ...cellRows('bytes between ranks', matrix),
        ],
      ),
  })
}

/** Matrices of all jobs on one scale, next to another run’s matrices if chosen. */
function matricesExport(session: Session, d: DerivedRun, state: ViewState, theme: Theme): ExportSheet | null {
  const pairs = loadPairs(session, d.run, state)
  if (typeof pairs === 'string' || pairs.length === 0) return null
  const isPaired = pairs.some(({ there }) => there !== null)
  // An empty place keeps the columns aligned.
  const places = pairs.flatMap(({ here, there }) => (isPaired ? [here, there] : [here]))
  const found = places.filter((matrix) => matrix !== null)
  const looks = looksFor(theme, state.ramp, false)
  const scale = densityScale(
    found.map(({ map }) => map),
    state.scale,
  )
  const partOf = ({ map, job, run }: JobCommunication): SheetPart =>
    mapPart(map, isPaired ? `${job.name}, ${run.label}` : job.name, 'bytes', scale, looks)
  const empty: SheetPart = { width: MAP, height: MAP + 20, draw: () => undefined }
  return sheetOf({
    name: `${d.run.label}, communication of each job`,
    facts: 'from rank (row) to rank (column), all on one scale',
    columns: inColumns(
      places.map((matrix) => (matrix ? partOf(matrix) : empty)),
      isPaired ? 2 : Math.min(PER_ROW, found.length),
    ),
    looks,
    csv: () =>
      csvOf(
        [...(isPaired ? ['run'] : []), 'job', 'from', 'to', 'bytes'],
        found.flatMap(({ map, run, job }) =>
          cellRows('', map).map(([, from, to, bytes]) => [
            ...(isPaired ? [run.label] : []),
            job.name,
            from!,
            to!,
            bytes!,
          ]),
        ),
      ),
  })
}

function placementOf(session: Session, d: DerivedRun, job: Job): Density | null {
  if (!hasRanks(d.run.info)) return null
  const table = session.block(d.run.id, 'placement', PLACEMENT)
  return typeof table === 'object' ? placementDensity(d.run, table, job.job, GRID, GRID) : null
}

function communicationOf(session: Session, d: DerivedRun, job: Job): Communication | null {
  if (!d.run.info.tables['communication']?.rows) return null
  const table = session.block(d.run.id, 'communication', COMMUNICATION)
  return typeof table === 'object' ? communicationMatrix(table, job.job, job.ranks) : null
}

const figureRows = (job: Job): (string | number)[][] =>
  job.figures.map(({ id, value }) => [id, '', '', value])

/** A cell is named by its first rank or router. */
function cellRows(what: string, map: Density | null): (string | number)[][] {
  if (!map) return []
  return Array.from(map.values, (value, i) => [
    what,
    Math.floor(i / map.columns) * map.perRow,
    (i % map.columns) * map.perColumn,
    value,
  ]).filter(([, , , value]) => value !== 0)
}
