/** How Vite hands over a thread of its own within the one script of the page. */
declare module '*?worker&inline' {
  const Thread: new () => Worker
  export default Thread
}
