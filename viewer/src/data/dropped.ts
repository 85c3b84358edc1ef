/** What is dropped on the page: a page that `odonata view --html` wrote holds its runs. */
import { SourceError, type Embedded } from './source'

/** As `python/odonata/viewer/export.py` writes it; no `<` is inside. */
const OPENING = '<script type="application/json" id="odonata-data">'
const HINT =
  'Drop a page that odonata view --html FILE has written; open a run directory by: odonata view DIRECTORY'

/** A file or a directory, by its name. */
export interface Dropped {
  readonly name: string
  readonly directory: boolean
  text(): Promise<string>
}

/** The data of the page that is dropped.
 *
 * Throws a SourceError for anything else. */
export async function readDropped(dropped: readonly Dropped[]): Promise<Embedded> {
  const [first, ...more] = dropped
  if (!first) throw new SourceError('What was dropped is no file.', HINT)
  if (more.length > 0) throw new SourceError(`${dropped.length} files were dropped; expected one page.`, HINT)
  if (first.directory)
    throw new SourceError(
      `${first.name} is a directory, whose tables a page alone cannot read.`,
      `Open it by: odonata view ${first.name}`,
    )
  const text = await first.text()
  const start = text.indexOf(OPENING)
  const end = text.indexOf('</script>', start)
  if (start < 0 || end < 0) throw new SourceError(`${first.name} is no page of Odonata.`, HINT)
  try {
    const data = JSON.parse(text.slice(start + OPENING.length, end)) as Partial<Embedded>
    if (Array.isArray(data.index?.runs) && data.blocks) return data as Embedded
  } catch {
    // As any other damage.
  }
  throw new SourceError(
    `${first.name} is damaged: its runs cannot be read.`,
    'Write it again: odonata view RUN --html FILE',
  )
}
