import { toDatetimeString } from '@atproto/syntax'
import { type AtUri, type Did, parseAtUri, parseRecordKey, type RecordKey, repoUri } from '../../atproto/ids.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import { readRepoAt } from '../../indexer/sources/read-records.ts'
import type { RepoRecord } from '../../queue/facts.ts'
import * as words from '../../queue/words/repo-settings.ts'
import type { PageContext } from './context.ts'
import { copyGitState } from './repo-settings-copy.ts'
import { failed, putRepo, readNow, sessionFor, type WriteOutcome } from './repo-settings-write.ts'

/**
 * The second half of a transfer (HON-4): the new owner's own record, with the settings that the repository has now, once its git state lies in
 * their account (STO-8). Done twice, the second finds what the first wrote.
 */
export function acceptRepo(ctx: PageContext, asked: { from: AtUri; by: Did }): Promise<WriteOutcome> {
  return ctx.actions.locks.run(`accept ${asked.from}`, async () => {
    try {
      return await accept(ctx, asked)
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error
      return no(words.unread(error.host))
    }
  })
}

async function accept(ctx: PageContext, { from, by }: { from: AtUri; by: Did }): Promise<WriteOutcome> {
  const old = await readNow(ctx, from)
  if (!old.ok) return no(old.refusal)
  const offered = offeredTo(old.record.value, by)
  if (offered === undefined) return no(words.notOffered())
  const to = repoUri(by, offered)
  const there = await isThere(ctx, to, from)
  if (there !== undefined) return there
  const session = await sessionFor(ctx, by)
  if ('kind' in session) return session

  const copied = await copyGitState(ctx, { from, to, by, name: offered })
  if (copied !== undefined) return no(copied)
  const record = takenOver(old.record.value, { from, by, now: ctx.now() })
  const written = await putRepo(ctx, session, { name: offered, record, swapRecord: null })
  if (written.ok) return { kind: 'written' }
  if (written.code === 'swap-lost') return (await isThere(ctx, to, from)) ?? no(words.busy())
  return failed(ctx, by, written)
}

/** The name under which a repository is offered to an account; undefined when it is not. */
export function offeredTo(record: RepoRecord, did: string): RecordKey | undefined {
  const address = parseAtUri(record.transferredTo?.repo)
  return address?.did === did && address.collection === 'dev.knotless.repo' ? parseRecordKey(address.rkey) : undefined
}

/** What is at the new address already: this very repository, or another. */
async function isThere(ctx: PageContext, to: AtUri, from: string): Promise<WriteOutcome | undefined> {
  const address = parseAtUri(to)
  if (address === undefined) return no(words.notOffered())
  const read = await ctx.reader.getRecord(address.did, address.collection, address.rkey)
  if (read === undefined) return undefined
  const record = await readRepoAt(ctx.reader, to, ctx.now())
  return record?.value.transferredFrom === from ? { kind: 'already' } : no(words.nameTaken(address.rkey))
}

/** The settings that it has now; its new owner is no collaborator of their own. */
function takenOver(record: RepoRecord, { from, by, now }: { from: AtUri; by: string; now: number }): RepoRecord {
  const { transferredTo: _, transferredFrom: __, createdAt: ___, ...settings } = record
  return {
    ...settings,
    collaborators: settings.collaborators.filter(({ did }) => did !== by),
    transferredFrom: from,
    createdAt: toDatetimeString(new Date(now)),
  }
}

/** HON-4: whether the new owner's record says so too, as it is at its source. Rejects with UpstreamError when that cannot be read. */
export async function holdsAt(ctx: PageContext, record: RepoRecord, from: string): Promise<boolean> {
  const to = record.transferredTo?.repo
  if (to === undefined) return false
  return (await readRepoAt(ctx.reader, to, ctx.now()))?.value.transferredFrom === from
}

function no(refusal: words.SettingsRefusal): WriteOutcome {
  return { kind: 'refused', refusal }
}
