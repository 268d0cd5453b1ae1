import { parseAtUri } from '../../atproto/ids.ts'
import type { RefusedReason } from '../../indexer/validate/reasons.ts'
import { type Usable, usable } from '../../indexer/validate/usable.ts'
import type { RepositoryFacts, Stored } from '../../queue/facts.ts'
import { readIndexed } from './server-answers.ts'

/** Everything that one version of an answer brought. */
export interface Brought {
  records: readonly unknown[]
  gone: readonly string[]
}

/** A record as it was taken from an answer, kept so that it is not held against its lexicon again. */
export type Taken = ReadonlyMap<string, Stored<unknown> & { usable: Usable }>

/**
 * The facts that a server's records make: each is held against everything that it must be by itself (REC-3), since what stands in an index is another's word.
 * `before` are those of the version before. Undefined when the repository's own record is not among them.
 */
export function factsOf(
  repo: string,
  brought: Brought,
  before: Taken,
): { facts: RepositoryFacts; taken: Taken; refused: ReadonlyMap<RefusedReason | 'malformed', number> } | undefined {
  const taken = new Map<string, Stored<unknown> & { usable: Usable }>()
  const refused = new Map<RefusedReason | 'malformed', number>()
  for (const entry of brought.records) {
    const record = take(entry, before)
    if (typeof record === 'string') refused.set(record, (refused.get(record) ?? 0) + 1)
    else taken.set(record.uri, record)
  }
  const all = [...taken.values()]
  const repos = new Map(pick(all, record => (record.kind === 'repo' ? record.value : undefined)).map(record => [record.uri, record]))
  const own = repos.get(repo)
  if (own === undefined) return undefined
  const { transferredFrom, transferredTo } = own.value
  const facts: RepositoryFacts = {
    repo: own,
    transferredFrom: transferredFrom === undefined ? undefined : repos.get(transferredFrom),
    transferredTo: transferredTo === undefined ? undefined : repos.get(transferredTo.repo),
    refs: new Map(),
    pulls: pick(all, record => (record.kind === 'pull' ? record.value : undefined)),
    states: pick(all, record => (record.kind === 'state' ? record.value : undefined)),
    queue: pick(all, record => (record.kind === 'queue' ? record.value : undefined)),
    checks: [],
    landers: pick(all, record => (record.kind === 'lander' ? record.value : undefined)),
    gone: new Set(brought.gone),
    merges: new Map(),
    tips: new Map(),
  }
  return { facts, taken, refused }
}

function take(entry: unknown, before: Taken): (Stored<unknown> & { usable: Usable }) | RefusedReason | 'malformed' {
  const indexed = readIndexed(entry)
  if (indexed === undefined) return 'malformed'
  const { uri, cid, backfilled, value } = indexed
  const known = before.get(uri)
  if (known?.cid === cid) return known
  const at = parseAtUri(uri)
  if (at === undefined) return 'bad-address'
  const judged = usable(at, value, JSON.stringify(value))
  if (typeof judged === 'string') return judged
  return { uri, did: at.did, rkey: at.rkey, cid, value: judged.value, usable: judged, seenAt: Date.parse(indexed.seenAt), backfilled }
}

/** Records of one kind. */
function pick<T extends object>(
  all: readonly (Stored<unknown> & { usable: Usable })[],
  of: (record: Usable) => T | undefined,
): Stored<T>[] {
  return all.flatMap(({ usable: record, ...stored }) => {
    const value = of(record)
    return value === undefined ? [] : [{ ...stored, value }]
  })
}
