/** Edits of who a repository names (HON-1, HON-3, HON-5, REC-11, WHO-2). */
import type { RepoRecord } from './facts.ts'
import type { EditContext, Edited } from './repo-edit.ts'
import * as words from './words/repo-settings.ts'

export type Role = 'collaborator' | 'runner'

/** How many of each a repository may name (REC-11), and how many accounts that were taken out it remembers. */
export const mostNamed = { collaborator: 100, runner: 10 } as const
export const mostFormer = 1_000

export interface NameAccount {
  role: Role
  did: RepoRecord['collaborators'][number]['did']
  /** Whom the form showed in this role. */
  was?: readonly string[] | undefined
}

/** One place up or down: past `neighbour`, who stood there when the form was made. */
export interface MoveRunner {
  did: string
  neighbour: string
  up: boolean
}

export interface VoidAccount {
  did: string
  /** As `formerOf` gave it when the form was made. */
  was: string
}

/** Names an account at the end of its list. */
export function addAccount(record: RepoRecord, { role, did, was }: NameAccount, ctx: EditContext): Edited {
  if (role === 'collaborator' && did === ctx.owner) return { kind: 'refused', refusal: words.ownAccount(did) }
  const listed = listOf(record, role)
  const isNamed = named(listed, did)
  // A form that is sent again, as its answer was lost, finds what it wrote.
  if (isNamed)
    return ctx.same || was?.includes(did) === true ? { kind: 'refused', refusal: words.namedAlready(did, role) } : { kind: 'already' }
  if (!ctx.same && was?.includes(did) !== false) return { kind: 'changed', refusal: words.takenOutMeanwhile(did, role) }
  if (listed.length >= mostNamed[role]) return { kind: 'refused', refusal: words.tooMany(role, mostNamed[role]) }
  return { kind: 'write', record: withAdded(record, role, did) }
}

/** Takes an account out, and keeps in `former` until when what it took out of the queue counts (HON-5). */
export function removeAccount(record: RepoRecord, { role, did, was }: NameAccount, ctx: EditContext): Edited {
  const listed = listOf(record, role)
  if (!named(listed, did)) return { kind: 'already' }
  if (!ctx.same && was?.includes(did) !== true) return { kind: 'changed', refusal: words.namedMeanwhile(did, role) }
  const former = record.former ?? []
  if (former.length >= mostFormer) return { kind: 'refused', refusal: words.tooManyFormer(mostFormer) }
  const until = ctx.until({ did, role })
  return { kind: 'write', record: { ...without(record, role, did), former: [...former, { did, role, until }] } }
}

/** Order decides who lands (WHO-2, WHO-7). */
export function moveRunner(record: RepoRecord, { did, neighbour, up }: MoveRunner): Edited {
  const runners = record.runners.filter((entry, at, all) => all.findIndex(other => other.did === entry.did) === at)
  const from = runners.findIndex(entry => entry.did === did)
  const to = runners.findIndex(entry => entry.did === neighbour)
  const step = up ? -1 : 1
  const [moved, passed] = [runners[from], runners[to]]
  if (moved !== undefined && passed !== undefined && from === to + step) return { kind: 'already' }
  if (moved === undefined || passed === undefined || to !== from + step) return { kind: 'changed', refusal: words.orderChanged() }
  const next = runners.map((entry, at) => (at === from ? passed : at === to ? moved : entry))
  return { kind: 'write', record: { ...record, runners: next } }
}

/** What stands of an account in `former`, in one line: what a form that makes it void was made from. */
export function formerOf(record: RepoRecord, did: string): string {
  return (record.former ?? [])
    .filter(entry => entry.did === did)
    .map(entry => `${entry.role}:${entry.until}`)
    .join(' ')
}

/** HON-5: from here on nothing counts that the account wrote up to when it was taken out. */
export function voidAccount(record: RepoRecord, { did, was }: VoidAccount, ctx: EditContext): Edited {
  const entries = (record.former ?? []).filter(entry => entry.did === did)
  if (entries.length === 0 || (!ctx.same && formerOf(record, did) !== was)) return { kind: 'changed', refusal: words.formerChanged(did) }
  if (entries.every(entry => entry.void === true)) return { kind: 'already' }
  return { kind: 'write', record: withVoid(record, did) }
}

/** The record with all that is remembered of an account made void. */
export function withVoid(record: RepoRecord, did: string): RepoRecord {
  return { ...record, former: (record.former ?? []).map(entry => (entry.did === did ? { ...entry, void: true } : entry)) }
}

function listOf(record: RepoRecord, role: Role): readonly { did: string }[] {
  return role === 'collaborator' ? record.collaborators : record.runners
}

function withAdded(record: RepoRecord, role: Role, did: NameAccount['did']): RepoRecord {
  if (role === 'collaborator') return { ...record, collaborators: [...record.collaborators, { did }] }
  return { ...record, runners: [...record.runners, { did }] }
}

function without(record: RepoRecord, role: Role, did: string): RepoRecord {
  const isOther = (entry: { did: string }) => entry.did !== did
  if (role === 'collaborator') return { ...record, collaborators: record.collaborators.filter(isOther) }
  return { ...record, runners: record.runners.filter(isOther) }
}

function named(list: readonly { did: string }[], did: string): boolean {
  return list.some(entry => entry.did === did)
}
