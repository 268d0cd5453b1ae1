import { tidMillis } from '../../queue/tid.ts'
import type { IndexDatabase } from '../database.ts'
import type * as Tables from '../schema.ts'
import { type Bound, bind, type Compilable } from '../sync-queries.ts'
import type { Kind, Usable } from '../validate/usable.ts'

/** What a typed row says of which repository and which pull or issue a record is about. */
export interface About {
  repo: string
  subject?: string | undefined
}

export interface TypedRows {
  /** Writes the row of a record that has none. */
  put(id: number, at: { uri: string; did: string; rkey: string }, record: Usable): void
  /** What the row that is there is about; undefined when there is none. */
  before(kind: Kind, id: number): About | undefined
  remove(kind: Kind, id: number): void
}

/** A key may lie this far past what its record says of its making (REC-3). */
const PAST_CREATED_MS = 24 * 3_600_000

const tables = {
  repo: 'repo',
  refs: 'refs',
  pull: 'pull',
  queue: 'queue_record',
  state: 'state',
  issue: 'issue',
  check: 'check_run',
  lander: 'lander',
  rerun: 'rerun',
  decision: 'decision',
} as const

/** Statements over the typed tables, prepared once. */
export function createTypedRows({ db, sqlite }: IndexDatabase): TypedRows {
  const key = ['record_id', 'repo', 'did'] as const
  const repo = bind(
    sqlite,
    ['record_id', 'uri', 'did', 'name', 'default_branch', 'transferred_from', 'transferred_to', 'moved_to'],
    (p: Tables.RepoTable) => db.insertInto('repo').values(p),
  )
  const refs = bind(sqlite, key, (p: Tables.RefsTable) => db.insertInto('refs').values(p))
  const pull = bind(sqlite, [...key, 'uri', 'rkey', 'branch', 'head_repo', 'head_branch', 'settled', 'touched'], (p: Tables.PullTable) =>
    db.insertInto('pull').values(p),
  )
  const queue = bind(sqlite, [...key, 'rkey', 'subject', 'state'], (p: Tables.QueueRecordTable) => db.insertInto('queue_record').values(p))
  const state = bind(sqlite, [...key, 'rkey', 'subject', 'state', 'commit_id', 'batch', 'sound'], (p: Tables.StateTable) =>
    db.insertInto('state').values(p),
  )
  const issue = bind(sqlite, [...key, 'uri', 'rkey'], (p: Tables.IssueTable) => db.insertInto('issue').values(p))
  const check = bind(
    sqlite,
    [...key, 'workflow', 'status', 'ref', 'commit_id', 'base_commit', 'pull', 'is_batch', 'filed_at'],
    (p: Tables.CheckRunTable) => db.insertInto('check_run').values(p),
  )
  const lander = bind(sqlite, key, (p: Tables.LanderTable) => db.insertInto('lander').values(p))
  const rerun = bind(sqlite, [...key, 'rkey', 'pull'], (p: Tables.RerunTable) => db.insertInto('rerun').values(p))
  const decision = bind(sqlite, [...key, 'rkey', 'subject', 'ejection'], (p: Tables.DecisionTable) => db.insertInto('decision').values(p))

  const byId = (build: (p: { id: number }) => Compilable<About>) => bind(sqlite, ['id'], build)
  const befores: Record<Kind, Bound<{ id: number }, About>> = {
    repo: byId(p => db.selectFrom('repo').select('uri as repo').where('record_id', '=', p.id)),
    refs: byId(p => db.selectFrom('refs').select('repo').where('record_id', '=', p.id)),
    pull: byId(p => db.selectFrom('pull').select(['repo', 'uri as subject']).where('record_id', '=', p.id)),
    queue: byId(p => db.selectFrom('queue_record').select(['repo', 'subject']).where('record_id', '=', p.id)),
    state: byId(p => db.selectFrom('state').select(['repo', 'subject']).where('record_id', '=', p.id)),
    issue: byId(p => db.selectFrom('issue').select('repo').where('record_id', '=', p.id)),
    check: byId(p => db.selectFrom('check_run').select('repo').where('record_id', '=', p.id)),
    lander: byId(p => db.selectFrom('lander').select('repo').where('record_id', '=', p.id)),
    rerun: byId(p => db.selectFrom('rerun').select('repo').where('record_id', '=', p.id)),
    decision: byId(p => db.selectFrom('decision').select('repo').where('record_id', '=', p.id)),
  }
  const removals = new Map(
    Object.entries(tables).map(([kind, table]) => [
      kind,
      bind(sqlite, ['id'], (p: { id: number }) => db.deleteFrom(table).where('record_id', '=', p.id)),
    ]),
  )

  return {
    put(record_id, { uri, did, rkey }, record) {
      switch (record.kind) {
        case 'repo': {
          const { defaultBranch, transferredFrom, transferredTo } = record.value
          const ends = { transferred_from: transferredFrom ?? null, transferred_to: transferredTo?.repo ?? null, moved_to: null }
          repo.run({ record_id, uri, did, name: rkey, default_branch: defaultBranch, ...ends })
          return
        }
        case 'refs':
          refs.run({ record_id, did, repo: record.value.repo })
          return
        case 'pull': {
          const { repo, branch, head } = record.value
          pull.run({ record_id, uri, repo, did, rkey, branch, head_repo: head.repo, head_branch: head.branch, settled: 0, touched: 0 })
          return
        }
        case 'queue':
          queue.run({ record_id, repo: record.value.repo, did, rkey, subject: record.value.subject, state: record.value.state })
          return
        case 'state': {
          const { value } = record
          const sound = tidMillis(rkey) - Date.parse(value.createdAt) <= PAST_CREATED_MS ? 1 : 0
          const names = { commit_id: value.commit ?? null, batch: value.batch ?? null }
          state.run({ record_id, repo: value.repo, did, rkey, subject: value.subject, state: value.state, ...names, sound })
          return
        }
        case 'issue':
          issue.run({ record_id, uri, repo: record.value.repo, did, rkey })
          return
        case 'check': {
          const { value } = record
          check.run({
            record_id,
            repo: value.repo,
            did,
            workflow: value.workflow,
            status: value.status,
            ref: value.ref,
            commit_id: value.commit,
            base_commit: value.baseCommit ?? null,
            pull: value.pull ?? null,
            is_batch: value.batch === undefined ? 0 : 1,
            filed_at: Date.parse(value.createdAt),
          })
          return
        }
        case 'lander':
          lander.run({ record_id, repo: record.value.repo, did })
          return
        case 'rerun':
          rerun.run({ record_id, repo: record.value.repo, did, rkey, pull: record.value.pull ?? null })
          return
        case 'decision':
          decision.run({ record_id, repo: record.value.repo, did, rkey, subject: record.value.subject, ejection: record.value.ejection })
      }
    },
    before: (kind, id) => befores[kind].get({ id }),
    remove: (kind, id) => void removals.get(kind)?.run({ id }),
  }
}
