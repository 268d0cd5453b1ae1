import { z } from 'zod'
import { XrpcFailure, type XrpcRequest, xrpc } from './xrpc.ts'

const sessionShape = z.object({ did: z.string(), handle: z.string(), accessJwt: z.string(), refreshJwt: z.string() })
const writtenShape = z.object({ uri: z.string(), cid: z.string() })
const recordShape = z.object({ uri: z.string(), cid: z.string(), value: z.record(z.string(), z.unknown()) })
const listShape = z.object({ records: z.array(recordShape), cursor: z.string().optional() })
const blobShape = z.object({ blob: z.record(z.string(), z.unknown()) })

/** A password session on the PDS. */
export type Session = z.infer<typeof sessionShape>
/** Where a record was written, and as what. */
export type Written = z.infer<typeof writtenShape>
/** A record as the PDS gives it. */
export type StoredRecord = z.infer<typeof recordShape>
/** A record's fields. */
export type RecordValue = Record<string, unknown>

/** An account of the local network, with its password and a session that renews itself. */
export interface DevAccount {
  readonly did: string
  readonly handle: string
  readonly password: string
  readonly pdsUrl: string
  /** A session that is good now: signs in the first time, afterwards the same. */
  session(): Promise<Session>
  /** Any method of the PDS, signed in. An expired session is made anew once. */
  call(method: string, request?: Omit<XrpcRequest, 'token'>): Promise<unknown>
  create(collection: string, record: RecordValue, rkey?: string): Promise<Written>
  put(collection: string, rkey: string, record: RecordValue, swapRecord?: string | null): Promise<Written>
  remove(collection: string, rkey: string): Promise<void>
  /** The record, or undefined when there is none. */
  get(collection: string, rkey: string): Promise<StoredRecord | undefined>
  /** Every record of the collection, in key order. */
  list(collection: string): Promise<StoredRecord[]>
  /** Uploads bytes and gives the blob reference as the PDS answered it. */
  upload(data: Uint8Array, type: string): Promise<RecordValue>
}

/** Makes a new account on the PDS. Throws `XrpcFailure` when the PDS refuses it. */
export async function registerAccount(pdsUrl: string, handle: string, password: string): Promise<DevAccount> {
  const email = `${handle.replaceAll('.', '-')}@devnet.test`
  const made = sessionShape.parse(await xrpc(pdsUrl, 'com.atproto.server.createAccount', { input: { handle, email, password } }))
  return openAccount(pdsUrl, { did: made.did, handle, password }, made)
}

/** An account that exists already; it signs in when it is first needed. */
export function openAccount(pdsUrl: string, known: { did: string; handle: string; password: string }, session?: Session): DevAccount {
  const { did, handle, password } = known
  let current = session

  async function signIn(): Promise<Session> {
    const input = { identifier: did, password }
    current = sessionShape.parse(await xrpc(pdsUrl, 'com.atproto.server.createSession', { input }))
    return current
  }

  async function call(method: string, request: Omit<XrpcRequest, 'token'> = {}): Promise<unknown> {
    const { accessJwt } = current ?? (await signIn())
    try {
      return await xrpc(pdsUrl, method, { ...request, token: accessJwt })
    } catch (error) {
      if (!(error instanceof XrpcFailure) || error.error !== 'ExpiredToken') throw error
      return xrpc(pdsUrl, method, { ...request, token: (await signIn()).accessJwt })
    }
  }

  async function write(method: string, input: RecordValue): Promise<Written> {
    return writtenShape.parse(await call(method, { input: { repo: did, ...input } }))
  }

  async function list(collection: string): Promise<StoredRecord[]> {
    const all: StoredRecord[] = []
    let cursor: string | undefined
    do {
      const params = { repo: did, collection, limit: 100, reverse: true, cursor }
      const page = listShape.parse(await call('com.atproto.repo.listRecords', { params }))
      all.push(...page.records)
      cursor = page.records.length === 0 ? undefined : page.cursor
    } while (cursor !== undefined)
    return all
  }

  return {
    did,
    handle,
    password,
    pdsUrl,
    session: async () => current ?? (await signIn()),
    call,
    create: (collection, record, rkey) =>
      write('com.atproto.repo.createRecord', {
        collection,
        record: { $type: collection, ...record },
        ...(rkey === undefined ? {} : { rkey }),
      }),
    put: (collection, rkey, record, swapRecord) =>
      write('com.atproto.repo.putRecord', {
        collection,
        rkey,
        record: { $type: collection, ...record },
        ...(swapRecord === undefined ? {} : { swapRecord }),
      }),
    remove: async (collection, rkey) => {
      await call('com.atproto.repo.deleteRecord', { input: { repo: did, collection, rkey } })
    },
    get: async (collection, rkey) => {
      try {
        return recordShape.parse(await call('com.atproto.repo.getRecord', { params: { repo: did, collection, rkey } }))
      } catch (error) {
        if (error instanceof XrpcFailure && error.error === 'RecordNotFound') return undefined
        throw error
      }
    },
    list,
    upload: async (data, type) => blobShape.parse(await call('com.atproto.repo.uploadBlob', { bytes: { data, type } })).blob,
  }
}
