/**
 * Measures the browser with its own trace and the processor time of its processes.
 *
 * Main thread: every task of the page's main thread, in milliseconds of processor time. Tasks include script,
 * style, layout, paint, handover to the compositor and garbage collection. Frame: processor time of all
 * threads of the page's process and of the compositing process. Work moved to another thread is therefore
 * counted too.
 */
import { readdirSync, readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  /** Microseconds. */
  readonly ts: number
  readonly dur?: number
  readonly tdur?: number
  readonly args?: { readonly name?: string; readonly message?: string }
}

const CATEGORIES = [
  'toplevel',
  '__metadata',
  'blink.user_timing',
  'devtools.timeline',
  'disabled-by-default-devtools.timeline',
]

/** Milliseconds of processor time of the main thread, nested events counted once. */
interface Parts {
  /** Functions, timers, frames and messages; and garbage collection. */
  readonly script: number
  /** Style, layout, paint, and the handover of layers. */
  readonly paint: number
}

const KINDS: Readonly<Record<keyof Parts, ReadonlySet<string>>> = {
  script: new Set([
    'FunctionCall',
    'EvaluateScript',
    'FireAnimationFrame',
    'TimerFire',
    'EventDispatch',
    'MinorGC',
    'MajorGC',
    'V8.GC_MC_INCREMENTAL',
    'RunMicrotasks',
  ]),
  paint: new Set([
    'UpdateLayoutTree',
    'Layout',
    'PrePaint',
    'Paint',
    'Layerize',
    'Commit',
    'UpdateLayer',
    'HitTest',
  ]),
}

/** The page sets these marks, which separate steps. */
const MARK = 'odonata-step'

export interface Step extends Parts {
  /** Milliseconds of processor time of the page's main thread. */
  readonly main: number
  /** The longest task. */
  readonly longest: number
  /** Milliseconds of processor time of the page's and the compositing process. */
  readonly frame: number
}

/** Processor time of all threads of page processes in milliseconds, from Linux. */
async function processes(browser: Browser): Promise<number[]> {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()
  return processInfo.filter(({ type }) => type === 'renderer' || type === 'GPU').map(({ id }) => id)
}

const processorMs = (pids: readonly number[]): number =>
  pids
    .flatMap((pid) => readdirSync(`/proc/${pid}/task`).map((tid) => `/proc/${pid}/task/${tid}/schedstat`))
    .reduce((sum, path) => {
      try {
        return sum + Number(readFileSync(path, 'utf8').split(' ')[0]) / 1e6
      } catch {
        return sum // The thread has ended.
      }
    }, 0)

/** Processor milliseconds of the main thread from before `load` to a mark that the page sets in it. */
export async function tracedUntil(
  browser: Browser,
  page: Page,
  mark: string,
  load: () => Promise<unknown>,
): Promise<number> {
  await browser.startTracing(page, { categories: CATEGORIES })
  await load()
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: TraceEvent[]
  }
  const { pid, tid, ts } = traceEvents.find(({ name }) => name === mark)!
  return tasksOf(traceEvents, pid, tid)
    .filter((task) => task.ts < ts)
    .reduce((sum, { tdur }) => sum + tdur! / 1000, 0)
}

/** Performs each step, waits with `settled` until it is visible, and returns its cost. */
export async function traced(
  browser: Browser,
  page: Page,
  steps: readonly (() => Promise<unknown>)[],
  settled: () => Promise<void>,
): Promise<Step[]> {
  const pids = await processes(browser)
  await browser.startTracing(page, { categories: CATEGORIES })
  const mark = () => page.evaluate((name) => void performance.mark(name), MARK)
  const frames: number[] = []
  await mark()
  for (const step of steps) {
    const before = processorMs(pids)
    await step()
    await settled()
    await mark()
    frames.push(processorMs(pids) - before)
  }
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: TraceEvent[]
  }
  return between(traceEvents).map((tasks, i) => ({ ...tasks, frame: frames[i]! }))
}

const tasksOf = (events: readonly TraceEvent[], pid: number, tid: number): TraceEvent[] =>
  events.filter(
    (e) => e.name === 'RunTask' && e.ph === 'X' && e.pid === pid && e.tid === tid && e.tdur !== undefined,
  )

/** Main thread tasks between successive marks. */
function between(events: readonly TraceEvent[]): Omit<Step, 'frame'>[] {
  const marks = events.filter(({ name }) => name === MARK).sort((a, b) => a.ts - b.ts)
  const [{ pid, tid }] = marks as [TraceEvent]
  const tasks = tasksOf(events, pid, tid)
  const mine = events.filter((e) => e.ph === 'X' && e.pid === pid && e.tid === tid)
  return marks.slice(1).map(({ ts: end }, i) => {
    const inside = tasks.filter(({ ts }) => ts >= marks[i]!.ts && ts < end)
    const costs = inside.map(({ tdur }) => tdur! / 1000)
    const events = mine.filter(({ ts }) => ts >= marks[i]!.ts && ts < end)
    const script = union(events, KINDS.script)
    const paint = union(events, KINDS.paint)
    // Script may force a layout: it is counted as layout.
    const both = script + paint - union(events, new Set([...KINDS.script, ...KINDS.paint]))
    return {
      main: costs.reduce((sum, ms) => sum + ms, 0),
      longest: Math.max(0, ...costs),
      script: script - both,
      paint,
    }
  })
}

/** Milliseconds of processor time of the events of these kinds; those inside another are part of it. */
function union(events: readonly TraceEvent[], kinds: ReadonlySet<string>): number {
  const found = events.filter(({ name }) => kinds.has(name)).sort((a, b) => a.ts - b.ts)
  let [covered, end] = [0, -Infinity]
  for (const { ts, dur = 0, tdur = dur } of found) {
    if (ts < end) continue
    covered += tdur
    end = ts + dur
  }
  return covered / 1000
}
