/** Files dropped on the page: a page written by `odonata view --html` contains its runs. */
import { SourceError, type EmbeddedData } from './source'

/** As written by `python/odonata/viewer/export.py`; the data contains no `<`. */
const OPENING = '<script type="application/json" id="odonata-data">'
const HINT =
  'Drop a page that odonata view --html FILE has written; open a run directory by: odonata view DIRECTORY'

/** A dropped file or directory. */
export interface DroppedFile {
  readonly name: string
  readonly directory: boolean
  text(): Promise<string>
}

/**
 * Reads the data of the dropped page.
 *
 * Throws a SourceError for anything else.
 */
export async function readDropped(dropped: readonly DroppedFile[]): Promise<EmbeddedData> {
  const [first, ...more] = dropped
  if (!first) throw new SourceError('The dropped item is not a file.', HINT)
  if (more.length > 0) throw new SourceError(`${dropped.length} files were dropped; expected one page.`, HINT)
  if (first.directory)
    throw new SourceError(
      `${first.name} is a directory. A page cannot read directories.`,
      `Open it with: odonata view ${first.name}`,
    )
  const text = await first.text()
  const start = text.indexOf(OPENING)
  const end = text.indexOf('</script>', start)
  if (start < 0 || end < 0) throw new SourceError(`${first.name} is not an Odonata page.`, HINT)
  try {
    const data = JSON.parse(text.slice(start + OPENING.length, end)) as Partial<EmbeddedData>
    if (Array.isArray(data.index?.runs) && data.blocks) return data as EmbeddedData
  } catch {
    // Reported below, like other damage.
  }
  throw new SourceError(
    `${first.name} is damaged: its runs cannot be read.`,
    'Write a new one: odonata view RUN --html FILE',
  )
}
