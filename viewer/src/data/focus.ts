/** The focus: what the user clicked or searched for. Names are valid across runs. */
import { counted } from '../base/format'
import { directionsOf, findDirection, runsIn } from './direction'
import { jobAt, linkName, type Run } from './run'

export interface Focus {
  readonly kind:
    'group' | 'pair' | 'router' | 'node' | 'link' | 'job' | 'class' | 'direction' | 'links' | 'routers'
  readonly text: string
  readonly group: number
  readonly toGroup: number
  readonly router: number
  readonly node: number
  readonly link: number
  readonly job: number
  /** 1 for each link that stays visible; null if the focus only marks something. */
  readonly mask: Uint8Array | null
}

const NOTHING = { group: -1, toGroup: -1, router: -1, node: -1, link: -1, job: -1 }

/** The focus after a choice; the same choice again clears it. */
export const toggleFocus = (now: string, chosen: string): string => (chosen === now ? '' : chosen)

const encode = (name: string): string => name.replaceAll('%', '%25').replaceAll(',', '%2C')
const decode = (text: string): string => text.replaceAll('%2C', ',').replaceAll('%25', '%')

/** A focus on several links or routers. */
export const focusList = (kind: 'links' | 'routers', names: readonly string[]): string =>
  `${kind}:${names.map(encode).join(',')}`

/** A focus as read by a person; of a list, its length. */
export function focusText(focus: string): string {
  const [kind, names = ''] = focus.split(/:(.*)/s)
  return kind === 'links' || kind === 'routers'
    ? counted(names.split(',').length, kind.slice(0, -1))
    : `${kind} ${names}`
}

/** Null if this run has no such thing. */
export function resolveFocus(run: Run, text: string): Focus | null {
  const colon = text.indexOf(':')
  if (colon < 0) return null
  const [kind, name] = [text.slice(0, colon) as Focus['kind'], text.slice(colon + 1)]
  const { source, target } = run.links
  const { group, groups } = run.routers
  const found = (fields: Partial<Focus>, keep?: (link: number) => boolean): Focus => {
    const mask = keep ? Uint8Array.from({ length: run.links.count }, (_, l) => (keep(l) ? 1 : 0)) : null
    return { ...NOTHING, kind, text, mask, ...fields }
  }
  const at = (router: number, node = -1): Focus =>
    found({ router, node, group: group[router]! }, (l) => source[l] === router || target[l] === router)
  switch (kind) {
    case 'group': {
      const g = Number(name)
      if (!Number.isInteger(g) || g < 0 || g >= groups) return null
      return found({ group: g }, (l) => group[source[l]!] === g || group[target[l]!] === g)
    }
    case 'pair': {
      const [from, to] = name.split('>').map(Number) as [number, number]
      if (!(from < groups && to < groups)) return null
      const keep = (l: number): boolean => group[source[l]!] === from && group[target[l]!] === to
      return found({ group: from, toGroup: to }, keep)
    }
    case 'router': {
      const router = namesOf(run).routers.get(name)
      return router === undefined ? null : at(router)
    }
    case 'node': {
      const node = namesOf(run).nodes().get(name)
      return node === undefined ? null : at(run.nodes.router[node]!, node)
    }
    case 'link': {
      const link = findLink(run, name)
      return link < 0 ? null : found({ link })
    }
    case 'job': {
      const job = Number(name)
      return jobAt(run, job) ? found({ job }) : null
    }
    case 'class': {
      const code = run.links.classes.indexOf(name)
      return code < 0 ? null : found({}, (l) => run.links.class[l] === code)
    }
    case 'direction': {
      const direction = findDirection(run, name)
      return direction ? found({}, (l) => runsIn(run, l, direction)) : null
    }
    case 'links': {
      const wanted = findLinks(run, name.split(',').map(decode))
      return wanted.size === 0 ? null : found({}, (l) => wanted.has(l))
    }
    case 'routers': {
      const { routers } = namesOf(run)
      const wanted = new Set(name.split(',').map((one) => routers.get(decode(one))))
      wanted.delete(undefined)
      return wanted.size === 0 ? null : found({}, (l) => wanted.has(source[l]) || wanted.has(target[l]))
    }
    default:
      return null
  }
}

interface Names {
  readonly routers: Map<string, number>
  nodes(): Map<string, number>
}

/** By routers (shared by all views of a run). */
const known = new WeakMap<Run['routers'], Names>()

export function namesOf(run: Run): Names {
  let names = known.get(run.routers)
  if (!names) {
    let nodes: Map<string, number> | undefined
    const index = (list: string[]): Map<string, number> => new Map(list.map((name, i) => [name, i]))
    names = {
      routers: index(run.routers.names.toArray()),
      nodes: () => (nodes ??= index(run.nodes.names.toArray())),
    }
    known.set(run.routers, names)
  }
  return names
}

/**
 * Maps the numbers of one run to another by name. The same cable has another number if the machine's cables
 * differ.
 */
interface Translation {
  /** -1 if the other run has no such router or link. */
  router(router: number): number
  link(link: number): number
}

const translations = new WeakMap<Run['links'], WeakMap<Run['links'], Translation>>()

export function translation(from: Run, to: Run): Translation {
  if (from.links === to.links) return { router: (r) => r, link: (l) => l }
  let known = translations.get(from.links)
  if (!known) translations.set(from.links, (known = new WeakMap()))
  let found = known.get(to.links)
  if (!found) known.set(to.links, (found = makeTranslation(from, to)))
  return found
}

function makeTranslation(from: Run, to: Run): Translation {
  const { routers } = namesOf(to)
  const router = (r: number): number => routers.get(from.routers.names.at(r)) ?? -1
  const key = (run: Run, l: number, source: number, target: number): string =>
    `${source},${target},${run.links.classes[run.links.class[l]!]},${run.links.parallel[l]}`
  // Built on first use: it takes 0.1 s for 10^5 links, and only comparisons need it.
  let index: Map<string, number> | undefined
  return {
    router,
    link: (l) => {
      if (!index) {
        index = new Map()
        for (let k = 0; k < to.links.count; k++)
          index.set(key(to, k, to.links.source[k]!, to.links.target[k]!), k)
      }
      const [s, t] = [router(from.links.source[l]!), router(from.links.target[l]!)]
      return s < 0 || t < 0 ? -1 : (index.get(key(from, l, s, t)) ?? -1)
    },
  }
}

/** Link number of `g0r0c0>g0r0c1:green.0`, -1 if none. */
export const findLink = (run: Run, name: string): number => [...findLinks(run, [name])][0] ?? -1

/** Numbers of the links that exist. */
export function findLinks(run: Run, names: readonly string[]): Set<number> {
  const { routers } = namesOf(run)
  const { classes, class: classOf, source, target, parallel, count } = run.links
  const key = (source: number, target: number): number => source * run.routers.count + target
  /** Class and cable of the wanted links between two routers. */
  const wanted = new Map<number, string[]>()
  for (const name of names) {
    const match = /^(.*)>(.*):(.*)\.(\d+)$/.exec(name)
    const [from, to] = [routers.get(match?.[1] ?? ''), routers.get(match?.[2] ?? '')]
    if (!match || from === undefined || to === undefined) continue
    const between = wanted.get(key(from, to))
    const cable = `${classes.indexOf(match[3]!)}.${Number(match[4])}`
    if (between) between.push(cable)
    else wanted.set(key(from, to), [cable])
  }
  const found = new Set<number>()
  if (wanted.size === 0) return found
  for (let l = 0; l < count; l++)
    if (wanted.get(key(source[l]!, target[l]!))?.includes(`${classOf[l]!}.${parallel[l]!}`)) found.add(l)
  return found
}

export interface SearchResult {
  readonly focus: string
  readonly label: string
  readonly kind: string
}

/** Search results, exact names first, at most `limit`. */
export function search(run: Run, text: string, limit = 12): SearchResult[] {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return []
  const found: SearchResult[] = []
  const groupNumber = /^g(?:roup)?\s*(\d+)$/.exec(wanted)?.[1] ?? /^(\d+)$/.exec(wanted)?.[1]
  if (groupNumber !== undefined && Number(groupNumber) < run.routers.groups)
    found.push({
      focus: `group:${Number(groupNumber)}`,
      label: `group ${Number(groupNumber)}`,
      kind: 'group',
    })
  for (const job of run.jobs)
    if (job.name.toLowerCase().includes(wanted))
      found.push({ focus: `job:${job.job}`, label: job.name, kind: 'job' })
  for (const name of run.links.classes)
    if (name.toLowerCase().startsWith(wanted))
      found.push({ focus: `class:${name}`, label: `${name} links`, kind: 'class' })
  const nodeNumber = Number(/^(?:node\s*|n\s*|nid\s*)?(\d+)$/.exec(wanted)?.[1] ?? NaN)
  if (nodeNumber < run.nodes.count) {
    const name = run.nodes.names.at(nodeNumber)
    found.push({ focus: `node:${name}`, label: `node ${nodeNumber}: ${name}`, kind: 'node' })
  }
  for (const { name } of directionsOf(run))
    if (name.toLowerCase().startsWith(wanted.replace(/-$/, '−')))
      found.push({ focus: `direction:${name}`, label: name, kind: 'links' })
  if (wanted.includes('>')) return [...found, ...searchLinks(run, wanted, limit)].slice(0, limit)
  const byLength = (a: string, b: string): number => a.length - b.length
  for (const [kind, names] of [
    ['router', namesOf(run).routers],
    ['node', namesOf(run).nodes()],
  ] as const) {
    const matches: string[] = []
    for (const name of names.keys()) {
      if (name.toLowerCase().startsWith(wanted)) matches.push(name)
      if (matches.length >= 200) break
    }
    found.push(
      ...matches
        .sort(byLength)
        .slice(0, kind === 'router' ? 6 : limit)
        .map((name) => ({ focus: `${kind}:${name}`, label: name, kind })),
    )
  }
  return found.slice(0, limit)
}

function searchLinks(run: Run, wanted: string, limit: number): SearchResult[] {
  const [from, rest = ''] = wanted.split('>')
  const found: SearchResult[] = []
  const sources = new Set<number>()
  for (const [name, r] of namesOf(run).routers) if (name.toLowerCase() === from!.trim()) sources.add(r)
  for (let l = 0; l < run.links.count && found.length < limit; l++) {
    if (!sources.has(run.links.source[l]!)) continue
    const label = linkName(run, l)
    const end = label.toLowerCase().slice(from!.length + 1)
    if (end.startsWith(rest.trim())) found.push({ focus: `link:${label}`, label, kind: 'link' })
  }
  return found
}
