import { parseAtUri, parseNsid } from '../../atproto/ids.ts'
import type { Reader } from '../../atproto/reader.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import { type RecordRead, syncFrom } from '../../git/follow.ts'
import type { BlobRefusal, FetchBlob } from '../../git/incoming.ts'
import type { Mirror } from '../../git/mirror.ts'
import { readRefs } from '../../git/packed-refs.ts'
import { type GitRefusal, refuse } from '../../git/refusal.ts'
import type { RefsRecord, Stored } from '../../queue/facts.ts'
import { mayPass } from '../read/git-facts.ts'
import type { MirrorContext } from './context.ts'
import { mirrorRow, noteFailed, noteSynced } from './store.ts'

const GONE = 'A part of the repository is not on its account’s server any more.'
const UNREAD = 'The account’s server could not be read.'
const FIRST_RETRY_MS = 15_000
const LAST_RETRY_MS = 3_600_000

export type MirrorReady = { ok: true; mirror: Mirror } | (GitRefusal & { retryAt?: number })

/** The mirror of a refs record as it stands, without asking anybody; `behind` when it is still to be brought to the record. */
export async function mirrorAt(ctx: MirrorContext, record: Stored<RefsRecord>): Promise<MirrorReady | 'behind'> {
  const row = mirrorRow(ctx.index, record.value.repo)
  if (row?.refs_cid !== record.cid) return 'behind'
  const retryAt = retryAtOf(row)
  if (row.status === 'failed') {
    if (retryAt !== undefined && retryAt <= ctx.now()) return 'behind'
    return { ...asRefusal(row), ...(retryAt === undefined ? {} : { retryAt }) }
  }
  const mirror = await ctx.mirrors.of(record.value.repo)
  // A mirror whose files were lost is filled again.
  return record.value.refs.length === 0 || (await readRefs(mirror)).size > 0 ? { ok: true, mirror } : 'behind'
}

/**
 * Brings the mirror of a repository to its refs record as indexed and notes how that went, so that a record that lies is said and not tried
 * again. A part that is gone means that there is a newer record: that one is read from the account.
 */
export async function syncIndexed(ctx: MirrorContext, record: Stored<RefsRecord>, signal: AbortSignal): Promise<MirrorReady> {
  const stands = await mirrorAt(ctx, record)
  if (stands !== 'behind') return stands
  const repo = record.value.repo
  const row = mirrorRow(ctx.index, repo)
  const mirror = await ctx.mirrors.of(repo)
  let first = true
  const read = async (): Promise<RecordRead> => {
    if (!first) return await readFresh(ctx.reader, repo, signal)
    first = false
    return { record: record.value, cid: record.cid }
  }
  const done = await syncFrom({ mirror, read, fetchBlob: blobsOf(ctx.reader, record.did), options: { ...ctx.limits, repo, signal } })
  if (signal.aborted) return refuse('failed', UNREAD)
  if (done.ok) {
    noteSynced(ctx.index, { repo, refs_cid: record.cid, synced_at: ctx.now() })
    return { ok: true, mirror }
  }
  const tries = (row?.refs_cid === record.cid ? row.tries : 0) + 1
  noteFailed(ctx.index, { repo, refs_cid: record.cid, code: done.code, message: done.message, failed_at: ctx.now(), tries })
  await ctx.ingest.submit([{ kind: 'touch', repos: [repo] }])
  const retryAt = retryAtOf({ code: done.code, tries, failed_at: ctx.now() })
  return { ...done, ...(retryAt === undefined ? {} : { retryAt }) }
}

/** Blobs of an account, as syncing takes them. */
export function blobsOf(reader: Pick<Reader, 'getBlob'>, account: string): FetchBlob {
  return async (cid, size, signal): Promise<AsyncIterable<Uint8Array> | BlobRefusal> => {
    const at = parseAtUri(`at://${account}/dev.knotless.repo/blob`)
    if (at === undefined) return { code: 'upstream-failed', message: UNREAD }
    try {
      const bytes = await reader.getBlob(at.did, cid, { maxBytes: size, totalMs: 600_000, signal })
      return bytes ?? { code: 'blob-missing', message: GONE }
    } catch (error) {
      if (error instanceof UpstreamError) return { code: 'upstream-failed', message: UNREAD }
      throw error
    }
  }
}

async function readFresh(reader: Pick<Reader, 'getRecord'>, repo: string, signal: AbortSignal): Promise<RecordRead> {
  const at = parseAtUri(repo)
  const collection = parseNsid('dev.knotless.refs')
  if (at === undefined || collection === undefined) return undefined
  try {
    const found = await reader.getRecord(at.did, collection, at.rkey, { signal })
    return found === undefined ? undefined : { record: found.value, cid: found.cid }
  } catch (error) {
    if (error instanceof UpstreamError) return { code: 'upstream-failed', message: UNREAD }
    throw error
  }
}

function retryAtOf(row: { code: string | null; tries: number; failed_at: number | null }): number | undefined {
  if (row.code === null || !mayPass(row.code)) return undefined
  return (row.failed_at ?? 0) + Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(12, row.tries - 1))
}

function asRefusal(row: { code: string | null; message: string | null }): GitRefusal {
  const refusal = refuse('failed', row.message ?? UNREAD)
  return isCode(row.code) ? { ...refusal, code: row.code } : refusal
}

function isCode(code: string | null): code is GitRefusal['code'] {
  return code !== null
}
