/** Fresh reads laid over what an index knows: a record read at its source replaces its indexed copy (NOT-1, NOT-7). */
import type { GitFault, PullRecord, QueueRecord, RefsRecord, RepoRecord, RepositoryFacts, StateRecord, Stored } from './facts.ts'

/** What was read of one collection of one account. */
export interface FreshRead<T> {
  did: string
  records: readonly Stored<T>[]
  /** The smallest key that the read covers: an indexed record at or past it that was not read is deleted. Absent: the read covers all keys. */
  from?: string | undefined
}

/** Everything that was read. A part that could not be read is left out and adds nothing. */
export interface FreshReads {
  repo?: Stored<RepoRecord> | undefined
  /** The record at the other end of a transfer that `repo` names; null when it is not there. */
  transferredTo?: Stored<RepoRecord> | null | undefined
  /** Refs records by repository AT-URI; null for one that is not there. */
  refs?: ReadonlyMap<string, Stored<RefsRecord> | null> | undefined
  /** What is wrong with refs records that were read and are null here. */
  gitFaults?: ReadonlyMap<string, GitFault> | undefined
  /** Pulls by AT-URI; null for one that its account no longer has. */
  pulls?: ReadonlyMap<string, Stored<PullRecord> | null> | undefined
  queue?: readonly FreshRead<QueueRecord>[] | undefined
  states?: readonly FreshRead<StateRecord>[] | undefined
}

/** The facts with the fresh reads over them. Pure; gives new facts and changes neither argument. */
export function layOver(facts: RepositoryFacts, fresh: FreshReads): RepositoryFacts {
  const repo = fresh.repo === undefined ? facts.repo : firstSeen(fresh.repo, facts.repo)
  return {
    ...facts,
    repo,
    transferredTo: transferredTo(facts, fresh),
    refs: new Map(replaced([...facts.refs], fresh.refs)),
    pulls: replaced(
      facts.pulls.map(pull => [pull.uri, pull] as const),
      fresh.pulls,
    ).map(([, pull]) => pull),
    queue: covered(facts.queue, fresh.queue ?? []),
    states: covered(facts.states, fresh.states ?? []),
    gitFaults: faultsNow(facts.gitFaults, fresh),
  }
}

/** A record that the index had already keeps the time at which it was first seen (REC-9). */
function firstSeen<T>(fresh: Stored<T>, known: Stored<T> | undefined): Stored<T> {
  return known?.cid === fresh.cid ? known : fresh
}

function transferredTo(facts: RepositoryFacts, fresh: FreshReads): RepositoryFacts['transferredTo'] {
  if (fresh.transferredTo === undefined) return facts.transferredTo
  return fresh.transferredTo === null ? undefined : firstSeen(fresh.transferredTo, facts.transferredTo)
}

/** What was wrong with a git state that the index had says nothing of the one that was just read. */
function faultsNow(faults: RepositoryFacts['gitFaults'], { refs, gitFaults }: FreshReads): RepositoryFacts['gitFaults'] {
  return new Map([...[...(faults ?? [])].filter(([repo]) => refs?.has(repo) !== true), ...(gitFaults ?? [])])
}

function replaced<T>(
  known: readonly (readonly [string, Stored<T>])[],
  fresh: ReadonlyMap<string, Stored<T> | null> | undefined,
): [string, Stored<T>][] {
  const all = new Map(known)
  for (const [uri, record] of fresh ?? []) {
    if (record === null) all.delete(uri)
    else all.set(uri, firstSeen(record, all.get(uri)))
  }
  return [...all]
}

function covered<T>(known: readonly Stored<T>[], reads: readonly FreshRead<T>[]): Stored<T>[] {
  const from = new Map(reads.map(read => [read.did, read.from ?? '']))
  const indexed = new Map(known.map(record => [record.uri, record]))
  const kept = known.filter(record => {
    const start = from.get(record.did)
    return start === undefined || record.rkey < start
  })
  const fresh = reads.flatMap(read => read.records.map(record => firstSeen(record, indexed.get(record.uri))))
  return [...new Map([...kept, ...fresh].map(record => [record.uri, record])).values()]
}
