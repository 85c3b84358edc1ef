import { defineConfig } from 'vitest/config'

// One browser at a time: pages are heavy, and screenshots must not compete for the processor.
export default defineConfig({
  // See ../vite.config.ts.
  server: { host: '127.0.0.1' },
  test: {
    include: ['browser/**/*.browser.ts'],
    globalSetup: ['browser/setup.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
})
