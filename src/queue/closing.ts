/** Which issues a landing closes: those that the landed messages name behind a closing keyword (LND-6). */
import { proseOf } from './prose.ts'

/** What one landed pull says: the message of its commit, as it landed. */
export interface LandedMessage {
  /** AT-URI of the pull. */
  pull: string
  message: string
}

/** An issue of the repository that is open. */
export interface KnownIssue {
  /** AT-URI. */
  uri: string
  /** Addresses of its page on known servers. */
  pages?: readonly string[] | undefined
}

/** An issue, and the pull that closes it. */
export interface Closing {
  issue: string
  pull: string
}

export interface Closings {
  /** To close in the landing's own call. */
  now: Closing[]
  /** Over the bounds: to close in the next pass, and to be said. */
  later: Closing[]
}

const MOST_PER_PULL = 20
const MOST_PER_LANDING = 100
/** Of a message so many characters are read; what is written for people is far below. */
const MOST_READ = 300_000
/** An issue is named by at least so many of the last characters of its key. */
const SHORTEST = 6

const KEYWORD = /(?<![\p{L}\p{N}\p{M}_\-/.@#])(?:close[sd]?|fix(?:es|ed)?|resolve[sd]?)(?![\p{L}\p{N}\p{M}_-])/giu
/** The end of bold letters, a colon, spaces and one line end may stand between the keyword and what it names. */
const BETWEEN = /\**:?\**[ \t]*(?:\n[ \t]*)?/y
const KEY = /#([a-z2-7]{6,13})(?![\p{L}\p{N}\p{M}_-])/uy
const ADDRESS = /(?:\[[^[\]\n]{1,300}\]\(|<)?((?:at|https?):\/\/[^\s<>()[\]"']{1,1000})/y

/**
 * The issues that these messages close, the first to land first, each once and by the first pull that names it. An issue is named by its AT-URI, by
 * the address of its page, or by `#` and at least the last 6 characters of its key, where no other known issue ends in them; each with a keyword of
 * its own right before it. Code, quotes and what is folded away name nothing.
 */
export function closedBy(messages: readonly LandedMessage[], issues: readonly KnownIssue[]): Closings {
  const find = finder(issues)
  const now = new Map<string, Closing>()
  const later = new Map<string, Closing>()
  for (const { pull, message } of messages) {
    let mine = 0
    for (const name of namedIn(message)) {
      const issue = find(name)
      if (issue === undefined || now.has(issue) || later.has(issue)) continue
      const fits = mine < MOST_PER_PULL && now.size < MOST_PER_LANDING
      if (fits) mine++
      ;(fits ? now : later).set(issue, { issue, pull })
    }
  }
  return { now: [...now.values()], later: [...later.values()] }
}

/** What stands behind closing keywords in a message's prose, in order: addresses, and ends of keys with their `#`. */
function namedIn(message: string): string[] {
  const prose = proseOf(message.slice(0, MOST_READ))
  const names: string[] = []
  for (const { 0: keyword, index } of prose.matchAll(KEYWORD)) {
    BETWEEN.lastIndex = index + keyword.length
    const between = BETWEEN.exec(prose)?.[0] ?? ''
    if (!/[\s:]$/.test(between)) continue
    const at = index + keyword.length + between.length
    KEY.lastIndex = at
    ADDRESS.lastIndex = at
    const key = KEY.exec(prose)?.[1]
    const address = ADDRESS.exec(prose)?.[1]?.replace(/[.,;:!?*_~]+$/, '')
    if (key !== undefined) names.push(`#${key}`)
    else if (address !== undefined) names.push(address)
  }
  return names
}

/** Finds the issue that a name means; undefined for none, and where it may mean several. */
function finder(issues: readonly KnownIssue[]): (name: string) => string | undefined {
  const byAddress = new Map<string, string>()
  for (const { uri, pages = [] } of issues) for (const address of [uri, ...pages]) byAddress.set(address, uri)
  const byEnd = Map.groupBy(new Set(issues.map(({ uri }) => uri)), uri => uri.slice(-SHORTEST))
  return name => {
    if (!name.startsWith('#')) return byAddress.get(name)
    const end = name.slice(1)
    const meant = byEnd.get(end.slice(-SHORTEST))?.filter(uri => uri.endsWith(end)) ?? []
    return meant.length === 1 ? meant[0] : undefined
  }
}
