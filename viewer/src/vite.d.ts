/** Vite's inline worker import. */
declare module '*?worker&inline' {
  const Thread: new () => Worker
  export default Thread
}

/** Style sheets, which the build collects. */
declare module '*.css'
