/** The selected links as CSV, with the bytes of every job: what is on the screen, to compute with. */
import type { Derived } from './model'

export function selectionCsv({ run, measure, values, selection, counted }: Derived): string {
  const { links, routers, linkJobs } = run
  const jobs = measure.perJob === null ? [] : run.jobs.filter((job) => counted[job.job] === 1)
  const column = new Map(jobs.map((job, i) => [job.job, i]))
  const header = [
    'link',
    'source',
    'target',
    'class',
    'parallel',
    measure.id,
    ...jobs.map((job) => `job ${job.name}`),
  ]
  const lines = [header.map(quote).join(',')]
  for (let l = 0; l < links.count; l++) {
    if (selection.selected[l] === 0) continue
    const shares = new Array<number>(jobs.length).fill(0)
    if (measure.perJob !== null)
      for (let i = linkJobs.offsets[l]!; i < linkJobs.offsets[l + 1]!; i++) {
        const at = column.get(linkJobs.job[i]!)
        if (at !== undefined) shares[at]! += measure.perJob[i]!
      }
    const names = [
      routers.names.at(links.source[l]!),
      routers.names.at(links.target[l]!),
      links.classes[links.class[l]!]!,
    ]
    lines.push([l, ...names.map(quote), links.parallel[l], values[l], ...shares].join(','))
  }
  return lines.join('\r\n') + '\r\n'
}

/** RFC 4180, and a leading apostrophe where a spreadsheet would take a name for a formula. */
function quote(text: string): string {
  const safe = /^[=+\-@]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
