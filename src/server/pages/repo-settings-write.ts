import { asLex } from '../../atproto/as-lex.ts'
import { type Did, parseRecordKey, type RecordKey, repoUri } from '../../atproto/ids.ts'
import type { AccountSession } from '../../atproto/session.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import type { WriteFailure } from '../../atproto/write-outcome.ts'
import { createWriter } from '../../atproto/writer.ts'
import { statesBy } from '../../indexer/read.ts'
import { readRepoAt } from '../../indexer/sources/read-records.ts'
import { dev } from '../../lexicons/index.ts'
import type { RepoRecord, Stored } from '../../queue/facts.ts'
import { editRepo, type RepoEdit } from '../../queue/repo-edit.ts'
import { takeOut } from '../../queue/taking-out.ts'
import { tidAt, tidMillis } from '../../queue/tid.ts'
import * as words from '../../queue/words/repo-settings.ts'
import { serverName } from '../actions/server-name.ts'
import { repositoryScope } from '../auth/client-metadata.ts'
import { grants } from '../auth/scopes.ts'
import type { PageContext } from './context.ts'
import { repoAt } from './repo-settings-forms.ts'

export type WriteOutcome =
  | { kind: 'written' | 'already' }
  /** `changed`: somebody else changed the same thing meanwhile. */
  | { kind: 'refused' | 'changed'; refusal: words.SettingsRefusal }
  /** The grant is gone: log in again. */
  | { kind: 'log-in' }
  /** The right to write repository records is still to be granted. */
  | { kind: 'no-right' }

const collection = 'dev.knotless.repo'
/** How often a write whose swap was lost to somebody else is made again. */
const TRIES = 5
/** Keys this far in the future count already (REC-3). */
const AHEAD_MS = 5 * 60_000
const ITS_SERVER = 'your account’s server'

/** Whether an account has granted the right to write its repository records. */
export async function mayWriteRepo(ctx: Pick<PageContext, 'oauth'>, did: Did): Promise<boolean> {
  return grants((await ctx.oauth.granted(did)) ?? '', repositoryScope)
}

/**
 * Writes an edit of a repository's record into its owner's account. The record is read at its source, changed only in what the edit is about, and
 * put by compare-and-swap with what was read: a swap lost to another editor is judged again on what that one wrote. `cid` is what the form was
 * made from. What was written is indexed at once.
 */
export function writeRepo(
  ctx: PageContext,
  asked: { owner: Did; name: RecordKey; cid: string | undefined; edit: RepoEdit },
): Promise<WriteOutcome> {
  const uri = repoUri(asked.owner, asked.name)
  return ctx.actions.locks.run(`settings ${uri}`, async () => {
    const session = await sessionFor(ctx, asked.owner)
    if ('kind' in session) return session
    for (let tried = 0; tried < TRIES; tried++) {
      const done = await tryOnce(ctx, session, uri, asked)
      if (done !== 'again') return done
    }
    return { kind: 'refused', refusal: words.busy() }
  })
}

/** The right to write as an owner; or what is lacking. */
export async function sessionFor(ctx: PageContext, owner: Did): Promise<AccountSession | Exclude<WriteOutcome, { kind: 'written' }>> {
  if ((await ctx.oauth.granted(owner)) === undefined) return { kind: 'log-in' }
  if (!(await mayWriteRepo(ctx, owner))) return { kind: 'no-right' }
  try {
    return (await ctx.oauth.restore(owner)) ?? { kind: 'log-in' }
  } catch {
    return { kind: 'refused', refusal: words.unread(await serverName(ctx.actions, owner, ITS_SERVER)) }
  }
}

async function tryOnce(
  ctx: PageContext,
  session: AccountSession,
  uri: string,
  { owner, name, cid, edit }: { owner: Did; name: RecordKey; cid: string | undefined; edit: RepoEdit },
): Promise<WriteOutcome | 'again'> {
  const fresh = await readNow(ctx, uri)
  if (!fresh.ok) return { kind: 'refused', refusal: fresh.refusal }
  const { record } = fresh
  const edited = editRepo(record.value, edit, {
    owner,
    same: record.cid === cid,
    until: account => untilOf(ctx, record, account),
    key: ctx.actions.tids.next(),
  })
  if (edited.kind !== 'write') return edited.kind === 'already' ? { kind: 'already' } : edited
  const written = await putRepo(ctx, session, { name, record: edited.record, swapRecord: record.cid })
  if (written.ok) return { kind: 'written' }
  if (written.code === 'swap-lost') return 'again'
  return failed(ctx, owner, written)
}

/** Puts a repository's record by compare-and-swap (null: only where there is none), and into the index at once. */
export async function putRepo(
  ctx: PageContext,
  session: AccountSession,
  put: { name: RecordKey; record: RepoRecord; swapRecord: string | null },
): Promise<{ ok: true } | WriteFailure> {
  // What readers would not take is not written.
  if (!dev.knotless.repo.main.matches(put.record)) {
    return { ok: false, code: 'refused', message: 'the record would not hold', settled: true }
  }
  const writer = createWriter({ session, now: ctx.now })
  const record = asLex(put.record)
  const written = await writer.putRecord({ collection, rkey: put.name, record, swapRecord: put.swapRecord })
  if (!written.ok) return written
  const rev = written.rev ?? (await ctx.reader.getLatestCommit(session.did).catch(() => undefined))?.rev
  if (rev !== undefined) {
    await ctx.indexer.indexOwnWrite({ did: session.did, collection, rkey: put.name, cid: written.cid, rev, record })
  }
  return { ok: true }
}

/** What a write that failed means for its form. */
export async function failed(ctx: PageContext, owner: Did, failure: WriteFailure): Promise<WriteOutcome> {
  if (failure.code === 'session-gone') return { kind: 'log-in' }
  if (failure.code === 'scope-missing') return { kind: 'no-right' }
  const server = await serverName(ctx.actions, owner, ITS_SERVER)
  if (failure.code === 'clock') return { kind: 'refused', refusal: words.clocks(server) }
  if (!failure.settled) return { kind: 'refused', refusal: words.unclear(server) }
  return { kind: 'refused', refusal: words.notWritten(server, failure.code !== 'upstream-failed' && failure.code !== 'rate-limited') }
}

/** A repository's record at its source, and into the index where that has another. */
export async function readNow(
  ctx: PageContext,
  uri: string,
): Promise<{ ok: true; record: Stored<RepoRecord> } | { ok: false; unread: boolean; refusal: words.SettingsRefusal }> {
  const known = ctx.repositories.viewOf(uri)?.view.record
  const owner = repoOwner(uri)
  try {
    // The revision before the record: what is written in between is of a later one.
    const commit = owner && (await ctx.reader.getLatestCommit(owner))
    const record = await readRepoAt(ctx.reader, uri, ctx.now())
    if (record === null || owner === undefined) return { ok: false, unread: false, refusal: words.recordGone() }
    const rkey = parseRecordKey(record.rkey)
    const isNews = known?.uri === uri && known.cid !== record.cid
    if (isNews && commit !== undefined && rkey !== undefined) {
      await ctx.indexer.indexOwnWrite({ did: owner, collection, rkey, cid: record.cid, rev: commit.rev, record: asLex(record.value) })
    }
    return { ok: true, record }
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    return { ok: false, unread: true, refusal: words.unread(await serverName(ctx.actions, owner, ITS_SERVER)) }
  }
}

/** HON-5: past the present time and past every record of the account that counts. */
function untilOf(ctx: PageContext, record: Stored<RepoRecord>, account: { did: string; role: 'collaborator' | 'runner' }): string {
  const view = ctx.repositories.viewOf(record.uri)?.view
  const now = ctx.now()
  const until = (view && takeOut({ ...view, record }, account, now).former?.at(-1)?.until) ?? tidAt(now, 1023)
  // Pulls that are closed are not in the view.
  const [last] = statesBy(ctx.database, { repos: [record.uri], did: account.did, limit: 1 })
  return last !== undefined && last.rkey > until && tidMillis(last.rkey) <= now + AHEAD_MS ? last.rkey : until
}

function repoOwner(uri: string): Did | undefined {
  return repoAt(uri)?.owner
}
