/** The focus: what the user clicked or searched for. Names are valid across runs. */
import { directionsOf, findDirection, runsIn } from './direction'
import type { Run } from './run'

export interface Focus {
  readonly kind: 'group' | 'pair' | 'router' | 'node' | 'link' | 'job' | 'direction'
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

const NOTHING = { group: -1, toGroup: -1, router: -1, node: -1, link: -1, job: -1, mask: null }

/** Null if this run has no such thing. */
export function resolveFocus(run: Run, text: string): Focus | null {
  const colon = text.indexOf(':')
  if (colon < 0) return null
  const [kind, name] = [text.slice(0, colon), text.slice(colon + 1)]
  const { source, target } = run.links
  const { group } = run.routers
  switch (kind) {
    case 'group': {
      const g = Number(name)
      if (!Number.isInteger(g) || g < 0 || g >= run.routers.groups) return null
      return {
        ...NOTHING,
        kind,
        text,
        group: g,
        mask: mask(run, (l) => group[source[l]!] === g || group[target[l]!] === g),
      }
    }
    case 'pair': {
      const [from, to] = name.split('>').map(Number) as [number, number]
      if (!(from < run.routers.groups && to < run.routers.groups)) return null
      return {
        ...NOTHING,
        kind,
        text,
        group: from,
        toGroup: to,
        mask: mask(run, (l) => group[source[l]!] === from && group[target[l]!] === to),
      }
    }
    case 'router': {
      const router = namesOf(run).routers.get(name)
      if (router === undefined) return null
      return {
        ...NOTHING,
        kind,
        text,
        router,
        group: group[router]!,
        mask: mask(run, (l) => source[l] === router || target[l] === router),
      }
    }
    case 'node': {
      const node = namesOf(run).nodes().get(name)
      if (node === undefined) return null
      const router = run.nodes.router[node]!
      return {
        ...NOTHING,
        kind,
        text,
        node,
        router,
        group: group[router]!,
        mask: mask(run, (l) => source[l] === router || target[l] === router),
      }
    }
    case 'link': {
      const link = findLink(run, name)
      return link < 0 ? null : { ...NOTHING, kind, text, link }
    }
    case 'job': {
      const job = Number(name)
      if (!run.jobs.some((j) => j.job === job)) return null
      return { ...NOTHING, kind, text, job }
    }
    case 'direction': {
      const direction = findDirection(run, name)
      if (!direction) return null
      return { ...NOTHING, kind, text, mask: mask(run, (l) => runsIn(run, l, direction)) }
    }
    default:
      return null
  }
}

function mask(run: Run, keep: (link: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: run.links.count }, (_, l) => (keep(l) ? 1 : 0))
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
export interface Translation {
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
export function findLink(run: Run, name: string): number {
  const match = /^(.*)>(.*):(.*)\.(\d+)$/.exec(name)
  if (!match) return -1
  const { routers } = namesOf(run)
  const [source, target] = [routers.get(match[1]!), routers.get(match[2]!)]
  const [code, parallel] = [run.links.classes.indexOf(match[3]!), Number(match[4])]
  if (source === undefined || target === undefined || code < 0) return -1
  for (let l = 0; l < run.links.count; l++)
    if (
      run.links.source[l] === source &&
      run.links.target[l] === target &&
      run.links.class[l] === code &&
      run.links.parallel[l] === parallel
    )
      return l
  return -1
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
  const { names } = run.routers
  const found: SearchResult[] = []
  const sources = new Set<number>()
  for (const [name, r] of namesOf(run).routers) if (name.toLowerCase() === from!.trim()) sources.add(r)
  for (let l = 0; l < run.links.count && found.length < limit; l++) {
    if (!sources.has(run.links.source[l]!)) continue
    const { links } = run
    const label = `${names.at(links.source[l]!)}>${names.at(links.target[l]!)}:${links.classes[links.class[l]!]}.${links.parallel[l]}`
    if (
      label
        .toLowerCase()
        .slice(from!.length + 1)
        .startsWith(rest.trim())
    )
      found.push({ focus: `link:${label}`, label, kind: 'link' })
  }
  return found
}
