import type { LexMap } from '@atproto/lex-data'
import { asLex } from '../../atproto/as-lex.ts'
import type { Did, Nsid, RecordKey } from '../../atproto/ids.ts'
import type { Reader, ReadRecord } from '../../atproto/reader.ts'
import type { AccountSession } from '../../atproto/session.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import { failure as failed, type WriteFailure } from '../../atproto/write-outcome.ts'
import { createWriter, type Write } from '../../atproto/writer.ts'
import type { AccountRefusal, PutAnswer, RefsAccount } from '../../git/account.ts'
import { partLimits } from '../../git/parts.ts'
import type { RefsRecord } from '../../git/refs-record.ts'

/** A repository's refs record as it was read, and the commit that the account was at before: what a write of several records swaps with. */
export interface FoundRefs {
  record: ReadRecord | undefined
  commit?: string | undefined
}

/** A record created in the same commit as the refs (LND-14). Its key is chosen before the first try and kept (STO-7). */
export interface Along {
  collection: Nsid
  rkey: RecordKey
  record: LexMap
}

/** The refs record and blobs of one repository in an account that this server may write to, for one push. */
export interface OwnersAccount extends RefsAccount {
  /** What was written: the refs record's CID and those of what went along, and the account's revision where it was told. */
  readonly written: { refs: string; record: LexMap; along: readonly string[]; rev?: string | undefined } | undefined
  /** The last write that failed. */
  readonly failure: WriteFailure | undefined
  /** A write was sent of which it is not known whether it was made. */
  readonly unsure: boolean
  /** The source that the last read failed at. */
  readonly unread: UpstreamError | undefined
}

/** Bytes that a part may have, as found out, by account server (STO-2). */
export type PartLimits = Map<string, number>

const collection = 'dev.knotless.refs'
/** For how long a write whose answers get lost is tried again, in milliseconds. */
const PATIENCE_MS = 25_000

/**
 * A repository's git state as it is now. With `whole` the account's commit is read as well, and first: a write that swaps with it fails when
 * the record was another one in between. Rejects with an UpstreamError.
 */
export async function readFoundRefs(reader: Reader, at: { owner: Did; name: RecordKey; whole: boolean }): Promise<FoundRefs> {
  const commit = at.whole ? await reader.getLatestCommit(at.owner) : undefined
  const record = await reader.getRecord(at.owner, collection, at.name)
  return { record, ...(commit === undefined ? {} : { commit: commit.cid }) }
}

/**
 * The account of a delegating owner, as a push wants it. Refs alone are put under their own swap; with `along` all goes in one commit under the
 * account's (LND-14), so that an unrelated write of the owner's loses the swap and is tried again (STO-6). `first` is what the first read gives.
 */
export function createOwnersAccount(
  ctx: { reader: Reader; now: () => number; partLimits: PartLimits },
  asked: {
    session: AccountSession
    host: string
    name: RecordKey
    along: readonly Along[]
    first: FoundRefs
    /** Told before each time that the record is sent; false calls that off. */
    sending?: () => Promise<boolean>
  },
): OwnersAccount {
  const { session, host, name, along, sending } = asked
  const owner = session.did
  const writer = createWriter({ session, now: ctx.now })
  const started = performance.now()
  let first: FoundRefs | undefined = asked.first
  let commit: string | undefined
  let written: OwnersAccount['written']
  let failure: WriteFailure | undefined
  let unsure = false
  let unread: UpstreamError | undefined

  async function read(): Promise<{ record: unknown; cid: string } | undefined | AccountRefusal> {
    try {
      const found = first ?? (await readFoundRefs(ctx.reader, { owner, name, whole: along.length > 0 }))
      first = undefined
      commit = found.commit
      return found.record && { record: found.record.value, cid: found.record.cid }
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error
      unread = error
      return { code: 'unread', message: error.message }
    }
  }

  async function put(record: RefsRecord, swapRecord: string | null): Promise<PutAnswer> {
    const value = asLex(record)
    if ((await sending?.()) === false) return { code: 'called-off', message: 'it may not be written any more' }
    const done = along.length === 0 ? await putAlone(value, swapRecord) : await putTogether(value, swapRecord)
    if (!done.ok) return answerOf(done)
    written = { refs: done.refs, record: value, along: done.along, rev: done.rev }
    return 'done'
  }

  async function putAlone(record: LexMap, swapRecord: string | null) {
    const done = await writer.putRecord({ collection, rkey: name, record, swapRecord })
    return done.ok ? { ok: true as const, refs: done.cid, along: [], rev: done.rev } : done
  }

  /** There is no swap by record in a write of several: the commit that was read before the record stands for it. */
  async function putTogether(record: LexMap, swapRecord: string | null) {
    if (commit === undefined) return failed('upstream-failed', 'where the account is could not be read', true)
    const refs: Write = { action: swapRecord === null ? 'create' : 'update', collection, rkey: name, record }
    const writes: Write[] = [...along.map(one => ({ action: 'create' as const, ...one })), refs]
    const done = await writer.applyWrites({ writes, swapCommit: commit })
    if (!done.ok) return done
    const cids = done.cids.map(cid => cid ?? '')
    return { ok: true as const, refs: cids.at(-1) ?? '', along: cids.slice(0, -1), rev: done.rev }
  }

  function answerOf(last: WriteFailure): PutAnswer {
    failure = last
    if (!last.settled) unsure = true
    if (last.code === 'swap-lost') return 'swap-lost'
    if (last.code === 'blob-not-found') return 'blob-missing'
    const again = last.code === 'upstream-failed' && performance.now() - started < PATIENCE_MS
    return { code: again ? 'upstream-failed' : `final-${last.code}`, message: last.message }
  }

  return {
    read,
    put,
    async upload(bytes) {
      const done = await writer.uploadBlob(bytes, 'application/octet-stream')
      if (done.ok) return done.blob
      failure = done
      return done.code === 'too-large' ? 'too-large' : { code: `final-${done.code}`, message: done.message }
    },
    get partLimit() {
      return ctx.partLimits.get(host) ?? partLimits.first
    },
    set partLimit(bytes: number) {
      ctx.partLimits.set(host, bytes)
    },
    get written() {
      return written
    },
    get failure() {
      return failure
    },
    get unsure() {
      return unsure
    },
    get unread() {
      return unread
    },
  }
}
