/** Export of the jobs view: routers, figures, placement and communication. */
import type { Theme } from '../../base/ramps'
import { count, quantity } from '../../base/format'
import { csvOf } from '../../data/csv'
import type { DerivedRun } from '../../data/model'
import {
  COMMUNICATION,
  communicationMatrix,
  PLACEMENT,
  placementDensity,
  type Communication,
  type Density,
} from '../../data/placement'
import type { Job } from '../../data/run'
import type { ViewState } from '../../data/state'
import type { JobCommunication } from '../../data/communication'
import { drawTable, ROW, type Cell } from '../../draw/blocks'
import { looksFor } from '../../draw/look'
import { drawMachine, machineHeight } from '../../draw/sheet'
import { densityScale } from '../canvas/density'
import { drawHead, machineOf, MARGIN, TOP, type Exported, type ExportSheet } from '../export/sheets'
import { drawMap } from '../export/map'
import { loadPairs } from './communication'
import type { Session } from '../session/session'

const MACHINE = 620
const MAP = 380
const GRID = 128

export function jobsExport({ session, derived: d, state, theme }: Exported): ExportSheet | null {
  const job = d.run.jobs.find(({ job }) => job === d.focus?.job) ?? d.run.jobs[0]
  if (!job) return null
  if (state.matrices === 'all') return matricesExport(session, d, state, theme)
  const looks = looksFor(theme, state.ramp, false)
  const machine = machineOf(d, state, theme)
  const [placed, matrix] = [placementOf(session, d, job), communicationOf(session, d, job)]
  const figures: Cell[][] = [
    [{ text: 'Figure' }, { text: '' }],
    [{ text: 'Pattern' }, { text: job.pattern }],
    [{ text: 'Placement' }, { text: job.placement }],
    ...job.figures
      .filter(({ value }) => Number.isFinite(value))
      .map(({ label, unit, value }) => [{ text: label }, { text: quantity(value, unit) }]),
  ]
  const left = machineHeight(machine.picture, MACHINE) + 20 + figures.length * ROW
  const size = { width: 3 * MARGIN + MACHINE + MAP, height: TOP + Math.max(left, 2 * (MAP + 50)) + MARGIN }
  const name = `${d.run.label}, job ${job.name}`
  return {
    name,
    ...size,
    draw: (pen) => {
      drawHead(pen, size, name, `${count(job.ranks)} ranks on ${count(job.nodes)} nodes`, looks)
      drawMachine(pen, { x: MARGIN, y: TOP, width: MACHINE }, machine, `Routers of ${job.name}`)
      drawTable(pen, { x: MARGIN, y: TOP + left - figures.length * ROW }, [220, 200], figures, looks, 1)
      const box = { x: 2 * MARGIN + MACHINE, y: TOP, width: MAP, height: MAP }
      if (placed) drawMap(pen, box, placed, 'Ranks (columns) on routers (rows)', 'count', state, looks)
      if (matrix)
        drawMap(
          pen,
          { ...box, y: TOP + MAP + 50 },
          matrix,
          'From rank (row) to rank (column)',
          'bytes',
          state,
          looks,
        )
    },
    csv: () =>
      csvOf(
        ['what', 'row', 'column', 'value'],
        [
          ...figureRows(job),
          ...cellRows('ranks on routers', placed),
          ...cellRows('bytes between ranks', matrix),
        ],
      ),
  }
}

const PER_ROW = 3

/** Matrices of all jobs on one scale, next to another run’s matrices if chosen. */
function matricesExport(session: Session, d: DerivedRun, state: ViewState, theme: Theme): ExportSheet | null {
  const pairs = loadPairs(session, d.run, state)
  if (typeof pairs === 'string' || pairs.length === 0) return null
  const isPaired = pairs.some(({ there }) => there !== null)
  // An empty place keeps the columns aligned.
  const found = pairs.flatMap(({ here, there }) => (isPaired ? [here, there] : [here]))
  const looks = looksFor(theme, state.ramp, false)
  const scale = densityScale(
    found.flatMap((matrix) => (matrix ? [matrix.map] : [])),
    state.scale,
  )
  const columns = isPaired ? 2 : Math.min(PER_ROW, found.length)
  const size = {
    width: MARGIN + columns * (MAP + MARGIN),
    height: TOP + Math.ceil(found.length / columns) * (MAP + 50) + MARGIN,
  }
  const titleOf = ({ run, job }: JobCommunication): string =>
    isPaired ? `${job.name}, ${run.label}` : job.name
  const name = `${d.run.label}, communication of each job`
  return {
    name,
    ...size,
    draw: (pen) => {
      drawHead(pen, size, name, 'from rank (row) to rank (column), all on one scale', looks)
      found.forEach((matrix, i) => {
        const x = MARGIN + (i % columns) * (MAP + MARGIN)
        const box = { x, y: TOP + Math.floor(i / columns) * (MAP + 50), width: MAP, height: MAP }
        if (matrix) drawMap(pen, box, matrix.map, titleOf(matrix), 'bytes', state, looks, scale)
      })
    },
    csv: () =>
      csvOf(
        [...(isPaired ? ['run'] : []), 'job', 'from', 'to', 'bytes'],
        found.flatMap((matrix) =>
          matrix
            ? cellRows('', matrix.map).map(([, from, to, bytes]) => [
                ...(isPaired ? [matrix.run.label] : []),
                matrix.job.name,
                from!,
                to!,
                bytes!,
              ])
            : [],
        ),
      ),
  }
}

function placementOf(session: Session, d: DerivedRun, job: Job): Density | null {
  if (!d.run.info.tables['placement']?.rows) return null
  const table = session.block(d.run.id, 'placement', PLACEMENT)
  return table === undefined || typeof table === 'string'
    ? null
    : placementDensity(d.run, table, job.job, GRID, GRID)
}

function communicationOf(session: Session, d: DerivedRun, job: Job): Communication | null {
  if (!d.run.info.tables['communication']?.rows) return null
  const table = session.block(d.run.id, 'communication', COMMUNICATION)
  return table === undefined || typeof table === 'string'
    ? null
    : communicationMatrix(table, job.job, job.ranks)
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
