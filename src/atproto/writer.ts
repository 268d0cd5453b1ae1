import { l } from '@atproto/lex'
import { cidForLex } from '@atproto/lex-cbor'
import { cidForRawBytes, isTypedBlobRef, type LexMap, type LexValue, type TypedBlobRef } from '@atproto/lex-data'
import { lexStringify } from '@atproto/lex-json'
import type { Did, Nsid, RecordKey } from './ids.ts'
import { callPds, type PdsAnswer } from './pds-call.ts'
import type { AccountSession } from './session.ts'
import { type Seen, settle } from './settle.ts'
import type { Applied, WriteFailure, Written } from './write-outcome.ts'
import { createWriterClock } from './writer-clock.ts'
import { isNotThere, xrpcPath } from './xrpc-read.ts'

export interface RecordPlace {
  collection: Nsid
  /** Chosen by the caller, and kept by it until the outcome is settled (STO-7). */
  rkey: RecordKey
}

export type Write = (RecordPlace & { action: 'create' | 'update'; record: LexMap }) | (RecordPlace & { action: 'delete' })

/** Writes to one account's own server. No method throws for what the server does; a record that atproto's data model cannot hold is a TypeError. */
export interface AccountWriter {
  readonly did: Did
  /** A record at a free key. The very same record there already is success. */
  createRecord(create: RecordPlace & { record: LexMap }): Promise<Written | WriteFailure>
  /** A record at a key, if what is there now is `swapRecord` (null: nothing; undefined: whatever it is). The very same record there already is success. */
  putRecord(put: RecordPlace & { record: LexMap; swapRecord?: string | null }): Promise<Written | WriteFailure>
  /** Takes a record away, if it is `swapRecord` where that is given. Nothing there is success. */
  deleteRecord(place: RecordPlace & { swapRecord?: string }): Promise<{ ok: true } | WriteFailure>
  /** All of the writes or none, in one commit, if the repository's head is `swapCommit` where that is given. There is no swap by record here. */
  applyWrites(batch: { writes: readonly Write[]; swapCommit?: string }): Promise<Applied | WriteFailure>
  /** Uploads bytes. The reference is the one that the server answered, its type included (STO-5); its CID has been held against the bytes. */
  uploadBlob(bytes: Uint8Array, mimeType: string): Promise<{ ok: true; blob: TypedBlobRef } | WriteFailure>
  /** A token by which another service knows the account. `seconds` is how long it is good for. */
  getServiceAuth(wanted: { aud: string; lxm: Nsid; seconds: number }): Promise<{ ok: true; token: string } | WriteFailure>
}

const recordAnswer = l.object({ cid: l.string({ format: 'cid' }), commit: l.optional(l.object({ rev: l.string() })) })
const commitAnswer = l.object({ commit: l.optional(l.object({ rev: l.string() })) })
const cidAnswer = l.object({ cid: l.string({ format: 'cid' }) })
const tokenAnswer = l.object({ token: l.string() })

/** Bytes a millisecond that an upload is given time for, on top of the wait of every request. */
const SLOWEST_UPLOAD = 256

/** Keys that are looked at to settle a batch: it is one commit, so that a few tell of all. */
const LOOKS = 3

/**
 * A writer over a session. `timeoutMs` (10 s) is the wait of one try, `tries` (2) how often a write whose answer was lost, and which was not
 * written as reading shows, is sent. Before each write the clocks are compared (REC-8).
 */
export function createWriter(ctx: { session: AccountSession; now: () => number; timeoutMs?: number; tries?: number }): AccountWriter {
  const { session, now, timeoutMs = 10_000, tries = 2 } = ctx
  const did = session.did
  const clock = createWriterClock({ session, now, timeoutMs })

  async function get(method: Nsid, params: Record<string, string | number>): Promise<PdsAnswer> {
    const answer = await callPds(session, { path: xrpcPath(method, params), method: 'GET', timeoutMs })
    clock.note(answer)
    return answer
  }

  async function post(method: Nsid, body: { type: string; bytes: Uint8Array | string }, waitMs = timeoutMs): Promise<PdsAnswer> {
    const answer = await callPds(session, { path: xrpcPath(method, {}), method: 'POST', body, timeoutMs: waitMs })
    clock.note(answer)
    return answer
  }

  function postJson(method: Nsid, body: LexMap): Promise<PdsAnswer> {
    return post(method, { type: 'application/json', bytes: lexStringify(body) })
  }

  /** The CID at a key: null when there is none, undefined when it cannot be read. */
  async function cidAt({ collection, rkey }: RecordPlace): Promise<string | null | undefined> {
    const answer = await get('com.atproto.repo.getRecord', { repo: did, collection, rkey })
    if (answer.kind === 'refused' && isNotThere(answer)) return null
    const parsed = answer.kind === 'ok' ? cidAnswer.safeParse(answer.value) : undefined
    return parsed?.success ? parsed.value.cid : undefined
  }

  async function createRecord({ collection, rkey, record }: RecordPlace & { record: LexMap }): Promise<Written | WriteFailure> {
    const cid = (await cidForLex(record)).toString()
    return (
      (await clock.check()) ??
      settle<Written>({
        send: () => postJson('com.atproto.repo.createRecord', { repo: did, collection, rkey, record }),
        read: readWritten,
        look: async () => seenCreate(await cidAt({ collection, rkey }), cid),
        found: { ok: true, cid },
        tries,
      })
    )
  }

  async function putRecord(put: RecordPlace & { record: LexMap; swapRecord?: string | null }): Promise<Written | WriteFailure> {
    const { collection, rkey, record, swapRecord } = put
    const cid = (await cidForLex(record)).toString()
    const swap = swapRecord === undefined ? {} : { swapRecord }
    return (
      (await clock.check()) ??
      settle<Written>({
        send: () => postJson('com.atproto.repo.putRecord', { repo: did, collection, rkey, record, ...swap }),
        read: readWritten,
        look: async () => seenChange(await cidAt({ collection, rkey }), cid, swapRecord),
        found: { ok: true, cid },
        tries,
      })
    )
  }

  async function deleteRecord({
    collection,
    rkey,
    swapRecord,
  }: RecordPlace & { swapRecord?: string }): Promise<{ ok: true } | WriteFailure> {
    const swap = swapRecord === undefined ? {} : { swapRecord }
    return (
      (await clock.check()) ??
      settle<{ ok: true }>({
        send: () => postJson('com.atproto.repo.deleteRecord', { repo: did, collection, rkey, ...swap }),
        read: () => ({ ok: true }),
        look: async () => seenChange(await cidAt({ collection, rkey }), null, swapRecord),
        found: { ok: true },
        tries,
      })
    )
  }

  async function applyWrites({ writes, swapCommit }: { writes: readonly Write[]; swapCommit?: string }): Promise<Applied | WriteFailure> {
    const cids = await Promise.all(
      writes.map(async write => (write.action === 'delete' ? undefined : (await cidForLex(write.record)).toString())),
    )
    const body = { repo: did, writes: writes.map(toOperation), ...(swapCommit === undefined ? {} : { swapCommit }) }
    return (
      (await clock.check()) ??
      settle<Applied>({
        send: () => postJson('com.atproto.repo.applyWrites', body),
        read(value) {
          const parsed = commitAnswer.safeParse(value)
          // Without the commit that it was, an answer proves nothing: what is there then is looked at.
          return parsed.success && parsed.value.commit !== undefined ? { ok: true, cids, ...revOf(parsed.value.commit) } : undefined
        },
        look: () => lookAtBatch(writes, cids),
        found: { ok: true, cids },
        tries,
      })
    )
  }

  /** Creates tell best: their keys were free before. Without any, what the first changed keys hold now. */
  async function lookAtBatch(writes: readonly Write[], cids: readonly (string | undefined)[]): Promise<Seen> {
    const expected = writes.map((write, i) => ({ write, cid: cids[i] ?? null }))
    const creates = expected.filter(({ write }) => write.action === 'create')
    const updates = expected.filter(({ write }) => write.action === 'update')
    const told = creates.length > 0 ? creates : updates.length > 0 ? updates : expected
    let all: Seen | undefined
    for (const { write, cid } of told.slice(0, LOOKS)) {
      const found = await cidAt(write)
      const seen = write.action === 'create' ? seenCreate(found, cid) : seenChange(found, cid, undefined)
      if (seen === 'unknown' || seen === 'key-taken') return seen
      if (seen === 'written' && write.action === 'create') return seen
      all = all === undefined || seen === 'not-written' ? seen : all
    }
    return all ?? 'written'
  }

  async function uploadBlob(bytes: Uint8Array, mimeType: string): Promise<{ ok: true; blob: TypedBlobRef } | WriteFailure> {
    const cid = (await cidForRawBytes(bytes)).toString()
    return settle<{ ok: true; blob: TypedBlobRef }>({
      send: () => post('com.atproto.repo.uploadBlob', { type: mimeType, bytes }, timeoutMs + bytes.length / SLOWEST_UPLOAD),
      read: value => readBlob(value, cid, bytes.length),
      // An upload cannot be seen before a record names it, and a second one of the same bytes is the same blob.
      look: async () => 'not-written',
      found: undefined,
      tries,
    })
  }

  async function getServiceAuth({ aud, lxm, seconds }: { aud: string; lxm: Nsid; seconds: number }) {
    const exp = Math.floor(now() / 1000) + seconds
    return settle<{ ok: true; token: string }>({
      send: () => get('com.atproto.server.getServiceAuth', { aud, lxm, exp }),
      read(value) {
        const parsed = tokenAnswer.safeParse(value)
        return parsed.success ? { ok: true, token: parsed.value.token } : undefined
      },
      look: async () => 'not-written',
      found: undefined,
      tries,
    })
  }

  return { did, createRecord, putRecord, deleteRecord, applyWrites, uploadBlob, getServiceAuth }
}

function toOperation(write: Write): LexMap {
  const { action, collection, rkey } = write
  const operation = { $type: `com.atproto.repo.applyWrites#${action}`, collection, rkey }
  return action === 'delete' ? operation : { ...operation, value: write.record }
}

function seenCreate(found: string | null | undefined, wanted: string | null): Seen {
  if (found === undefined) return 'unknown'
  if (found === null) return 'not-written'
  return found === wanted ? 'written' : 'key-taken'
}

function seenChange(found: string | null | undefined, wanted: string | null, before: string | null | undefined): Seen {
  if (found === undefined) return 'unknown'
  if (found === wanted) return 'written'
  return before === undefined || found === before ? 'not-written' : 'swap-lost'
}

function readWritten(value: LexValue): Written | undefined {
  const parsed = recordAnswer.safeParse(value)
  return parsed.success ? { ok: true, cid: parsed.value.cid, ...revOf(parsed.value.commit) } : undefined
}

function revOf(commit: { rev: string } | undefined): { rev?: string } {
  return commit === undefined ? {} : { rev: commit.rev }
}

function readBlob(value: LexValue, cid: string, size: number): { ok: true; blob: TypedBlobRef } | undefined {
  const blob = value !== null && typeof value === 'object' && 'blob' in value ? value.blob : undefined
  return isTypedBlobRef(blob) && blob.ref.toString() === cid && blob.size === size ? { ok: true, blob } : undefined
}
