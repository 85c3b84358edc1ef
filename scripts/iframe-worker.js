// Browsers start no worker from a page that was opened as a file. The search of the site then runs in a hidden frame, which offers a
// worker's names to its script.
if (location.protocol === 'file:') {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement('iframe')
      frame.hidden = true
      document.body.append(frame)
      const inside = frame.contentWindow
      inside.postMessage = (data) => this.answer(data)
      this.started = new Promise((resolve) => {
        const script = inside.document.createElement('script')
        script.src = new URL(url, document.baseURI).href
        script.onload = () => resolve(inside)
        inside.document.body.append(script)
      })
    }

    answer(data) {
      const event = new MessageEvent('message', { data })
      this.dispatchEvent(event)
      if (this.onmessage) this.onmessage(event)
    }

    postMessage(data) {
      this.started.then((inside) => inside.dispatchEvent(new inside.MessageEvent('message', { data })))
    }

    terminate() {}
  }
}
