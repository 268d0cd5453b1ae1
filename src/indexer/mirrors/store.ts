/** What the mirrors found out, written down. Each call is one statement or one transaction of its own. */
import type { IndexDatabase } from '../database.ts'
import type { MergeFaultTable, MergeResultTable, MirrorStateTable, TipFactsTable } from '../schema.ts'

export function mirrorRow(index: IndexDatabase, repo: string): MirrorStateTable | undefined {
  return index.sync.first(index.db.selectFrom('mirror_state').selectAll().where('repo', '=', repo))
}

export function noteSynced(index: IndexDatabase, row: Pick<MirrorStateTable, 'repo' | 'refs_cid' | 'synced_at'>): void {
  const state = { ...row, status: 'ok', code: null, message: null, failed_at: null, tries: 0 } as const
  index.sync.run(index.db.insertInto('mirror_state').orReplace().values(state))
}

/** Keeps when it was last brought up to date. */
export function noteFailed(index: IndexDatabase, row: Omit<MirrorStateTable, 'status' | 'synced_at'>): void {
  const state = { ...row, status: 'failed', synced_at: null } as const
  const { refs_cid, code, message, failed_at, tries } = row
  index.sync.run(
    index.db
      .insertInto('mirror_state')
      .values(state)
      .onConflict(conflict => conflict.column('repo').doUpdateSet({ status: 'failed', refs_cid, code, message, failed_at, tries })),
  )
}

/** What was last found out of merging a pull. */
export function mergeRow(index: IndexDatabase, pull: string): MergeResultTable | undefined {
  return index.sync.first(index.db.selectFrom('merge_result').selectAll().where('pull', '=', pull))
}

/** A result, in place of whatever was found before. */
export function writeMerge(index: IndexDatabase, row: MergeResultTable): void {
  index.sync.run(index.db.insertInto('merge_result').orReplace().values(row))
  index.sync.run(index.db.deleteFrom('merge_fault').where('pull', '=', row.pull))
}

export function writeMergeFault(index: IndexDatabase, row: MergeFaultTable): void {
  index.sync.run(index.db.insertInto('merge_fault').orReplace().values(row))
}

export function writeTip(index: IndexDatabase, row: TipFactsTable): void {
  index.sync.run(index.db.insertInto('tip_facts').orReplace().values(row))
}

export function tipRow(index: IndexDatabase, repo: string, branch: string): TipFactsTable | undefined {
  return index.sync.first(index.db.selectFrom('tip_facts').selectAll().where('repo', '=', repo).where('branch', '=', branch))
}

export function writeContained(
  index: IndexDatabase,
  row: { repo: string; branch: string; commit_id: string; there: boolean; line: number; tip: string },
): void {
  index.sync.run(
    index.db
      .insertInto('commit_on_branch')
      .orReplace()
      .values({ ...row, there: row.there ? 1 : 0 }),
  )
}
