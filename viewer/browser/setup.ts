/** Creates runs with the real engines once, and serves them with the real server. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { findChromium } from './chromium'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PYTHON = process.env['PYTHON'] ?? join(ROOT, '.venv/bin/python')

declare module 'vitest' {
  interface ProvidedContext {
    /** Directory of the runs, with `expected.json`. */
    runs: string
    /** Addresses of `odonata view` by name. */
    urls: Record<string, string>
    standalone: string
    /** A page with a run of each family and engine. */
    families: string
  }
}

/** Runs of each server; the first word is its name. */
const SERVERS: Record<string, string[]> = {
  all: ['edison', 'edison-K', 'dragonfly', 'torus', 'tree', 'corner', 'packet', 'packet-torus'],
  dragonfly: ['dragonfly'],
  allowed: ['dragonfly', '--allow-runs'],
  large: ['large'],
  ranks: ['ranks'],
  // The first run has no VC records, and another machine.
  mapped: ['dragonfly', 'mapped-plain', 'mapped-tilted'],
  levels: ['levels'],
  regrouped: ['levels', 'levels-regrouped'],
  grid: ['grid'],
  sweep: ['sweep'],
  amg: ['amg'],
  'packet-alone': ['packet'],
  'torus-alone': ['torus-two'],
  // Directories of studies.
  search: ['search'],
  interference: ['interference'],
  // A directory with an unreadable run.
  damaged: ['damaged'],
  broken: ['broken'],
  counters: ['counters.csv', '--counter-jobs', 'counters-jobs.csv'],
}

export default async function setup(project: TestProject): Promise<() => void> {
  if (findChromium() === undefined) throw new Error('there is no chromium; run scripts/bootstrap chromium')
  // A directory kept between calls avoids creating the runs again.
  const kept = process.env['ODONATA_VIEWER_RUNS']
  const runs = kept ?? mkdtempSync(join(tmpdir(), 'odonata-viewer-'))
  mkdirSync(runs, { recursive: true })
  execFileSync(PYTHON, [join(ROOT, 'tests/viewer/make_runs.py'), runs], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const { counters, families: mixed } = JSON.parse(readFileSync(join(runs, 'expected.json'), 'utf8')) as {
    counters: { edison: { paths: [string, string] } | null }
    families: string[]
  }
  // One test damages it.
  rmSync(join(runs, 'broken'), { recursive: true, force: true })
  cpSync(join(runs, 'dragonfly'), join(runs, 'broken'), { recursive: true })
  rmSync(join(runs, 'damaged'), { recursive: true, force: true })
  for (const half of ['bad', 'good'])
    cpSync(join(runs, 'dragonfly'), join(runs, 'damaged', half), { recursive: true })
  writeFileSync(join(runs, 'damaged/bad/links.parquet'), 'PAR1 not really')
  const families = join(runs, 'families.html')
  odonata('view', ...mixed.map((run) => join(runs, run)), '--html', families)
  const standalone = join(runs, 'standalone.html')
  odonata('view', join(runs, 'dragonfly'), '--html', standalone)

  const children: ChildProcess[] = []
  const urls: Record<string, string> = {}
  for (const [name, shown] of Object.entries({ ...SERVERS, families: mixed })) {
    const { child, url } = await serve(shown.map((run) => (run.startsWith('--') ? run : join(runs, run))))
    children.push(child)
    urls[name] = url
  }
  if (counters.edison) {
    const [links, jobs] = counters.edison.paths
    const { child, url } = await serve([links, '--counter-jobs', jobs])
    children.push(child)
    urls['edison-counters'] = url
  }
  project.provide('runs', runs)
  project.provide('urls', urls)
  project.provide('standalone', `file://${standalone}`)
  project.provide('families', `file://${families}`)
  return () => {
    children.forEach((child) => child.kill())
    if (kept === undefined) rmSync(runs, { recursive: true, force: true })
  }
}

const COMMAND = ['-c', 'import sys; from odonata.cli import main; sys.exit(main())']

function odonata(...args: string[]): void {
  execFileSync(PYTHON, [...COMMAND, ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
}

function serve(directories: readonly string[]): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(PYTHON, [...COMMAND, 'view', '--no-open', ...directories], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => {
      text += String(chunk)
      const url = /http:\S+/.exec(text)?.[0]
      if (url) resolve({ child, url })
    })
    child.on('exit', (code) => reject(new Error(`odonata view ended with ${code}: ${text}`)))
  })
}
