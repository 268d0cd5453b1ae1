import { LRUCache } from 'lru-cache'
import { checkedAgainst, isBlobCid } from './blob-stream.ts'
import { clockSkewMs } from './clock-skew.ts'
import type { GuardedAnswer } from './guarded-answer.ts'
import type { GuardedFetch } from './guarded-fetch.ts'
import type { Identity } from './identity.ts'
import type { Did, Nsid, RecordKey } from './ids.ts'
import {
  type AccountState,
  type ReadRecord,
  type RecordPage,
  readCommit,
  readPage,
  readRecord,
  readRepo,
  readRepos,
  readState,
} from './reader-answers.ts'
import { UpstreamError, type UpstreamReason } from './upstream-error.ts'
import { isNotThere, lexOf, type XrpcAnswer, type XrpcParams, type XrpcRequest, xrpcGet, xrpcUrl } from './xrpc-read.ts'

export type { AccountState, ReadRecord, RecordPage } from './reader-answers.ts'

export interface ListOptions {
  /** 1 to 100. */
  limit?: number
  cursor?: string
  /** Oldest key first. */
  reverse?: boolean
  signal?: AbortSignal
}

/**
 * Public reads at the account's own server. "Not there" is an answer (undefined); a server that is down, slow or talks nonsense is an
 * UpstreamError, and so is an account that is gone where an empty answer would be mistaken for an empty account.
 */
export interface Reader {
  getRecord(did: Did, collection: Nsid, rkey: RecordKey, options?: { signal?: AbortSignal }): Promise<ReadRecord | undefined>
  /** One page, newest key first. An account that is gone is an UpstreamError `no-account`. */
  listRecords(did: Did, collection: Nsid, options?: ListOptions): Promise<RecordPage>
  /** Every record up to `max`, page by page. */
  listAllRecords(did: Did, collection: Nsid, options: { max: number; reverse?: boolean; signal?: AbortSignal }): AsyncGenerator<ReadRecord>
  /** The head of the account's repository; undefined when it has none to show. */
  getLatestCommit(did: Did, options?: { signal?: AbortSignal }): Promise<{ cid: string; rev: string } | undefined>
  /** The account's collections; undefined when the account is not there. */
  describeRepo(did: Did): Promise<{ collections: Nsid[] } | undefined>
  getRepoStatus(did: Did): Promise<AccountState>
  /** A blob's bytes, held against the CID at their end (UpstreamError `bad-answer`); undefined when the server has no such blob (STO-4). */
  getBlob(
    did: Did,
    cid: string,
    options: { maxBytes: number; totalMs?: number; signal?: AbortSignal },
  ): Promise<AsyncIterable<Uint8Array> | undefined>
  /** One page of the accounts that have records of a collection, as a relay knows them. */
  listReposByCollection(relayUrl: string, collection: Nsid, cursor?: string): Promise<{ dids: Did[]; cursor?: string }>
  /** How far an account's server's clock was ahead of ours at its last answer, in milliseconds (REC-8); undefined when none was read. */
  clockSkew(did: Did): Promise<number | undefined>
}

const RECORD_BYTES = 4 * 2 ** 20
const PAGE_BYTES = 8 * 2 ** 20
const SMALL_BYTES = 256 * 2 ** 10
const MAX_PAGE = 100

const MAY_HAVE_MOVED: ReadonlySet<UpstreamReason> = new Set(['refused', 'timeout', 'status'])

export function createReader(options: { identity: Identity; fetch: GuardedFetch; now: () => number }): Reader {
  const { identity, fetch } = options
  const skews = new LRUCache<string, number>({ max: 5_000 })

  async function ask(service: string, method: Nsid, params: XrpcParams, request: XrpcRequest): Promise<XrpcAnswer> {
    const asked = await xrpcGet(fetch, xrpcUrl(service, method, params), request)
    const skew = clockSkewMs(asked.answer.headers.get('date'), options.now())
    if (skew !== undefined) skews.set(asked.answer.host, skew)
    return asked
  }

  /** One question to a server about an account; `absent` when it says that what was asked for, or the account, is not there. */
  async function askAt(server: string, method: Nsid, params: XrpcParams, request: XrpcRequest): Promise<GuardedAnswer | 'absent'> {
    const { answer, refusal } = await ask(server, method, params, request)
    if (refusal === undefined) return answer
    if (isNotThere(refusal)) return 'absent'
    throw new UpstreamError('status', answer.host, `answered ${refusal.status}`, { status: refusal.status })
  }

  /**
   * One question to the account's server; undefined when the account has none, or what was asked for is not there. When a server remembered as
   * the account's own does not have it, or does not answer, the account may have moved: that is looked up, and the new server asked.
   */
  async function askServer(did: Did, method: Nsid, params: XrpcParams, request: XrpcRequest): Promise<GuardedAnswer | undefined> {
    const server = (await identity.resolveDocument(did))?.pds
    if (server === undefined) return undefined
    const first = await askAt(server, method, params, request).catch((error: unknown) => {
      if (error instanceof UpstreamError && MAY_HAVE_MOVED.has(error.reason)) return error
      throw error
    })
    if (first !== 'absent' && !(first instanceof UpstreamError)) return first
    const moved = await newServer(did, server)
    if (moved !== undefined) {
      const second = await askAt(moved, method, params, request)
      return second === 'absent' ? undefined : second
    }
    if (first instanceof UpstreamError) throw first
    return undefined
  }

  /** Where an account is now, if that is another server than the one remembered and can be told. */
  async function newServer(did: Did, old: string): Promise<string | undefined> {
    const document = await identity.resolveDocument(did, { fresh: true }).catch((error: unknown) => {
      if (error instanceof UpstreamError) return undefined
      throw error
    })
    return document?.pds === old ? undefined : document?.pds
  }

  async function getRecord(did: Did, collection: Nsid, rkey: RecordKey, { signal }: { signal?: AbortSignal } = {}) {
    const params = { repo: did, collection, rkey }
    const answer = await askServer(did, 'com.atproto.repo.getRecord', params, { maxBytes: RECORD_BYTES, ...given(signal) })
    return answer && readRecord(await lexOf(answer), { host: answer.host, did, collection, rkey })
  }

  async function listRecords(did: Did, collection: Nsid, { limit = MAX_PAGE, cursor, reverse, signal }: ListOptions = {}) {
    const params = { repo: did, collection, limit: Math.min(MAX_PAGE, Math.max(1, limit)), cursor, reverse }
    const answer = await askServer(did, 'com.atproto.repo.listRecords', params, { maxBytes: PAGE_BYTES, ...given(signal) })
    if (answer === undefined) throw new UpstreamError('no-account', did, 'no such account')
    return readPage(await lexOf(answer), { host: answer.host, did, collection })
  }

  async function* listAllRecords(
    did: Did,
    collection: Nsid,
    list: { max: number; reverse?: boolean; signal?: AbortSignal },
  ): AsyncGenerator<ReadRecord> {
    let cursor: string | undefined
    let limit = MAX_PAGE
    for (let given = 0; given < list.max; ) {
      const page = await smallerWhenTooLarge()
      for (const record of page.records.slice(0, list.max - given)) {
        given += 1
        yield record
      }
      if (page.cursor === undefined || page.cursor === cursor || page.records.length === 0) return
      cursor = page.cursor
    }

    /** A page of many large records can be over the bound: it is asked for in halves, down to one record at a time. */
    async function smallerWhenTooLarge(): Promise<RecordPage> {
      for (;;) {
        try {
          return await listRecords(did, collection, { ...list, limit, ...(cursor === undefined ? {} : { cursor }) })
        } catch (error) {
          if (!(error instanceof UpstreamError && error.reason === 'too-large') || limit === 1) throw error
          limit = Math.floor(limit / 2)
        }
      }
    }
  }

  async function getLatestCommit(did: Did, { signal }: { signal?: AbortSignal } = {}) {
    const answer = await askServer(did, 'com.atproto.sync.getLatestCommit', { did }, { maxBytes: SMALL_BYTES, ...given(signal) })
    return answer && readCommit(await lexOf(answer), answer.host)
  }

  async function describeRepo(did: Did) {
    const answer = await askServer(did, 'com.atproto.repo.describeRepo', { repo: did }, { maxBytes: SMALL_BYTES })
    return answer && readRepo(await lexOf(answer), answer.host)
  }

  async function getRepoStatus(did: Did): Promise<AccountState> {
    const answer = await askServer(did, 'com.atproto.sync.getRepoStatus', { did }, { maxBytes: SMALL_BYTES })
    return answer === undefined ? 'gone' : readState(await lexOf(answer), answer.host)
  }

  async function getBlob(did: Did, cid: string, request: { maxBytes: number; totalMs?: number; signal?: AbortSignal }) {
    if (!isBlobCid(cid)) return undefined
    const answer = await askServer(did, 'com.atproto.sync.getBlob', { did, cid }, { ...request, accept: '*/*' })
    return answer && checkedAgainst(cid, answer.host, answer.body)
  }

  async function listReposByCollection(relayUrl: string, collection: Nsid, cursor?: string) {
    const params = { collection, limit: 500, cursor }
    const { answer, refusal } = await ask(relayUrl, 'com.atproto.sync.listReposByCollection', params, { maxBytes: PAGE_BYTES })
    if (refusal !== undefined) throw new UpstreamError('status', answer.host, `answered ${refusal.status}`, { status: refusal.status })
    return readRepos(await lexOf(answer), answer.host)
  }

  async function clockSkew(did: Did) {
    const server = (await identity.resolveDocument(did))?.pds
    return server === undefined ? undefined : skews.get(new URL(server).host)
  }

  return { getRecord, listRecords, listAllRecords, getLatestCommit, describeRepo, getRepoStatus, getBlob, listReposByCollection, clockSkew }
}

function given(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal }
}
