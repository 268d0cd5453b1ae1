/** Addresses of pages. What people named is encoded part by part, so that a path holds nothing but its own slashes. */
import type { Account } from './models.ts'

const plain = /^[\w.~:-]+$/

function part(text: string): string {
  if (plain.test(text)) return text
  return encodeURIComponent(text.toWellFormed()).replaceAll('%3A', ':')
}

/** Branches keep their slashes. */
function branchPart(branch: string): string {
  return branch.split('/').map(part).join('/')
}

/** What an account is called in paths and on pages: its handle, else its DID. */
export function accountName(account: Account): string {
  return account.handle ?? account.did
}

/** A repository as people write it: alice.test/orchard. */
export function repositoryName(owner: Account, name: string): string {
  return `${accountName(owner)}/${name}`
}

/** The repositories of an account. */
export function accountPath(account: Account): string {
  return `/?q=${part(accountName(account))}`
}

export function repositoryPath(owner: Account, name: string): string {
  return `/${part(accountName(owner))}/${part(name)}`
}

export function queuePath(owner: Account, name: string, branch: string): string {
  return `${repositoryPath(owner, name)}/queue/${branchPart(branch)}`
}

/** The page of a pull; `uri` is its AT-URI, `author` whose account it lies in. */
export function pullPath(owner: Account, name: string, author: Account, uri: string): string {
  return pullPathIn(repositoryPath(owner, name), author, uri)
}

/** The same from the path of its repository. */
export function pullPathIn(repository: string, author: Account, uri: string): string {
  const key = uri.slice(uri.lastIndexOf('/') + 1)
  return `${repository}/pulls/${part(accountName(author))}/${part(key)}`
}

/** The page of a run from the path of its repository; `uri` is its AT-URI, `runner` whose account it lies in. */
export function checkPathIn(repository: string, runner: Account, uri: string): string {
  const key = uri.slice(uri.lastIndexOf('/') + 1)
  return `${repository}/checks/${part(accountName(runner))}/${part(key)}`
}

/** The page of a batch from the path of its repository; `tip` is its commit. */
export function batchPathIn(repository: string, tip: string): string {
  return `${repository}/batches/${part(tip)}`
}

/** The figures of a repository's queues; CSV and JSON of the same at this path with `.csv` and `.json`. */
export function statsPathIn(repository: string): string {
  return `${repository}/stats`
}

/** What happened on a branch, as an Atom feed. */
export function feedPathIn(repository: string, branch: string): string {
  return `${repository}/atom/${branchPart(branch)}`
}

/** How a branch's queue does, as an SVG badge. */
export function badgePathIn(repository: string, branch: string): string {
  return `${repository}/badge/${branchPart(branch)}`
}

/** A record as this server knows it, by its AT-URI. */
export function recordPath(uri: string): string {
  return `/at/${uri
    .replace(/^at:\/\//, '')
    .split('/')
    .map(part)
    .join('/')}`
}

/** Where to log in and come back to `next`, a path on this server. */
export function loginPath(next: string): string {
  return next === '/' ? '/login' : `/login?next=${encodeURIComponent(next)}`
}

/** A path with some of its query parameters set or, by `undefined`, left out. It begins with one slash: with two it would be another host. */
export function withQuery(path: string, changes: Record<string, string | undefined>): string {
  const url = new URL(`http://localhost/${path.replace(/^[/\\]+/, '')}`)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') url.searchParams.delete(name)
    else url.searchParams.set(name, value)
  }
  return url.pathname.replace(/^\/+/, '/') + url.search
}

/**
 * A name for an element made from a record's AT-URI: one per record, of letters, digits, `-` and `_` only. Keys alone will not do, since two
 * accounts may use the same one.
 */
export function idOf(uri: string): string {
  const [, did = '', key = ''] = /^at:\/\/([^/]+)\/[^/]+\/(.+)$/.exec(uri) ?? ['', '', uri]
  const plc = /^did:plc:([a-z2-7]{24})$/.exec(did)?.[1]
  return `${escaped(key)}-${plc ?? escaped(`_${did}`)}`
}

function escaped(text: string): string {
  return text.replace(/[^A-Za-z0-9-]/g, char => `_${(char.codePointAt(0) ?? 0).toString(16)}_`)
}
