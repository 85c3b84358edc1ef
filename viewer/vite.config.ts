import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const shipped = fileURLToPath(new URL('../python/odonata/viewer/static', import.meta.url))

// One script, one style sheet, fixed names: the Python side serves them, and inlines them into the standalone page.
export default defineConfig({
  base: './',
  // The tests start Vite's server, which else looks `localhost` up; a machine without /etc/hosts does not know it.
  server: { host: '127.0.0.1' },
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  build: {
    outDir: shipped,
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    rollupOptions: {
      input: 'src/main.tsx',
      // The notebook imports the script and calls what it exports.
      preserveEntrySignatures: 'strict',
      output: {
        inlineDynamicImports: true,
        entryFileNames: 'viewer.js',
        assetFileNames: 'viewer[extname]',
      },
    },
  },
  test: { include: ['test/**/*.test.ts', 'src/**/*.test.ts'], environment: 'node', testTimeout: 60_000 },
})
