import { mergeOnto } from '../../git/merge.ts'
import type { Mirror } from '../../git/mirror.ts'
import { type PullRange, pathsOf } from '../../git/pull.ts'
import { fileAt, isAncestor, workflowsAt } from '../../git/tip.ts'
import type { AskedSettings, RefsRecord, Stored } from '../../queue/facts.ts'
import { queueSettingsFile, readQueueSettings } from '../../workflows/queue-settings.ts'
import { mayPass } from '../read/git-facts.ts'
import { oneOf } from '../read/json-list.ts'
import type { TipFactsTable } from '../schema.ts'
import type { MirrorContext } from './context.ts'
import { type Plan, type PlannedPull, planPass } from './plan.ts'
import { mergeRow, tipRow, writeContained, writeMerge, writeMergeFault, writeTip } from './store.ts'
import { mirrorAt } from './sync.ts'

export interface PassOptions {
  signal: AbortSignal
  /** Something newer came in: the rest of this pass would be in vain. */
  outdated: () => boolean
  /** Merged pulls that somebody looks at. */
  also?: Iterable<string>
  /** Merges that git could not do just now, so that they are not tried again at every turn. */
  refused: Refused
}

export interface Refused {
  has(merge: string): boolean
  add(merge: string): void
}

/** Merges after which the repository's pages are told. */
const TOLD_EVERY = 10
/** Paths kept of what a pull changes. */
const MOST_PATHS = 200
/** Bytes of the settings' file. */
const MOST_SETTINGS = 64 * 2 ** 10

/** What a look left to be done. */
export interface Looked {
  /** When to look again, since something may have passed by then; milliseconds since 1970. */
  retryAt?: number | undefined
  /** Records whose mirrors are behind: what depends on them is looked at once they are there. */
  behind: Stored<RefsRecord>[]
}

/**
 * One look at a repository in git, as far as mirrors are there: what stands at its tips, and what merging each open pull gives, those that
 * somebody named has touched first. Only what is not known yet is asked of git; what git refuses is noted, never thrown. Nobody's server is
 * asked, so that none can keep a look waiting; and each look comes a step on, however fast news arrives.
 */
export async function lookInto(ctx: MirrorContext, repo: string, options: PassOptions): Promise<Looked> {
  const plan = planPass(ctx.index, repo, options.also)
  if (plan === undefined) return { behind: [] }
  const own = await mirrorAt(ctx, plan.refs)
  if (own === 'behind') return { behind: [plan.refs] }
  if (!own.ok) return { retryAt: own.retryAt, behind: [] }
  const retries: number[] = []
  const behind: Stored<RefsRecord>[] = []
  let news = 0
  const stop = () => options.signal.aborted || (news > 0 && options.outdated())
  if (await lookAtTips(ctx, plan, own.mirror, stop)) await tell(ctx, repo)
  const forks = new Map<string, Promise<Mirror | undefined>>()
  for (const pull of plan.pulls) {
    if (stop()) break
    const source = pull.headRepo === repo ? own.mirror : await forkOf(pull.headRepo)
    if (source !== undefined && (await merge(ctx, plan, pull, { target: own.mirror, source }, options))) news += 1
    if (news > 0 && news % TOLD_EVERY === 0) await tell(ctx, repo)
  }
  if (news % TOLD_EVERY > 0) await tell(ctx, repo)
  return { retryAt: retries.length === 0 ? undefined : Math.min(...retries), behind }

  function forkOf(uri: string): Promise<Mirror | undefined> {
    const known = forks.get(uri)
    if (known !== undefined) return known
    const ready = openFork(uri)
    forks.set(uri, ready)
    return ready
  }

  async function openFork(uri: string): Promise<Mirror | undefined> {
    const record = plan?.forks.get(uri)
    if (record === undefined) return undefined
    const fork = await mirrorAt(ctx, record)
    if (fork === 'behind') {
      behind.push(record)
      return undefined
    }
    if (fork.ok) return fork.mirror
    if (fork.retryAt !== undefined) retries.push(fork.retryAt)
    return undefined
  }
}

async function tell(ctx: MirrorContext, repo: string): Promise<void> {
  const old = ctx.index.sync.all(ctx.index.db.selectFrom('repo').select('uri').where('moved_to', '=', repo))
  await ctx.ingest.submit([{ kind: 'touch', repos: [repo, ...old.map(row => row.uri)] }])
}

async function merge(
  ctx: MirrorContext,
  plan: Plan,
  pull: PlannedPull,
  mirrors: { target: Mirror; source: Mirror },
  { refused, signal }: PassOptions,
): Promise<boolean> {
  const { tip, head } = pull
  const key = `${pull.uri} ${tip} ${head}`
  if (refused.has(key)) return false
  const outcome = await mergeOnto({ ...mirrors, tip, head, signal })
  if (!outcome.ok) {
    if (signal.aborted) return false
    // No common history, a head out of bounds stay so until one of the two moves; what may pass is tried again after a while.
    if (mayPass(outcome.code)) refused.add(key)
    writeMergeFault(ctx.index, { pull: pull.uri, repo: plan.repo, tip, head, code: outcome.code, message: outcome.message })
    return true
  }
  writeMerge(ctx.index, {
    pull: pull.uri,
    repo: plan.repo,
    tip,
    head,
    applies: outcome.applies ? 1 : 0,
    conflicts: JSON.stringify(outcome.applies ? [] : outcome.conflicts),
    more_conflicts: outcome.applies ? 0 : outcome.moreConflicts,
    changes_checks: outcome.changesChecks ? 1 : 0,
    empty: outcome.applies && outcome.nothingToLand ? 1 : 0,
    touched: await touchedBy(ctx, pull, { ...mirrors, tip, head, signal }),
  })
  return true
}

/** What a head changes stays the same while it does; a list of it for its merge's row, null where git cannot tell. */
async function touchedBy(ctx: MirrorContext, { uri, head }: PlannedPull, range: PullRange): Promise<string | null> {
  const before = mergeRow(ctx.index, uri)
  if (before?.head === head && before.touched !== null) return before.touched
  const paths = await pathsOf({ ...range, most: MOST_PATHS })
  return paths === undefined ? null : JSON.stringify(paths)
}

/** Writes what stands at each tip and which merged commits are on its branch; true when something of it is new. */
async function lookAtTips(ctx: MirrorContext, plan: Plan, mirror: Mirror, stop: () => boolean): Promise<boolean> {
  let news = false
  for (const [branch, tip] of plan.tips) {
    if (stop()) break
    const facts = await tipFacts(ctx, plan.repo, branch, tip, mirror)
    if (facts === undefined) continue
    news ||= facts.fresh
    for (const commit of unknownCommits(ctx, facts.row, plan.merged.get(branch) ?? new Set())) {
      const found = await isAncestor(mirror, commit, tip)
      if (!found.ok) continue
      writeContained(ctx.index, { repo: plan.repo, branch, commit_id: commit, there: found.ancestor, line: facts.row.line, tip })
      news = true
    }
  }
  return news
}

async function tipFacts(
  ctx: MirrorContext,
  repo: string,
  branch: string,
  tip: string,
  mirror: Mirror,
): Promise<{ row: TipFactsTable; fresh: boolean } | undefined> {
  const before = tipRow(ctx.index, repo, branch)
  if (before?.tip === tip && before.settings !== null) return { row: before, fresh: false }
  const found = await workflowsAt(mirror, tip)
  if (!found.ok) return undefined
  const forward = before === undefined ? undefined : await isAncestor(mirror, before.tip, tip)
  const settings = await settingsAt(mirror, tip)
  const line = before?.tip === tip ? before.line : (before?.line ?? 0) + (forward?.ok && forward.ancestor ? 0 : 1)
  const row = { repo, branch, tip, workflows: JSON.stringify(found.workflows), line, settings: JSON.stringify(settings) }
  writeTip(ctx.index, row)
  return { row, fresh: true }
}

/** What the queue settings at a tip ask for (STW-11): nothing where there is no such file. */
async function settingsAt(mirror: Mirror, tip: string): Promise<AskedSettings> {
  const file = await fileAt(mirror, tip, queueSettingsFile, MOST_SETTINGS)
  if (!file.ok) return { ok: false, message: file.message.replace(/\.$/, '') }
  return file.bytes === undefined ? { ok: true, settings: {} } : readQueueSettings(file.bytes)
}

/** Of these commits those of which it is not known, for the branch as it is, whether it contains them. */
function unknownCommits(ctx: MirrorContext, { repo, branch, line, tip }: TipFactsTable, commits: ReadonlySet<string>): string[] {
  const rows = ctx.index.sync.all(
    ctx.index.db
      .selectFrom('commit_on_branch')
      .select(['commit_id', 'there', 'tip'])
      .where('repo', '=', repo)
      .where('branch', '=', branch)
      .where('line', '=', line)
      .where('commit_id', 'in', oneOf(commits)),
  )
  const known = new Set(rows.filter(row => row.there === 1 || row.tip === tip).map(row => row.commit_id))
  return [...commits].filter(commit => !known.has(commit))
}
