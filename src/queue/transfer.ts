/** Which repository record governs, and which addresses name the repository (HON-4, REC-12). */
import type { RepoRecord, RepositoryFacts, Stored } from './facts.ts'
import { millis } from './runs.ts'
import { isTid, MAX_MILLIS, tidAt, tidMillis } from './tid.ts'

/** A record that governed until the repository moved. */
export interface Predecessor {
  record: Stored<RepoRecord>
  /** The key from which on the move holds. */
  moment: string
}

export interface Standing {
  /** The record that says who may what now. */
  governing: Stored<RepoRecord>
  predecessors: readonly Predecessor[]
  /** Every address that names this repository. */
  addresses: ReadonlySet<string>
  /** When a move that both sides declared, but for later, will hold; in milliseconds. */
  holdsAt?: number | undefined
}

/** Follows the moves that the facts tell of and that hold at `now` (milliseconds): one back and one on. */
export function readStanding(facts: Pick<RepositoryFacts, 'repo' | 'transferredFrom' | 'transferredTo'>, now: number): Standing {
  const { repo, transferredFrom, transferredTo } = facts
  const moves = [
    { from: transferredFrom, to: repo },
    { from: repo, to: transferredTo },
  ]
  const predecessors: Predecessor[] = []
  let governing = repo
  let holdsAt: number | undefined
  for (const { from, to } of moves) {
    const moment = from === undefined || to === undefined ? undefined : transferMoment(from, to)
    if (from === undefined || to === undefined || moment === undefined) continue
    const time = tidMillis(moment)
    if (time > now) {
      holdsAt = Math.min(time, holdsAt ?? time)
      continue
    }
    predecessors.push({ record: from, moment })
    if (from === repo) governing = to
  }
  const addresses = new Set([repo.uri, governing.uri, ...predecessors.map(({ record }) => record.uri)])
  return { governing, predecessors, addresses, ...(holdsAt === undefined ? {} : { holdsAt }) }
}

/**
 * The key from which on a repository has moved; undefined unless both records say that it did. The old record names a key; the new one
 * says only since when it exists, and a move is not older than the record that it led to.
 */
export function transferMoment(from: Stored<RepoRecord>, to: Stored<RepoRecord>): string | undefined {
  const move = from.value.transferredTo
  if (move === undefined || move.repo !== to.uri || to.value.transferredFrom !== from.uri || !isTid(move.at)) return undefined
  const made = millis(to.value.createdAt)
  if (made === undefined || made < 0 || made > MAX_MILLIS) return undefined
  return tidMillis(move.at) >= made ? move.at : tidAt(made)
}
