/** Entry points: the page of `odonata view`, a standalone page, or a notebook cell. */
import './base/base.css'
import { render } from 'preact'
import { App } from './app'
import { EmbeddedSource, HttpSource, SourceError, type EmbeddedData, type Source } from './data/source'
import { readDropped, type DroppedFile } from './data/dropped'
import { drawingService } from './draw/drawingservice'
import { themeVariables } from './draw/look'
import { CHECKS_OF_NAMES } from './views/frame/address'
import { Session } from './views/session/session'

async function mount(element: HTMLElement, source: Source, ownsUrl: boolean): Promise<void> {
  try {
    const index = await source.index()
    const session = new Session(source, index, CHECKS_OF_NAMES, ownsUrl, element)
    session.readAddress(ownsUrl ? location.hash.slice(1) : '')
    session.failures.set((index.bad ?? []).map(({ label, reason }) => `Cannot open ${label}: ${reason}`))
    // For browser tests and benchmarks.
    ;(element as Element & { odonata?: Session }).odonata = session
    render(<App session={session} />, element)
  } catch (error) {
    const [message, hint] =
      error instanceof SourceError ? [error.message, error.hint] : [String(error), undefined]
    render(
      <div class="odonata light" style={themeVariables('light')} role="alert">
        <p class="failures">{message}</p>
        {hint !== undefined && <p class="hint centred">{hint}</p>}
      </div>,
      element,
    )
  }
}

/** Opens a dropped page. Anything else is rejected with a message, and the current runs stay. */
function acceptDrops(element: HTMLElement): void {
  document.addEventListener('dragover', (event) => event.preventDefault())
  document.addEventListener('drop', (event) => {
    event.preventDefault()
    const dropped = [...(event.dataTransfer?.items ?? [])].flatMap((item): DroppedFile[] => {
      const file = item.getAsFile()
      const directory = item.webkitGetAsEntry()?.isDirectory === true
      return file ? [{ name: file.name, directory, text: () => file.text() }] : []
    })
    void openDropped(element, dropped)
  })
}

async function openDropped(element: HTMLElement, dropped: readonly DroppedFile[]): Promise<void> {
  try {
    const source = new EmbeddedSource(await readDropped(dropped))
    await source.index()
    // The settings in the URL belong to the previous runs.
    history.replaceState(null, '', location.pathname + location.search)
    render(null, element)
    await mount(element, source, true)
  } catch (error) {
    const { message, hint } = error as SourceError
    const session = (element as Element & { odonata?: Session }).odonata
    session?.failures.set([hint === undefined ? message : `${message} ${hint}.`])
  }
}

const root = document.getElementById('odonata')
if (root) {
  // Start the drawing thread while tables are loading.
  drawingService()
  const data = document.getElementById('odonata-data')
  const source = data
    ? new EmbeddedSource(JSON.parse(data.textContent) as EmbeddedData)
    : new HttpSource(location.href, document.getElementById('odonata-index')?.textContent)
  void mount(root, source, true)
  acceptDrops(root)
}

/** The part of the anywidget protocol that is used. */
interface WidgetModel {
  get(name: 'data'): EmbeddedData
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
