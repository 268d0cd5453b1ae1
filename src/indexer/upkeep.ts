import type { BackfillWorker } from './backfill/worker.ts'
import type { IndexDatabase } from './database.ts'
import type { Ingest } from './ingest/queue.ts'
import type { MirrorWorker } from './mirrors/worker.ts'

const EVERY_MS = 60_000
const LOOKED_AT_ONCE = 50
const LOOK_MS = 1_000

/**
 * What is done once at the start and then every minute: old waiting records and tombstones go, transfers whose time has come hold, accounts that
 * are to be looked up are. At the start mirrors are looked at whose state is not that of the index. Gives the function that ends it.
 */
export function startUpkeep(parts: {
  index: IndexDatabase
  ingest: Pick<Ingest, 'maintain'>
  backfill: Pick<BackfillWorker, 'tick'>
  git: Pick<MirrorWorker, 'changed'>
  failed: (error: unknown) => void
}): () => void {
  const { index, ingest, backfill, git } = parts

  function turn(): void {
    try {
      ingest.maintain()
      backfill.tick(unresolved(index))
    } catch (error) {
      parts.failed(error)
    }
  }

  turn()
  const repos = behind(index)
  /** A few at a time, so that a start with many repositories is not busy with all of them at once. */
  function look(): void {
    for (const repo of repos.splice(0, LOOKED_AT_ONCE)) git.changed({ repo, version: 0 })
    if (repos.length === 0) clearInterval(looking)
  }
  const looking = setInterval(look, LOOK_MS)
  const timer = setInterval(turn, EVERY_MS)
  looking.unref()
  timer.unref()
  look()
  return () => {
    clearInterval(looking)
    clearInterval(timer)
  }
}

/** Accounts whose handle is to be looked up and that no job is going to read. */
function unresolved(index: IndexDatabase): string[] {
  const rows = index.sync.all(
    index.db
      .selectFrom('account')
      .leftJoin('backfill', 'backfill.subject', 'account.did')
      .select('account.did')
      .where('account.resolved_at', 'is', null)
      .where(eb => eb.or([eb('backfill.state', 'is', null), eb('backfill.state', '!=', 'pending')]))
      .limit(200),
  )
  return rows.map(row => row.did)
}

/** Repositories with open pulls or without a mirror: after a stop something of them may not have been looked at. */
function behind(index: IndexDatabase): string[] {
  const rows = index.sync.all(
    index.db
      .selectFrom('refs')
      .innerJoin('record', 'record.id', 'refs.record_id')
      .innerJoin('repo', 'repo.uri', 'refs.repo')
      .leftJoin('mirror_state', 'mirror_state.repo', 'refs.repo')
      .select('refs.repo')
      .where(eb =>
        eb.or([
          eb('mirror_state.refs_cid', 'is', null),
          eb('mirror_state.refs_cid', '!=', eb.ref('record.cid')),
          eb('mirror_state.status', '=', 'failed'),
          eb.exists(eb.selectFrom('pull').select('pull.uri').whereRef('pull.repo', '=', 'refs.repo').where('pull.settled', '=', 0)),
        ]),
      ),
  )
  return rows.map(row => row.repo)
}
