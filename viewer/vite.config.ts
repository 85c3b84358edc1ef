import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const shipped = fileURLToPath(new URL('../python/odonata/viewer/static', import.meta.url))

// One script and one style sheet with fixed names: Python serves them, and inlines them into standalone
// pages.
export default defineConfig({
  base: './',
  // The tests start Vite's server, which would look up `localhost`; machines without /etc/hosts cannot.
  server: { host: '127.0.0.1' },
  build: {
    outDir: shipped,
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    rolldownOptions: {
      input: 'src/main.tsx',
      // The notebook imports the script and calls its default export.
      preserveEntrySignatures: 'strict',
      output: {
        codeSplitting: false,
        entryFileNames: 'viewer.js',
        assetFileNames: 'viewer[extname]',
      },
    },
  },
  test: {
    include: ['test/**/*.test.ts', 'src/**/*.test.ts'],
    environment: 'node',
    testTimeout: 60_000,
    // The tests change nothing outside of themselves; a process per file took half of the time.
    isolate: false,
  },
})
