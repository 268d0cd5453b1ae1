/** What the mirrors found out, as the rules take it. */
import type { MergeResult, RefsRecord, Stored, TipFacts } from '../../queue/facts.ts'
import type { IndexDatabase } from '../database.ts'
import { oneOf } from './json-list.ts'
import { readRefs, readRows, recordColumns } from './stored.ts'

/** Refs records by repository address. */
export function refsOf(index: IndexDatabase, repos: Iterable<string>): Map<string, Stored<RefsRecord>> {
  const rows = index.sync.all(
    index.db
      .selectFrom('refs')
      .innerJoin('record', 'record.id', 'refs.record_id')
      .select(recordColumns)
      .where('refs.repo', 'in', oneOf(repos)),
  )
  return new Map(readRows(rows, readRefs).map(record => [record.value.repo, record]))
}

export function mergesOf(index: IndexDatabase, pulls: Iterable<string>): Map<string, MergeResult> {
  const rows = index.sync.all(index.db.selectFrom('merge_result').selectAll().where('pull', 'in', oneOf(pulls)))
  return new Map(
    rows.map(row => [
      row.pull,
      {
        pull: row.pull,
        tip: row.tip,
        head: row.head,
        applies: row.applies === 1,
        conflicts: textList(row.conflicts),
        moreConflicts: row.more_conflicts,
        changesChecks: row.changes_checks === 1,
        empty: row.empty === 1,
      },
    ]),
  )
}

/** By branch; of `commits` what is known for the branch as it is. What a branch contains it goes on containing while it only moves forward. */
export function tipsOf(index: IndexDatabase, repo: string, commits: ReadonlySet<string>): Map<string, TipFacts> {
  const tips = index.sync.all(index.db.selectFrom('tip_facts').selectAll().where('repo', '=', repo))
  const known = index.sync.all(
    index.db.selectFrom('commit_on_branch').selectAll().where('repo', '=', repo).where('commit_id', 'in', oneOf(commits)),
  )
  return new Map(
    tips.map(({ branch, tip, line, workflows }) => {
      const here = known.filter(row => row.branch === branch && row.line === line && (row.there === 1 || row.tip === tip))
      const contains = new Map(here.map(row => [row.commit_id, row.there === 1]))
      return [branch, { branch, tip, workflows: textList(workflows), contains }]
    }),
  )
}

function textList(json: string): string[] {
  const list: unknown = JSON.parse(json)
  return Array.isArray(list) ? list.filter(item => typeof item === 'string') : []
}
