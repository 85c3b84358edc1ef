import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/**
 * Allowed imports between layers; each layer may import itself. Data is independent of screens, layout of
 * colours.
 */
const ALLOWED: Record<string, readonly string[]> = {
  // The colours that figures share.
  base: ['..'],
  data: ['base'],
  layout: ['base', 'data'],
  draw: ['base', 'data', 'layout'],
  views: ['base', 'data', 'layout', 'draw'],
  '.': ['base', 'data', 'layout', 'draw', 'views'],
}

/** Allowed packages by layer: only the views may use DOM libraries. */
const PACKAGES: Record<string, RegExp> = {
  views: /^(preact(\/.*)?|d3-[a-z]+)$/,
  '.': /^preact(\/.*)?$/,
}

const sources = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter(
  (path) => /\.tsx?$/.test(path) && !path.endsWith('.test.ts'),
)
const layerOf = (path: string): string => dirname(path).split('/')[0]!

test('each layer has sources', () => {
  expect([...new Set(sources.map(layerOf))].sort()).toEqual(Object.keys(ALLOWED).sort())
})

test.each(sources)('%s imports only allowed layers', (path) => {
  const layer = layerOf(path)
  const imports = [...readFileSync(join(ROOT, path), 'utf8').matchAll(/(?:from|import) '([^']+)'/g)].map(
    (match) => match[1]!,
  )
  const wrong = imports.filter((name) => {
    if (!name.startsWith('.')) return !PACKAGES[layer]?.test(name)
    const target = layerOf(relative(ROOT, normalize(join(ROOT, dirname(path), name))))
    return target !== layer && !ALLOWED[layer]!.includes(target)
  })
  expect(wrong).toEqual([])
})
