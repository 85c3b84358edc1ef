/** CSV of the selected links with the bytes of each job. */
import type { DerivedRun } from './model'

export function selectionCsv({ run, measure, values, selection, counted, sides }: DerivedRun): string {
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
    ...sides.map((side) => side.label),
    ...jobs.map((job) => `job ${job.name}`),
  ]
  const lines = [header.map(quote).join(',')]
  for (let l = 0; l < links.count; l++) {
    if (selection.selected[l] === 0) continue
    const shares = jobs.map(() => 0)
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
    lines.push(
      [
        l,
        ...names.map(quote),
        links.parallel[l],
        values[l],
        ...sides.map((side) => side.values[l]),
        ...shares,
      ].join(','),
    )
  }
  return lines.join('\r\n') + '\r\n'
}

/** RFC 4180 quoting. A leading apostrophe stops spreadsheets from reading a name as a formula. */
export function quote(text: string): string {
  const safe = /^[=+\-@]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Lines of a table. */
export function csvOf(header: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]): string =>
    cells
      .map((cell) => (typeof cell === 'number' ? (Number.isNaN(cell) ? '' : String(cell)) : quote(cell)))
      .join(',')
  return [header, ...rows].map(line).join('\r\n') + '\r\n'
}

/** Selected links of several runs; the first column is the run. */
export function selectionsCsv(runs: readonly DerivedRun[]): string {
  const rows = runs.flatMap(({ run, values, selection }) => {
    const { links, routers } = run
    return Array.from(values, (value, l) => ({ value, l }))
      .filter(({ l }) => selection.selected[l] === 1)
      .map(({ value, l }) => [
        run.label,
        routers.names.at(links.source[l]!),
        routers.names.at(links.target[l]!),
        links.classes[links.class[l]!]!,
        links.parallel[l]!,
        value,
      ])
  })
  return csvOf(['run', 'source', 'target', 'class', 'parallel', runs[0]!.measure.id], rows)
}
