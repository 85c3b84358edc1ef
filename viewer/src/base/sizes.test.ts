import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const LONGEST_FILE = 500
/** Limit for files below src. */
const LONGEST_SOURCE = 400
const LONGEST_FUNCTION = 80

const files = ['src', 'test', 'browser'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(tsx?|css)$/.test(path))
    .map((path) => join(folder, path)),
)

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** Functions that are still too long, with their allowed length. Only shorten this list. */
const LONG_FUNCTIONS: Record<string, number> = {
  'src/views/controls/distribution.tsx Distribution': 103,
  'src/views/panels/matrices/matrices.tsx MatricesView': 108,
}

/** Functions, methods and functions assigned to a name, with their line counts. */
function functionsOf(path: string, text: string): { name: string; lines: number }[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true)
  const found: { name: string; lines: number }[] = []
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line
  const visit = (node: ts.Node) => {
    const value = ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node) ? node.initializer : node
    if (value && ts.isFunctionLike(value) && 'body' in value && (value !== node || !isNameless(value))) {
      const name = (node as { name?: ts.Node }).name?.getText() ?? 'constructor'
      found.push({ name, lines: lineAt(node.end) - lineAt(node.getStart()) + 1 })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

const isNameless = (node: ts.Node) => ts.isArrowFunction(node) || ts.isFunctionExpression(node)

test('functions of every kind are measured', () => {
  const text = [
    'export const arrow = (a: number) =>',
    '  a + 1',
    'class A {',
    '  constructor() {',
    '    const inner = function () {',
    '      return 1',
    '    }',
    '    inner()',
    '  }',
    '  method() {}',
    '}',
    'function plain(call: () => void) {',
    '  call()',
    '}',
  ].join('\n')
  const lines = Object.fromEntries(functionsOf('a.ts', text).map((f) => [f.name, f.lines]))
  expect(lines).toEqual({ arrow: 2, constructor: 6, inner: 3, method: 1, plain: 3 })
})

test.each(files)(`%s has at most ${LONGEST_SOURCE} lines in src, else ${LONGEST_FILE}`, (path) => {
  const most = path.startsWith('src') ? LONGEST_SOURCE : LONGEST_FILE
  expect(read(path).trimEnd().split('\n').length).toBeLessThanOrEqual(most)
})

test(`no function has more than ${LONGEST_FUNCTION} lines, except the listed ones`, () => {
  const long = files
    .filter((path) => !path.endsWith('.css'))
    .flatMap((path) => functionsOf(path, read(path)).map((f) => ({ ...f, name: `${path} ${f.name}` })))
    .filter((f) => f.lines > LONGEST_FUNCTION)
  expect(long.map((f) => f.name).sort()).toEqual(Object.keys(LONG_FUNCTIONS))
  expect(long.filter((f) => f.lines > LONG_FUNCTIONS[f.name]!)).toEqual([])
})
