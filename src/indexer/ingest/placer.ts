import { isGoing } from '../../queue/runs.ts'
import type { IndexDatabase } from '../database.ts'
import { bind } from '../sync-queries.ts'
import { repoParts } from '../validate/addresses.ts'
import type { Kind, Usable } from '../validate/usable.ts'
import type { Accounts } from './accounts.ts'
import { type Batch, refuse } from './batch.ts'
import type { RecordEvent } from './events.ts'
import type { MissedRows } from './missed-rows.ts'
import type { Held, RecordRows } from './record-rows.ts'
import type { Repositories } from './repositories.ts'
import type { About, TypedRows } from './typed-rows.ts'
import type { WaitingRows } from './waiting-rows.ts'
import { priorities, type Wanted } from './wanted.ts'

type Address = { uri: string; did: string; rkey: string }
/** An event whose record is taken. */
interface Taken {
  event: RecordEvent
  uri: string
  cid: string
  json: string
}

export interface Tables {
  records: RecordRows
  typed: TypedRows
  waiting: WaitingRows
  missed: MissedRows
  repositories: Repositories
  accounts: Accounts
  wanted: Wanted
}

/** Puts records where they belong, takes them away again, and notes what that touches. */
export interface Placer {
  /** Writes a record that is taken; false when there is a row at its address already. */
  insert(batch: Batch, taken: Taken, record: Usable): boolean
  /** Writes a record that is taken over what is held at its address. */
  replace(batch: Batch, taken: Taken, held: Held, record: Usable): void
  /** Writes a record's typed row, or lets it wait for the repository that it names. `before`: what an earlier row was about. */
  place(batch: Batch, id: number, at: Address, record: Usable, before?: About): void
  /** Leaves a tombstone, so that what comes late from before it changes nothing. */
  remove(batch: Batch, at: Address & { collection: string; rev: string }, kind: Kind, held: Held | undefined): void
  /** What is known of a repository's refs changed: its own answers, and those of the repositories that pulls from it are onto. */
  refsChanged(batch: Batch, repo: string): void
  /** All of an account's records are to be read, whether or not they were before. */
  readAgain(batch: Batch, did: string): void
  /** An account's records are to be read. */
  want(batch: Batch, did: string, priority: number): void
}

/** At most so many repositories are told of a change of one fork. */
const MOST_TARGETS = 1_000

export function createPlacer({ db, sqlite }: IndexDatabase, tables: Tables): Placer {
  const { records, typed, waiting, missed, repositories, accounts, wanted } = tables
  const targets = bind(sqlite, ['fork', 'limit'], (p: { fork: string; limit: number }) =>
    db.selectFrom('pull').select('repo').distinct().where('head_repo', '=', p.fork).limit(p.limit),
  )

  const forgetMerge = bind(sqlite, ['pull'], (p: { pull: string }) => db.deleteFrom('merge_result').where('pull', '=', p.pull))
  const forgetFault = bind(sqlite, ['pull'], (p: { pull: string }) => db.deleteFrom('merge_fault').where('pull', '=', p.pull))

  function insert(batch: Batch, { event, uri, cid, json }: Taken, record: Usable): boolean {
    const { did, collection, rkey, rev } = event
    const id = records.insert({ uri, did, collection, rkey, cid, rev, json, deleted: 0, seen_at: batch.time, ...origin(event) })
    if (id === undefined) return false
    if (record.kind === 'repo') batch.next.push({ kind: 'release', repo: uri })
    place(batch, id, { uri, did, rkey }, record)
    return true
  }

  function replace(batch: Batch, { event, uri, cid, json }: Taken, held: Held, record: Usable): void {
    const { did, rkey, rev } = event
    const before = typed.before(record.kind, held.id)
    records.replace({ id: held.id, cid, rev, json, deleted: 0, seen_at: batch.time, ...origin(event) })
    if (before === undefined) waiting.remove(held.id)
    place(batch, held.id, { uri, did, rkey }, record, before)
  }

  function place(batch: Batch, id: number, at: Address, record: Usable, before?: About): void {
    if (before !== undefined) {
      left(batch, record.kind, before)
      typed.remove(record.kind, id)
    }
    const repo = record.kind === 'repo' ? at.uri : record.value.repo
    // A refs record is its own repository's, and a fork's may be all there is of it.
    if (record.kind !== 'repo' && record.kind !== 'refs' && !records.known(repo)) {
      waiting.put({ record_id: id, repo, did: at.did, since: batch.time })
      for (const out of waiting.evict(at.did)) {
        records.forget(out.record_id)
        missed.note(out)
        refuse(batch, 'waiting-full')
      }
      batch.wanted = wanted.repository(repo, batch.time) || batch.wanted
      return
    }
    typed.put(id, at, record)
    batch.changed.add(repo)
    if (record.kind === 'check' && record.value.batch !== undefined && !isGoing(record.value)) batch.ended.add(id)
    arrived(batch, record, at)
  }

  function arrived(batch: Batch, record: Usable, at: Address): void {
    switch (record.kind) {
      case 'repo':
        batch.membersOf.add(at.uri)
        for (const end of repositories.endsOf(at.uri)) batch.membersOf.add(end)
        return
      case 'refs':
        refsChanged(batch, record.value.repo)
        return
      case 'pull': {
        batch.pulls.add(at.uri)
        want(batch, at.did, priorities.author)
        const fork = repoParts(record.value.head.repo)
        if (fork !== undefined) want(batch, fork.did, priorities.author)
        return
      }
      case 'queue':
      case 'state':
        batch.pulls.add(record.value.subject)
    }
  }

  function refsChanged(batch: Batch, repo: string): void {
    batch.changed.add(repo)
    for (const target of targets.all({ fork: repo, limit: MOST_TARGETS })) batch.changed.add(target.repo)
  }

  /** A record goes, or is about something else from now on. */
  function left(batch: Batch, kind: Kind, before: About): void {
    batch.changed.add(before.repo)
    if (before.subject !== undefined) batch.pulls.add(before.subject)
    if (kind === 'pull' && before.subject !== undefined) {
      forgetMerge.run({ pull: before.subject })
      forgetFault.run({ pull: before.subject })
    }
    if (kind === 'refs') refsChanged(batch, before.repo)
    if (kind !== 'repo') return
    batch.membersOf.add(before.repo)
    for (const end of repositories.endsOf(before.repo)) batch.membersOf.add(end)
    for (const end of repositories.tiedTo(before.repo)) batch.changed.add(end)
  }

  function remove(batch: Batch, at: Address & { collection: string; rev: string }, kind: Kind, held: Held | undefined): void {
    const gone = { cid: null, rev: at.rev, json: null, deleted: 1, seen_at: batch.time, backfilled: 0 }
    if (held === undefined) {
      const { uri, did, collection, rkey } = at
      records.insert({ uri, did, collection, rkey, ...gone })
      if (kind === 'repo') batch.next.push({ kind: 'release', repo: uri })
      return
    }
    const before = held.deleted === 0 ? typed.before(kind, held.id) : undefined
    records.replace({ id: held.id, ...gone })
    if (before === undefined) {
      waiting.remove(held.id)
      return
    }
    left(batch, kind, before)
    typed.remove(kind, held.id)
  }

  function want(batch: Batch, did: string, priority: number): void {
    if (!wanted.account(did, priority)) return
    accounts.add(did)
    batch.wanted = true
  }

  function readAgain(batch: Batch, did: string): void {
    want(batch, did, priorities.author)
    wanted.anew(did)
    batch.wanted = true
  }

  return { insert, replace, place, remove, refsChanged, readAgain, want }
}

/** When a record of the past is seen says nothing about when it was written (REC-9). */
function origin({ source }: RecordEvent): { backfilled: 0 | 1 } {
  return { backfilled: source === 'listed' || source === 'replayed' ? 1 : 0 }
}
