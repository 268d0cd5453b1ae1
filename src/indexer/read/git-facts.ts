/** What the mirrors found out, as the rules take it. */
import { z } from 'zod'
import type { GitFault, MergeFault, MergeResult, RefsRecord, Stored, TipFacts } from '../../queue/facts.ts'
import type { IndexDatabase } from '../database.ts'
import { repoParts } from '../validate/addresses.ts'
import { noRefs } from '../validate/refs-fault.ts'
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
        touched: row.touched === null ? undefined : textList(row.touched),
      },
    ]),
  )
}

/** What a mirror could not do, or git, that may be otherwise at the next try. What a record gets wrong stays wrong until there is another. */
const passing: ReadonlySet<string> = new Set(['blob-missing', 'upstream-failed', 'failed', 'rate-limited'])

/** Whether what was refused with this code is tried again by itself. */
export function mayPass(code: string): boolean {
  return passing.has(code)
}

/** What git said instead of merging, by pull. */
export function mergeFaultsOf(index: IndexDatabase, pulls: Iterable<string>): Map<string, MergeFault> {
  const rows = index.sync.all(index.db.selectFrom('merge_fault').selectAll().where('pull', 'in', oneOf(pulls)))
  return new Map(rows.map(({ pull, tip, head, code, message }) => [pull, { tip, head, code, message, passing: mayPass(code) }]))
}

/**
 * Of these repositories those whose git state could not be taken as their accounts have it now: a refs record that cannot be used, one that lies, or
 * none at all where the account was read. `refs`: the records known.
 */
export function gitFaultsOf(
  index: IndexDatabase,
  repos: Iterable<string>,
  refs: ReadonlyMap<string, Stored<RefsRecord>>,
): Map<string, GitFault> {
  const { db, sync } = index
  const all = new Set(repos)
  const without = [...all].filter(repo => !refs.has(repo))
  const faults = new Map<string, GitFault>()
  for (const repo of readWithout(index, without)) faults.set(repo, { ...noRefs(), passing: true })
  const mirrors = sync.all(
    db
      .selectFrom('mirror_state')
      .select(['repo', 'refs_cid', 'code', 'message'])
      .where('repo', 'in', oneOf(all))
      .where('status', '=', 'failed'),
  )
  const unusable = sync.all(db.selectFrom('unusable_refs').selectAll().where('repo', 'in', oneOf(without)))
  for (const { repo, code, message, ...row } of [...mirrors, ...unusable]) {
    const isPresent = !('refs_cid' in row) || row.refs_cid === refs.get(repo)?.cid
    if (isPresent && code !== null && message !== null) faults.set(repo, { code, message, passing: mayPass(code) })
  }
  return faults
}

/** Of repositories without a refs record those whose accounts have been read: nothing was pushed to them. */
function readWithout({ db, sync }: IndexDatabase, repos: readonly string[]): string[] {
  const owners = new Map(repos.flatMap(repo => (repoParts(repo) === undefined ? [] : [[repo, repoParts(repo)?.did ?? ''] as const])))
  const rows = sync.all(
    db
      .selectFrom('backfill')
      .select('subject')
      .where('subject', 'in', oneOf(new Set(owners.values())))
      .where('state', 'in', ['done', 'absent']),
  )
  const read = new Set(rows.map(row => row.subject))
  return [...owners].flatMap(([repo, did]) => (read.has(did) ? [repo] : []))
}

/** By branch; of `commits` what is known for the branch as it is. What a branch contains it goes on containing while it only moves forward. */
export function tipsOf(index: IndexDatabase, repo: string, commits: ReadonlySet<string>): Map<string, TipFacts> {
  const tips = index.sync.all(index.db.selectFrom('tip_facts').selectAll().where('repo', '=', repo))
  const known = index.sync.all(
    index.db.selectFrom('commit_on_branch').selectAll().where('repo', '=', repo).where('commit_id', 'in', oneOf(commits)),
  )
  return new Map(
    tips.map(({ branch, tip, line, workflows, settings }) => {
      const here = known.filter(row => row.branch === branch && row.line === line && (row.there === 1 || row.tip === tip))
      const contains = new Map(here.map(row => [row.commit_id, row.there === 1]))
      return [
        branch,
        { branch, tip, workflows: textList(workflows), contains, settings: settings === null ? undefined : readSettings(settings) },
      ]
    }),
  )
}

const settingsShape = z.union([
  z.object({
    ok: z.literal(true),
    settings: z.object({ batch: z.int(), depth: z.int(), wait: z.number(), timeout: z.number() }).partial(),
  }),
  z.object({ ok: z.literal(false), message: z.string() }),
])

function readSettings(json: string): TipFacts['settings'] {
  return settingsShape.safeParse(JSON.parse(json)).data
}

function textList(json: string): string[] {
  const list: unknown = JSON.parse(json)
  return Array.isArray(list) ? list.filter(item => typeof item === 'string') : []
}
