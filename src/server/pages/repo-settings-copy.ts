import type { AtUri, Did, RecordKey } from '../../atproto/ids.ts'
import type { AccountSession } from '../../atproto/session.ts'
import { pushRefs, type RefUpdate } from '../../git/push.ts'
import { readRefsAt } from '../../indexer/sources/read-records.ts'
import type { RefsRecord, Stored } from '../../queue/facts.ts'
import * as words from '../../queue/words/repo-settings.ts'
import * as says from '../../queue/words/repo-settings-page.ts'
import { serverName } from '../actions/server-name.ts'
import { createOwnersAccount, readFoundRefs } from '../gateway/account.ts'
import type { PageContext } from './context.ts'

/** How often it is copied again because somebody pushed meanwhile. */
const ROUNDS = 4
/** Refs that one push moves at most. */
const AT_ONCE = 500
/** The longest that bringing the old state here may take, in milliseconds. */
const FETCH_MS = 120_000

/** `old` is where the ref is in the new account. */
type Move = RefUpdate & { old: string | null }

interface Copy {
  from: AtUri
  to: AtUri
  by: Did
  name: RecordKey
}

/**
 * Copies a repository's git state into its new owner's account, whole (STO-8), by their delegation to this server. Nothing is done where it lies
 * there already, or where nothing was ever pushed. Each ref is noted in their audit log (GWY-6). Rejects with UpstreamError when a source does not answer.
 */
export async function copyGitState(ctx: PageContext, copy: Copy): Promise<words.SettingsRefusal | undefined> {
  for (let round = 0; round < ROUNDS; round++) {
    const old = await readRefsAt(ctx.reader, copy.from, ctx.now())
    if (old.record === undefined) return old.fault.code === 'no-refs' ? undefined : words.notCopied(old.fault.message)
    const updates = await missing(ctx, copy, old.record)
    if (updates.length === 0) return undefined
    const fault = await push(ctx, copy, old.record, updates)
    if (fault !== undefined) return fault
  }
  return words.busy()
}

/** Refs that are not yet in the new account as they are in the old one. */
async function missing(ctx: PageContext, { to }: Copy, old: Stored<RefsRecord>): Promise<Move[]> {
  const there = await readRefsAt(ctx.reader, to, ctx.now())
  const at = new Map((there.record?.value.refs ?? []).map(ref => [ref.name, ref.commit]))
  const wanted = new Map(old.value.refs.map(ref => [ref.name, ref.commit]))
  const set = [...wanted]
    .filter(([name, commit]) => at.get(name) !== commit)
    .map(([name, commit]) => ({ name, commit, old: at.get(name) ?? null, force: true }))
  const gone = [...at].filter(([name]) => !wanted.has(name)).map(([name, was]) => ({ name, commit: null, old: was, force: true }))
  return [...gone, ...set]
}

async function push(
  ctx: PageContext,
  copy: Copy,
  old: Stored<RefsRecord>,
  updates: readonly Move[],
): Promise<words.SettingsRefusal | undefined> {
  const right = await ctx.delegations.session(copy.by)
  if (!right.ok && right.why === 'not-delegated') return words.delegateFirst()
  if (!right.ok) return words.unread(await serverName(ctx.actions, copy.by, 'your account’s server'))
  const brought = await ctx.indexer.ensureMirror(copy.from, old.value, AbortSignal.timeout(FETCH_MS))
  if (!brought.ok) return words.notCopied(brought.message)
  for (let at = 0; at < updates.length; at += AT_ONCE) {
    const fault = await pushSome(ctx, copy, right.session, brought.mirror.dir, updates.slice(at, at + AT_ONCE))
    if (fault !== undefined) return fault
  }
  return undefined
}

async function pushSome(
  ctx: PageContext,
  { from, to, by, name }: Copy,
  session: AccountSession,
  gitDir: string,
  updates: readonly Move[],
): Promise<words.SettingsRefusal | undefined> {
  const first = await readFoundRefs(ctx.reader, { owner: by, name, whole: false })
  const host = await serverName(ctx.actions, by, by)
  const reason = says.copiedWords(from)
  const entries = updates.map(({ name: ref, old, commit }) => {
    return { owner: by, repo: to, caller: by, door: 'push' as const, ref, from: old, to: commit, reason }
  })
  let ids: readonly number[] | undefined
  const sending = () => {
    ids ??= ctx.audit.begin(entries)
    return Promise.resolve(true)
  }
  const account = createOwnersAccount(
    { reader: ctx.reader, now: ctx.now, partLimits: new Map() },
    { session, host, name, along: [], first, sending },
  )
  const pushing = pushRefs({ gitDir, updates, account, repo: to, now: () => new Date(ctx.now()) })
  const done = await pushing.catch((error: unknown) => {
    if (ids !== undefined) ctx.audit.settle(ids, 'unknown')
    throw error
  })
  const unsure = !done.ok && account.unsure
  if (ids !== undefined) ctx.audit.settle(ids, done.ok ? 'written' : unsure ? 'unknown' : 'refused')
  if (!done.ok) return account.failure?.code === 'session-gone' ? words.delegateFirst() : words.notCopied(done.message)
  const { written } = account
  const rev = written?.rev ?? (await ctx.reader.getLatestCommit(by))?.rev
  if (written !== undefined && rev !== undefined) {
    const collection = 'dev.knotless.refs'
    await ctx.indexer.indexOwnWrite({ did: by, collection, rkey: name, cid: written.refs, rev, record: written.record })
  }
  return undefined
}
