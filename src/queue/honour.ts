/** Whose records count, and until when (HON-1 to HON-6). */
import type { RepoRecord, Stored } from './facts.ts'
import type { Position } from './positions.ts'
import type { Standing } from './transfer.ts'
import type { IgnoredReason, Roles } from './view.ts'

/** What a record does to a pull. */
export type Deed = 'queued' | 'left' | 'ejected' | 'open' | 'closed' | 'merged'

/** As whom its writer may do it; `author` is the pull's own author, who is neither owner nor collaborator (HON-6). */
export type Ground = 'maintainer' | 'runner' | 'former' | 'author'

/** Whether a record counts: as what, or why not. */
export type Verdict = { ground: Ground } | { ignored: IgnoredReason }

export interface Honour {
  /** Judges what the account at this position did to a pull of `author`. */
  judge(deed: Deed, at: Position, author: string): Verdict
}

/** Keys up to which a former account's records take a pull out; an absent one takes out nothing. */
interface Former {
  collaboratorUntil?: string
  runnerUntil?: string
  /** Keys up to this one count for nothing. */
  voidUntil?: string
}

const RUNNER_DEEDS: ReadonlySet<Deed> = new Set(['ejected', 'merged', 'closed'])
const TAKES_OUT: ReadonlySet<Deed> = new Set(['left', 'ejected', 'closed', 'merged'])

/** The judge of a repository's records, from its record and those that governed before it. */
export function createHonour(standing: Standing, roles: Roles): Honour {
  const former = readFormer(standing)
  const owners = standing.predecessors.map(({ record, moment }) => ({ did: record.did, moment }))

  function byRole(deed: Deed, at: Position): Verdict {
    const past = former.get(at.did)
    if (past?.voidUntil !== undefined && at.rkey <= past.voidUntil) return { ignored: 'void' }
    if (roles.mayMerge(at.did)) return { ground: 'maintainer' }
    const owned = owners.find(owner => owner.did === at.did)
    // HON-4 is for owners that left in peace: one that was made void has only what a stranger has.
    if (owned !== undefined && at.rkey < owned.moment && past?.voidUntil === undefined) return { ground: 'maintainer' }
    if (roles.namedRunner(at.did) && RUNNER_DEEDS.has(deed)) return { ground: 'runner' }
    if (upTo(past?.collaboratorUntil, at) && TAKES_OUT.has(deed)) return { ground: 'former' }
    if (upTo(past?.runnerUntil, at) && RUNNER_DEEDS.has(deed)) return { ground: 'former' }
    if (roles.namedRunner(at.did)) return { ignored: 'runner-may-not' }
    if (past?.voidUntil !== undefined) return { ignored: 'void' }
    return { ignored: past === undefined && owned === undefined ? 'stranger' : 'not-while-named' }
  }

  return {
    judge(deed, at, author) {
      const verdict = byRole(deed, at)
      if ('ground' in verdict || at.did !== author || (deed !== 'open' && deed !== 'closed')) return verdict
      return { ground: 'author' }
    },
  }
}

function upTo(until: string | undefined, at: Position): boolean {
  return until !== undefined && at.rkey <= until
}

/** HON-5: who was taken out, by the governing record and, for keys before the move, by the one that it took over from. */
function readFormer(standing: Standing): ReadonlyMap<string, Former> {
  const former = new Map<string, Former>()
  for (const { record, moment } of standing.predecessors) addPredecessor(former, record, moment)
  const entries = standing.governing.value.former ?? []
  for (const { did, void: isVoid } of entries) if (isVoid === true) former.delete(did)
  for (const { did, role, until, void: isVoid } of entries) {
    if (isVoid === true) update(former, did, past => ({ ...past, voidUntil: later(past.voidUntil, until) }))
    else takenOut(former, did, role, until)
  }
  return former
}

/** What those that an earlier record names took out before the move goes on counting: they were allowed when they wrote it. */
function addPredecessor(former: Map<string, Former>, record: Stored<RepoRecord>, moment: string): void {
  const { collaborators, runners, former: past = [] } = record.value
  for (const { did } of collaborators) takenOut(former, did, 'collaborator', moment)
  for (const { did } of runners) takenOut(former, did, 'runner', moment)
  for (const { did, role, until, void: isVoid } of past) {
    if (isVoid !== true) takenOut(former, did, role, until < moment ? until : moment)
  }
}

/** A role that is not known reads as collaborator, whose records take out the most: nothing comes back in by a word. */
function takenOut(former: Map<string, Former>, did: string, role: string, until: string): void {
  update(former, did, past =>
    role === 'runner'
      ? { ...past, runnerUntil: later(past.runnerUntil, until) }
      : { ...past, collaboratorUntil: later(past.collaboratorUntil, until) },
  )
}

function update(former: Map<string, Former>, did: string, change: (past: Former) => Former): void {
  former.set(did, change(former.get(did) ?? {}))
}

function later(a: string | undefined, b: string): string {
  return a === undefined || b > a ? b : a
}
