/** Answers of the query line, and what their columns name in the picture. */
import { focusList } from './focus'
import { jobAt, linkName, type Run } from './run'

export interface QueryAnswer {
  readonly columns: readonly { readonly name: string; readonly is_number: boolean }[]
  readonly rows: readonly (readonly (string | number | null)[])[]
  /** Whether rows are left out. */
  readonly more: boolean
}

/** What a column of numbers may name, in the order of preference. */
const SUBJECTS = ['link', 'router', 'node', 'group', 'job'] as const

type Subject = (typeof SUBJECTS)[number]

/** The column whose numbers name marks of the picture. */
export interface MarkColumn {
  readonly subject: Subject
  readonly column: number
}

export function markColumn({ columns }: QueryAnswer): MarkColumn | null {
  for (const subject of SUBJECTS) {
    const column = columns.findIndex(({ name, is_number }) => is_number && name.toLowerCase() === subject)
    if (column >= 0) return { subject, column }
  }
  return null
}

/** The name of something with a number; null if the run has no such thing. */
function nameOf(run: Run, subject: Subject, value: unknown): string | null {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) return null
  switch (subject) {
    case 'link':
      return value < run.links.count ? linkName(run, value) : null
    case 'router':
      return value < run.routers.count ? run.routers.names.at(value) : null
    case 'node':
      return value < run.nodes.count ? run.nodes.names.at(value) : null
    case 'group':
      return value < run.routers.groups ? String(value) : null
    case 'job':
      return jobAt(run, value) ? String(value) : null
  }
}

/** The focus of each row; null if it names nothing. */
export const rowFocuses = (run: Run, { rows }: QueryAnswer, mark: MarkColumn | null): (string | null)[] =>
  rows.map((row) => {
    const name = mark && nameOf(run, mark.subject, row[mark.column])
    return name === null ? null : `${mark!.subject}:${name}`
  })

/** A focus on all links or routers of an answer; null if it names none. Nodes are shown by their routers. */
export function answerFocus(run: Run, { rows }: QueryAnswer, mark: MarkColumn | null): string | null {
  if (mark?.subject !== 'link' && mark?.subject !== 'router' && mark?.subject !== 'node') return null
  const { subject, column } = mark
  const names = new Set<string>()
  for (const row of rows) {
    const name = nameOf(run, subject, row[column])
    if (name === null) continue
    names.add(subject === 'node' ? run.routers.names.at(run.nodes.router[Number(row[column])]!) : name)
  }
  return names.size === 0 ? null : focusList(subject === 'link' ? 'links' : 'routers', [...names])
}

/** Numbers of the jobs of an answer; null if they are not what it names. */
export function answerJobs({ rows }: QueryAnswer, mark: MarkColumn | null): ReadonlySet<number> | null {
  if (mark?.subject !== 'job') return null
  return new Set(rows.map((row) => row[mark.column]).filter((value) => typeof value === 'number'))
}
