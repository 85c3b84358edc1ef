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

/**
 * Folders of `views`, each of which may import the earlier ones. Views do not import each other; `.` lists
 * them, and only the frame around them reads that list.
 */
const SHARED = ['session', 'tables', 'canvas', 'controls', 'picture', 'panels', 'export']
const ORDER = [...SHARED, 'view', '.', 'frame']
const orderOf = (path: string): number => {
  const folder = path.split('/').length > 2 ? path.split('/')[1]! : '.'
  return ORDER.indexOf(ORDER.includes(folder) ? folder : 'view')
}
/** The types of the settings follow from the lists of views and panels. */
const TYPES_ONLY = 'views/session/settings.ts'

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

/** Imported files from `src` on, and names of packages. */
const importsOf = (path: string): { file?: string; package?: string }[] =>
  [...readFileSync(join(ROOT, path), 'utf8').matchAll(/(?:from|import) '([^']+)'/g)].map(([, name]) =>
    name!.startsWith('.')
      ? { file: relative(ROOT, normalize(join(ROOT, dirname(path), name!))) }
      : { package: name! },
  )

test.each(sources)('%s imports only allowed layers', (path) => {
  const layer = layerOf(path)
  const wrong = importsOf(path).filter(({ file, package: name }) => {
    if (file === undefined) return !PACKAGES[layer]?.test(name!)
    return layerOf(file) !== layer && !ALLOWED[layer]!.includes(layerOf(file))
  })
  expect(wrong).toEqual([])
})

test.each(sources.filter((path) => layerOf(path) === 'views' && path !== TYPES_ONLY))(
  '%s imports only earlier folders of views',
  (path) => {
    const wrong = importsOf(path).filter(({ file }) => {
      if (file === undefined || layerOf(file) !== 'views' || dirname(file) === dirname(path)) return false
      const [mine, theirs] = [orderOf(path), orderOf(file)]
      return theirs > mine || (theirs === mine && ORDER[mine] === 'view')
    })
    expect(wrong).toEqual([])
  },
)

test('the settings import only types', () => {
  const lines = readFileSync(join(ROOT, TYPES_ONLY), 'utf8').match(/^import .*$/gm)!
  expect(lines.filter((line) => !line.startsWith('import type'))).toEqual([])
})
