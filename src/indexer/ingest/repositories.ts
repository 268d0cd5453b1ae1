/** Keeps the member rows, moves and settled pulls of repositories right when their records change. */
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { RepoRecord, Stored } from '../../queue/facts.ts'
import { tidAt } from '../../queue/tid.ts'
import type { IndexDatabase } from '../database.ts'
import { readRepo, recordColumns } from '../read/stored.ts'
import type { MemberTable } from '../schema.ts'
import { bind } from '../sync-queries.ts'
import { governing, memberRows } from './members.ts'

/** Keys up to this far ahead of now count already (REC-3), in milliseconds. */
const AHEAD_MS = 5 * 60_000

export interface Repositories {
  /** Addresses that this one's record names as the other end of a transfer. */
  endsOf(repo: string): string[]
  /** Addresses tied to this one by a transfer that both records tell of: each is part of the other's facts. */
  tiedTo(repo: string): string[]
  /** Writes the member rows of a repository anew; gives its owner and those it names, by role, when there is one. */
  refresh(repo: string, now: number): MemberTable[]
  /** Looks again at these pulls and writes whether each is settled and touched. */
  settlePulls(uris: Iterable<string>, now: number): void
  /** When the next transfer that both sides tell of will hold; undefined when there is none. */
  pendingAt(): number | undefined
  /** Those whose transfer holds by now. */
  takeDue(now: number): string[]
}

export function createRepositories({ db, sqlite }: IndexDatabase): Repositories {
  const pending = new Map<string, number>()
  const byUri = bind(sqlite, ['uri'], (p: { uri: string }) =>
    db.selectFrom('repo').innerJoin('record', 'record.id', 'repo.record_id').select(recordColumns).where('repo.uri', '=', p.uri),
  )
  const ends = bind(sqlite, ['uri'], (p: { uri: string }) =>
    db.selectFrom('repo').select(['uri', 'transferred_from', 'transferred_to']).where('uri', '=', p.uri),
  )
  const ties = bind(sqlite, ['uri'], (p: { uri: string }) =>
    db
      .selectFrom('repo as here')
      .innerJoin('repo as there', join =>
        join.on(eb =>
          eb.or([
            eb.and([eb('there.uri', '=', eb.ref('here.transferred_to')), eb('there.transferred_from', '=', eb.ref('here.uri'))]),
            eb.and([eb('there.uri', '=', eb.ref('here.transferred_from')), eb('there.transferred_to', '=', eb.ref('here.uri'))]),
          ]),
        ),
      )
      .select('there.uri')
      .where('here.uri', '=', p.uri),
  )
  const members = bind(sqlite, ['repo'], (p: { repo: string }) =>
    db.selectFrom('member').selectAll().where('repo', '=', p.repo).orderBy('position'),
  )
  const removeMembers = bind(sqlite, ['repo'], (p: { repo: string }) => db.deleteFrom('member').where('repo', '=', p.repo))
  const insertMember = bind(sqlite, ['repo', 'did', 'role', 'position', 'until', 'since'], (p: MemberTable) =>
    db.insertInto('member').values(p),
  )
  const setMoved = bind(sqlite, ['uri', 'moved'], (p: { uri: string; moved: string | null }) =>
    db.updateTable('repo').set({ moved_to: p.moved }).where('uri', '=', p.uri),
  )
  const settle = (where: (key: string) => RawBuilder<SqlBool>) =>
    bind(sqlite, ['key', 'horizon'], (p: { key: string; horizon: string }) =>
      db
        .updateTable('pull')
        .set({
          settled: sql<number>`exists (
            select 1 from state s
            where s.subject = pull.uri and s.repo = pull.repo and s.state in ('merged', 'closed') and s.sound = 1 and s.rkey < ${p.horizon}
              and ((s.state = 'closed' and s.did = pull.did) or exists (
                select 1 from member m
                where m.repo = pull.repo and m.did = s.did and (m.until is null or s.rkey < m.until) and (m.since is null or s.rkey > m.since)))
              and not exists (
                select 1 from state o
                where o.subject = pull.uri and o.state = 'open' and o.rkey >= s.rkey
                  and (o.did = pull.did or exists (select 1 from member m where m.repo = pull.repo and m.did = o.did))))`,
          touched: sql<number>`(
            exists (select 1 from member m where m.repo = pull.repo and m.did = pull.did)
            or exists (select 1 from queue_record q join member m on m.repo = pull.repo and m.did = q.did where q.subject = pull.uri))`,
        })
        .where(where(p.key)),
    )
  const settleSome = settle(key => sql`pull.uri in (select value from json_each(${key}))`)
  const settleAll = settle(key => sql`pull.repo = ${key}`)

  /** Most repositories never move: only those that a transfer names are asked for. */
  const tied = new Set<string>()
  for (const row of sqlite
    .prepare<[], { uri: string; transferred_from: string | null; transferred_to: string | null }>(
      'select uri, transferred_from, transferred_to from repo where transferred_from is not null or transferred_to is not null',
    )
    .all()) {
    noteTies(row)
  }

  function noteTies(row: { uri: string; transferred_from: string | null; transferred_to: string | null }): void {
    for (const end of [row.transferred_from, row.transferred_to]) {
      if (end === null) continue
      tied.add(end)
      tied.add(row.uri)
    }
  }

  function repoAt(uri: string): Stored<RepoRecord> | undefined {
    const row = byUri.get({ uri })
    return row === undefined ? undefined : readRepo(row)
  }

  function rowsOf(repo: string, now: number): MemberTable[] {
    pending.delete(repo)
    const record = repoAt(repo)
    if (record === undefined) return []
    const { transferredFrom = null, transferredTo } = record.value
    noteTies({ uri: repo, transferred_from: transferredFrom, transferred_to: transferredTo?.repo ?? null })
    const standing = governing(record, repoAt, now)
    if (standing.pendingAt !== undefined) pending.set(repo, standing.pendingAt)
    if (tied.has(repo)) setMoved.run({ uri: repo, moved: standing.movedTo ?? null })
    return memberRows(standing).map(row => ({ repo, ...row }))
  }

  return {
    endsOf: repo =>
      ends
        .all({ uri: repo })
        .flatMap(row => [row.transferred_from, row.transferred_to])
        .filter(end => end !== null),
    tiedTo: repo => (tied.has(repo) ? ties.all({ uri: repo }).map(row => row.uri) : []),
    refresh(repo, now) {
      const rows = rowsOf(repo, now)
      const before = members.all({ repo })
      if (JSON.stringify(before.map(fields)) === JSON.stringify(rows.map(fields))) return rows
      if (before.length > 0) removeMembers.run({ repo })
      for (const row of rows) insertMember.run(row)
      settleAll.run({ key: repo, horizon: tidAt(now + AHEAD_MS) })
      return rows
    },
    settlePulls(uris, now) {
      const list = [...uris]
      if (list.length > 0) settleSome.run({ key: JSON.stringify(list), horizon: tidAt(now + AHEAD_MS) })
    },
    pendingAt: () => (pending.size === 0 ? undefined : Math.min(...pending.values())),
    takeDue(now) {
      return [...pending].filter(([, at]) => at <= now).map(([repo]) => repo)
    },
  }
}

function fields(row: MemberTable): unknown[] {
  return [row.did, row.role, row.position, row.until, row.since]
}
