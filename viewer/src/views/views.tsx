/** All views. Types, address, buttons, keys and export follow from this list. */
import type { ComponentType } from 'preact'
import { hasCosts } from '../data/costs'
import { hasLanes } from '../data/lanes'
import { hasGroupTraffic, hasLatency } from '../data/latency'
import type { RunModel } from '../data/model'
import { hasSeries } from '../data/series'
import type { Index, RunInfo } from '../data/source'
import { CompareView } from './compare/compare'
import { compareExport } from './compare/sheet'
import { CostsView } from './costs/costs'
import { costsExport } from './costs/sheet'
import type { ExportRequest, ExportSheet } from './export/sheets'
import { JobsView, ofJob } from './jobs/jobs'
import { jobsExport } from './jobs/sheet'
import { LatencyView } from './latency/latency'
import { latencyExport } from './latency/sheet'
import { Overview, OverviewHead } from './overview/overview'
import { overviewExport } from './export/overview'
import { comparison } from './session/comparison'
import type { Session } from './session/session'
import type { Settings } from './session/settings'
import type { ViewContent } from './session/viewcontent'
import { studyExport } from './study/sheet'
import { StudyView } from './study/study'
import { sweepExport } from './sweep/sheet'
import { SweepView } from './sweep/sweep'
import { runAtTime } from './time/moment'
import { timeExport } from './time/sheet'
import { timeKey, TimeView } from './time/time'

interface ViewEntry {
  readonly label: string
  /** `seen`: whether the first picture is visible; the rest is rendered after it. */
  readonly Body: ComponentType<ViewContent & { seen: boolean }>
  /** What is above all columns. */
  readonly Head?: ComponentType<ViewContent & { seen: boolean }>
  /** Whether the left column with controls is shown. */
  readonly controls?: boolean
  sheet(of: ExportRequest): ExportSheet | null
  /** Why the view is not available for a run; null if it is. */
  missing?(index: Index, run: RunInfo | undefined): string | null
  /** What is shown; null for the chosen run. */
  shown?(session: Session, state: Settings, model: RunModel | undefined): ViewContent | null
  /** The change made by a key of this view. */
  key?(key: string, session: Session): Partial<Settings> | null
}

/** In the order of their buttons. */
const views = {
  overview: { label: 'Overview', Body: Overview, Head: OverviewHead, controls: true, sheet: overviewExport },
  compare: {
    label: 'Compare',
    Body: CompareView,
    controls: true,
    sheet: compareExport,
    missing: ({ runs }: Index) => (runs.length > 1 ? null : 'a comparison needs two runs; one is open'),
    shown: (session: Session, state: Settings): ViewContent | null => {
      const compared = comparison(session, state)
      return compared ? { derived: compared.lead, compared } : null
    },
  },
  time: {
    label: 'Time',
    Body: TimeView,
    controls: true,
    sheet: timeExport,
    missing: (_: Index, run: RunInfo | undefined) =>
      run && (hasSeries(run) || hasLanes(run)) ? null : 'this run has no time series',
    shown: (session: Session, state: Settings, model: RunModel | undefined): ViewContent | null => {
      const moment = model && runAtTime(session, model.run, state)
      return moment ? { derived: moment, moment } : null
    },
    key: timeKey,
  },
  jobs: {
    label: 'Jobs',
    Body: JobsView,
    controls: true,
    sheet: jobsExport,
    shown: (_: Session, state: Settings, model: RunModel | undefined): ViewContent | null =>
      model ? { derived: ofJob(model, state) } : null,
  },
  latency: {
    label: 'Latency',
    Body: LatencyView,
    sheet: latencyExport,
    missing: (_: Index, run: RunInfo | undefined) =>
      run && (hasLatency(run) || hasGroupTraffic(run)) ? null : 'this run has no packet latencies',
  },
  costs: {
    label: 'Costs',
    Body: CostsView,
    sheet: costsExport,
    missing: (_: Index, run: RunInfo | undefined) => (run && hasCosts(run) ? null : 'this run has no costs'),
  },
  sweep: {
    label: 'Sweep',
    Body: SweepView,
    sheet: sweepExport,
    missing: ({ runs }: Index) => (runs.length > 2 ? null : 'a sweep needs at least three runs'),
  },
  study: {
    label: 'Study',
    Body: StudyView,
    sheet: studyExport,
    missing: ({ findings }: Index) => (findings ? null : 'no study is open'),
  },
}

export type View = keyof typeof views

export const VIEWS: Readonly<Record<View, ViewEntry>> = views

/** Of a run; views of several runs are always available. */
export const availableViews = (index: Index, run: RunInfo | undefined): View[] =>
  (Object.keys(VIEWS) as View[]).filter((name) => !VIEWS[name].missing?.(index, run))
