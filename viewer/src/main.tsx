/**
 * Starts the viewer: in the page of `odonata view`, in a standalone page that holds its data, or in a notebook's cell.
 */
import { render } from 'preact'
import { App } from './app'
import { EmbeddedSource, HttpSource, SourceError, type Embedded, type Source } from './data/source'
import { DEFAULTS, readUrl } from './data/state'
import { Session } from './views/session'
import './viewer.css'

async function mount(element: HTMLElement, source: Source, ownsUrl: boolean): Promise<Session | null> {
  try {
    const index = await source.index()
    const { state, problems } = ownsUrl ? readUrl(location.hash.slice(1)) : { state: DEFAULTS, problems: [] }
    const session = new Session(source, index, state, ownsUrl, element)
    if (problems.length > 0)
      session.failures.set([`This address has settings that make no sense: ${problems.join('; ')}`])
    render(<App session={session} />, element)
    return session
  } catch (error) {
    const [message, hint] =
      error instanceof SourceError ? [error.message, error.hint] : [String(error), undefined]
    render(
      <div class="odonata light" role="alert">
        <p class="failures">{message}</p>
        {hint !== undefined && <p class="hint centred">{hint}</p>}
      </div>,
      element,
    )
    return null
  }
}

const root = document.getElementById('odonata')
if (root) {
  const data = document.getElementById('odonata-data')
  const source = data
    ? new EmbeddedSource(JSON.parse(data.textContent) as Embedded)
    : new HttpSource(location.href)
  void mount(root, source, true).then((session) => {
    // For the browser tests and benchmarks.
    if (session) (window as unknown as { odonata: Session }).odonata = session
  })
}

/** What a notebook's widget needs (the anywidget protocol). */
interface WidgetModel {
  get(name: 'data'): Embedded
}

export default {
  async render({ model, el }: { model: WidgetModel; el: HTMLElement }): Promise<() => void> {
    const frame = document.createElement('div')
    frame.className = 'odonata-cell'
    el.appendChild(frame)
    await mount(frame, new EmbeddedSource(model.get('data')), false)
    return () => render(null, frame)
  },
}
