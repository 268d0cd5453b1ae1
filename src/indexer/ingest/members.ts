/** Who a repository names, as rows: for finding what concerns an account, and for telling which pulls are settled for certain. */
import type { RepoRecord, Stored } from '../../queue/facts.ts'
import { tidMillis } from '../../queue/tid.ts'
import { transferMoment } from '../../queue/transfer.ts'
import type { MemberTable } from '../schema.ts'

type Member = Omit<MemberTable, 'repo'>

/** The records that govern a repository, one after the other, with the key from which the next one does. */
export interface Governing {
  record: Stored<RepoRecord>
  predecessors: readonly { record: Stored<RepoRecord>; moment: string }[]
}

/** The moves that hold at `now` around a repository's record (HON-4); `pendingAt`: when one that both sides tell of will. */
export function governing(
  repo: Stored<RepoRecord>,
  at: (uri: string) => Stored<RepoRecord> | undefined,
  now: number,
): Governing & { movedTo?: string; pendingAt?: number } {
  const { transferredFrom, transferredTo } = repo.value
  const from = transferredFrom === undefined ? undefined : at(transferredFrom)
  const to = transferredTo === undefined ? undefined : at(transferredTo.repo)
  const predecessors: { record: Stored<RepoRecord>; moment: string }[] = []
  let pendingAt: number | undefined
  const before = from === undefined ? undefined : transferMoment(from, repo)
  if (from !== undefined && before !== undefined) {
    if (tidMillis(before) <= now) predecessors.push({ record: from, moment: before })
    else pendingAt = tidMillis(before)
  }
  const after = to === undefined ? undefined : transferMoment(repo, to)
  if (to !== undefined && after !== undefined) {
    if (tidMillis(after) <= now) return { record: to, predecessors: [...predecessors, { record: repo, moment: after }], movedTo: to.uri }
    pendingAt = Math.min(pendingAt ?? Number.POSITIVE_INFINITY, tidMillis(after))
  }
  return { record: repo, predecessors, ...(pendingAt === undefined ? {} : { pendingAt }) }
}

/**
 * The rows of what governs: every account whose records can count, and between which keys they do so for certain when they take a pull out.
 * What a row leaves out may still count: the fold decides, and rows only spare it work.
 */
export function memberRows({ record, predecessors }: Governing): Member[] {
  const { collaborators, runners, former = [] } = record.value
  const voided = new Map<string, string>()
  for (const entry of former) if (entry.void === true) voided.set(entry.did, later(voided.get(entry.did), entry.until))
  const rows = new Map<string, Member>()
  const add = (did: string, role: Member['role'], until: string | null = null): void => {
    const key = `${did} ${role}`
    const known = rows.get(key)
    const latest = known === undefined ? until : known.until === null || until === null ? null : later(known.until, until)
    rows.set(key, { did, role, position: known?.position ?? rows.size, until: latest, since: voided.get(did) ?? null })
  }
  add(record.did, 'owner')
  for (const { did } of collaborators) add(did, 'collaborator')
  for (const { did } of runners) add(did, 'runner')
  for (const entry of former) if (entry.void !== true) add(entry.did, 'former', entry.until)
  for (const { record: past, moment } of predecessors) {
    add(past.did, 'previous', moment)
    for (const { did } of [...past.value.collaborators, ...past.value.runners]) add(did, 'former', moment)
    for (const entry of past.value.former ?? []) {
      if (entry.void !== true) add(entry.did, 'former', earlier(entry.until, moment))
    }
  }
  return [...rows.values()]
}

function later(a: string | undefined, b: string): string {
  return a === undefined || b > a ? b : a
}

function earlier(a: string, b: string): string {
  return b < a ? b : a
}
