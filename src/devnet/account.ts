import { z } from 'zod'
import { type Did, parseDid } from '../atproto/ids.ts'
import { logIn, type PasswordSession, type PasswordTokens, resumeSession } from '../atproto/password-session.ts'
import { type AccountSession, SessionGoneError } from '../atproto/session.ts'
import { type AccountWriter, createWriter } from '../atproto/writer.ts'
import { XrpcFailure, type XrpcRequest, xrpc, xrpcOver } from './xrpc.ts'

const did = z.custom<Did>(value => parseDid(value) !== undefined)
const madeShape = z.object({ did, accessJwt: z.string(), refreshJwt: z.string() })
const writtenShape = z.object({ uri: z.string(), cid: z.string() })
const recordShape = z.object({ uri: z.string(), cid: z.string(), value: z.record(z.string(), z.unknown()) })
const listShape = z.object({ records: z.array(recordShape), cursor: z.string().optional() })
const blobShape = z.object({ blob: z.record(z.string(), z.unknown()) })

/** Where a record was written, and as what. */
export type Written = z.infer<typeof writtenShape>
/** A record as the PDS gives it. */
export type StoredRecord = z.infer<typeof recordShape>
/** A record's fields. */
export type RecordValue = Record<string, unknown>

/** What an account is known by. */
export interface Known {
  did: Did
  handle: string
  password: string
}

/**
 * An account of the local network. Its own calls are as plain as can be and write whatever they are told, lies included; `writer` is the project's
 * own, over the same session.
 */
export interface DevAccount extends Readonly<Known> {
  readonly pdsUrl: string
  /** Signs in when it is first needed, and again when it has ended. */
  readonly session: AccountSession
  readonly writer: AccountWriter
  /** Any method of the PDS, signed in. Throws `XrpcFailure` on a refusal. */
  call(method: string, request?: XrpcRequest): Promise<unknown>
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
  const made = madeShape.parse(await xrpc(pdsUrl, 'com.atproto.server.createAccount', { input: { handle, email, password } }))
  return openAccount(pdsUrl, { did: made.did, handle, password }, { ...made, pds: pdsUrl })
}

/** An account that exists already, with the tokens of a session if there is one. */
export function openAccount(pdsUrl: string, known: Known, tokens?: PasswordTokens): DevAccount {
  const session = lazySession(pdsUrl, known, tokens)
  const call = (method: string, request?: XrpcRequest) => xrpcOver(session.fetchHandler, method, request)
  const write = async (method: string, input: RecordValue) =>
    writtenShape.parse(await call(method, { input: { repo: known.did, ...input } }))

  async function get(collection: string, rkey: string): Promise<StoredRecord | undefined> {
    try {
      return recordShape.parse(await call('com.atproto.repo.getRecord', { params: { repo: known.did, collection, rkey } }))
    } catch (error) {
      if (error instanceof XrpcFailure && error.error === 'RecordNotFound') return undefined
      throw error
    }
  }

  async function list(collection: string): Promise<StoredRecord[]> {
    const all: StoredRecord[] = []
    let cursor: string | undefined
    do {
      const params = { repo: known.did, collection, limit: 100, reverse: true, cursor }
      const page = listShape.parse(await call('com.atproto.repo.listRecords', { params }))
      all.push(...page.records)
      cursor = page.records.length === 0 ? undefined : page.cursor
    } while (cursor !== undefined)
    return all
  }

  return {
    ...known,
    pdsUrl,
    session,
    writer: createWriter({ session, now: Date.now }),
    call,
    create: (collection, record, rkey) =>
      write('com.atproto.repo.createRecord', {
        collection,
        record: { $type: collection, ...record },
        ...(rkey === undefined ? {} : { rkey }),
      }),
    put: (collection, rkey, record, swapRecord) => {
      const swap = swapRecord === undefined ? {} : { swapRecord }
      return write('com.atproto.repo.putRecord', { collection, rkey, record: { $type: collection, ...record }, ...swap })
    },
    remove: async (collection, rkey) => {
      await call('com.atproto.repo.deleteRecord', { input: { repo: known.did, collection, rkey } })
    },
    get,
    list,
    upload: async (data, type) => blobShape.parse(await call('com.atproto.repo.uploadBlob', { bytes: { data, type } })).blob,
  }
}

function lazySession(pdsUrl: string, known: Known, tokens: PasswordTokens | undefined): AccountSession {
  const ctx = { fetch: globalThis.fetch }
  let opened: Promise<PasswordSession> | undefined = tokens === undefined ? undefined : Promise.resolve(resumeSession(ctx, tokens))

  async function signIn(): Promise<PasswordSession> {
    const done = await logIn(ctx, { pds: pdsUrl, identifier: known.did, password: known.password })
    if (!done.ok) throw new Error(`${known.handle} could not sign in: ${done.message}`)
    return done.session
  }

  async function ready(): Promise<PasswordSession> {
    opened ??= signIn()
    try {
      return await opened
    } catch (error) {
      opened = undefined
      throw error
    }
  }

  return {
    did: known.did,
    async fetchHandler(path, init) {
      try {
        return await (await ready()).fetchHandler(path, init)
      } catch (error) {
        if (!(error instanceof SessionGoneError)) throw error
        opened = undefined
        return (await ready()).fetchHandler(path, init)
      }
    },
  }
}
