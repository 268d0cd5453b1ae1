import type { Account } from '../../atproto/identity.ts'
import { type Did, type Nsid, parseAtUri } from '../../atproto/ids.ts'
import type { ReadRecord } from '../../atproto/reader.ts'
import { asJson } from '../ingest/as-json.ts'
import type { RecordEvent, ResolvedEvent } from '../ingest/events.ts'
import { priorities } from '../ingest/wanted.ts'
import { collections } from '../validate/usable.ts'
import type { BackfillContext, JobEnd } from './context.ts'
import type { Job } from './jobs.ts'

/** Of somebody whom no repository names only what authors write can count. */
const authored = new Set(['repo', 'refs', 'pull', 'state', 'issue'].map(name => `dev.knotless.${name}`))
const PAGE = 100
/** Characters of records that are held at a time: several accounts are read at once, and a record may have a megabyte. */
const PAGE_SIZE = 2 ** 20

/**
 * Reads what an account holds of ours from its own server. The revision is taken before the lists are read and stands for all of them, so
 * that what the stream brings from after it wins; what the index has from before it and a list lacks was deleted.
 */
export async function readAccount(ctx: BackfillContext, job: Job, did: Did, host: string, signal: AbortSignal): Promise<JobEnd> {
  const earlier = readProgress(job)
  const rev = earlier?.rev ?? (await headOf(ctx, did, host, signal))
  if (rev === undefined) return 'absent'
  // Nothing was written there since it was read last.
  if (earlier === undefined && job.rev === rev) {
    ctx.jobs.done(job, rev, ctx.now() + ctx.bounds.renewMs)
    return 'done'
  }
  await ctx.budget.take(host, signal)
  const there = (await ctx.reader.describeRepo(did))?.collections
  if (there === undefined) return 'absent'
  const done = new Set(earlier?.done)
  for (const collection of collections) {
    if (done.has(collection) || (job.priority >= priorities.author && !authored.has(collection))) continue
    const nsid = there.find(name => name === collection)
    if (nsid === undefined) await ctx.ingest.submit([{ kind: 'sweep', did, collection, rev, listed: new Set() }])
    else await readCollection(ctx, { did, host, nsid, collection, rev }, signal)
    done.add(collection)
    ctx.jobs.progress(job, rev, JSON.stringify({ done: [...done] }))
  }
  ctx.jobs.done(job, rev, ctx.now() + ctx.bounds.renewMs)
  return 'done'
}

/** The account's revision, with how it stands noted; undefined when it has nothing to show. */
async function headOf(ctx: BackfillContext, did: Did, host: string, signal: AbortSignal): Promise<string | undefined> {
  await ctx.budget.take(host, signal)
  const account = await ctx.identity.resolveDid(did)
  const askedUs = ctx.now() * 1_000
  const head = await ctx.reader.getLatestCommit(did, { signal })
  const status = head === undefined ? await statusOf(ctx, did, host, signal) : 'active'
  await ctx.ingest.submit([{ kind: 'resolved', did, ...about(account), status, askedUs }])
  return head?.rev
}

/** What is noted of an account that was looked up. */
export function about(account: Account | undefined): Pick<ResolvedEvent, 'handle' | 'handleUnread' | 'pds'> {
  return { handle: account?.handle, handleUnread: account?.handleUnread, pds: account?.pds }
}

async function statusOf(ctx: BackfillContext, did: Did, host: string, signal: AbortSignal): Promise<string> {
  await ctx.budget.take(host, signal)
  const status = await ctx.reader.getRepoStatus(did)
  if (status === 'gone') return 'deleted'
  return status === 'unknown' || status === 'active' ? 'deactivated' : status
}

async function readCollection(
  ctx: BackfillContext,
  from: { did: Did; host: string; nsid: Nsid; collection: string; rev: string },
  signal: AbortSignal,
): Promise<void> {
  const listed = new Set<string>()
  let last: string | undefined
  let page: RecordEvent[] = []
  let size = 0
  const max = ctx.bounds.perCollection
  await ctx.budget.take(from.host, signal)
  for await (const record of ctx.reader.listAllRecords(from.did, from.nsid, { max, signal })) {
    const event = asEvent(from, record)
    if (event === undefined) continue
    listed.add(event.rkey)
    last = event.rkey
    page.push(event)
    size += JSON.stringify(event.record)?.length ?? 0
    if (page.length < PAGE && size < PAGE_SIZE) continue
    await ctx.ingest.submit(page)
    page = []
    size = 0
    await ctx.budget.take(from.host, signal)
  }
  const { did, collection, rev } = from
  // A list that was cut tells nothing about older keys.
  const cut = listed.size >= max ? last : undefined
  await ctx.ingest.submit([...page, { kind: 'sweep', did, collection, rev, listed, from: cut }])
}

function asEvent(from: { did: string; collection: string; rev: string }, record: ReadRecord): RecordEvent | undefined {
  const at = parseAtUri(record.uri)
  if (at === undefined) return undefined
  const { did, collection, rev } = from
  return {
    kind: 'record',
    source: 'listed',
    did,
    collection,
    rkey: at.rkey,
    rev,
    operation: 'create',
    cid: record.cid,
    record: asJson(record.value),
  }
}

/** Where a job stood when it was broken off; undefined when it starts from the beginning. */
function readProgress(job: Job): { rev: string; done: string[] } | undefined {
  if (job.progress === null || job.rev === null) return undefined
  const kept: unknown = JSON.parse(job.progress)
  if (typeof kept !== 'object' || kept === null || !('done' in kept) || !Array.isArray(kept.done)) return undefined
  return { rev: job.rev, done: kept.done.filter(name => typeof name === 'string') }
}
