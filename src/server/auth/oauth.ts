import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type HandleResolver,
  NodeOAuthClient,
  type NodeSavedSession,
  type NodeSavedState,
  OAuthCallbackError,
  TokenRevokedError,
} from '@atproto/oauth-client-node'
import { z } from 'zod'
import type { GuardedFetch } from '../../atproto/guarded-fetch.ts'
import type { Identity } from '../../atproto/identity.ts'
import { type Did, parseDid, parseHandle } from '../../atproto/ids.ts'
import { sessionOfOAuth } from '../../atproto/oauth-session.ts'
import type { AccountSession } from '../../atproto/session.ts'
import { asWebFetch } from '../../atproto/web-fetch.ts'
import type { ServerDb } from '../tables.ts'
import { readAsked, writeAsked } from './asked.ts'
import type { keepClientKey } from './client-key.ts'
import { clientMetadata } from './client-metadata.ts'
import { common, grants, union } from './scopes.ts'
import type { Seal } from './seal.ts'
import { createSealedStore, type JsonStore } from './sealed-store.ts'
import type { SharedLock } from './shared-lock.ts'

/** What came of a log-in. `state` is what `begin` was given, where the log-in is known. */
export type Finished =
  | { ok: true; did: Did; state: string }
  | { ok: false; why: 'denied' | 'stale' | 'too-little' | 'not-taken' | 'failed'; state?: string; cause?: unknown }

/** An OAuth client of this server with its grants, one per account. */
export interface OAuth {
  readonly metadata: NodeOAuthClient['clientMetadata']
  readonly jwks: NodeOAuthClient['jwks']
  /**
   * The address at the account's server where the person goes on; `cause` is for the log. Asked for is the client's scope, all that the account
   * has granted before, since one grant takes the place of the other, and `more` of what the client may ask for.
   */
  begin(did: Did, state: string, more?: string): Promise<{ ok: true; href: string } | { ok: false; cause: unknown }>
  /**
   * Takes the answer that the person's browser brings back. Each answer is good once, and only where `isOurs` takes the state that `begin` was
   * given: an answer that another browser brings is left for the one that waits for it. A grant of an account that `takes` refuses (`not-taken`), or
   * of less than was asked for, is taken back at once; what stood before it stands. So is one of less than the account has granted by now (`stale`).
   */
  finish(params: URLSearchParams, isOurs: (state: string) => boolean, takes?: (did: Did, state: string) => boolean): Promise<Finished>
  /**
   * The right to act for an account; undefined when its grant is gone. Refreshes it when that is due, or `now`. Throws when that cannot be told now.
   */
  restore(did: Did, now?: boolean): Promise<AccountSession | undefined>
  /** What an account has granted, as its server said it; undefined without a grant. */
  granted(did: Did): Promise<string | undefined>
  /** Origin of the server that an account's grant is used at; undefined without a grant. */
  serverOf(did: Did): Promise<string | undefined>
  /** Takes the grant back at the account's server and forgets it. Gives false when the server was not reached; forgotten it is in any case. */
  revoke(did: Did): Promise<boolean>
}

export interface OAuthContext {
  db: ServerDb
  seal: Seal
  now: () => number
  fetch: GuardedFetch
  identity: Identity
  publicUrl: string
  loopback: boolean
  /** Plain http to account servers: a local network. */
  allowHttp: boolean
  plcUrl: string
  /** One process at a time uses a refresh token, which is good once. */
  lock: SharedLock
  /** Off loopback; see `keepClientKey`. */
  key?: Awaited<ReturnType<typeof keepClientKey>> | undefined
}

const ANSWER_BYTES = 1_000_000
const UPLOAD_PATH = '/xrpc/com.atproto.repo.uploadBlob'

/** What makes one OAuth client another than the rest. */
export interface OAuthKind {
  /** What its stores are called. */
  name: string
  /** Asked for every time. */
  scope: string
  /** What may be asked for beside it, when it is first needed. */
  more?: string
  callbackPath: string
  /** Where its metadata is served, off loopback. */
  metadataPath: string
  /** Told of an account whose grant ended without our doing, and by what. */
  onGone: (did: Did, cause: unknown) => void
}

/**
 * An OAuth client by name: its stores are its own, so that the grant of one is never replaced by another's. A grant that comes in lies in a store
 * beside the standing ones until it was looked at: the library ends the grant that an account has in the store that a new one is put into.
 */
export function createOAuth(ctx: OAuthContext, kind: OAuthKind): OAuth {
  const { db, seal, now } = ctx
  const storeOf = (table: 'oauth_state' | 'oauth_session', client = kind.name) => createSealedStore({ db, seal, now, table, client })
  const sessions = typed(storeOf('oauth_session'), savedSession)
  const arrivals = typed(storeOf('oauth_session', `${kind.name}, coming in`), savedSession)
  const states = typed(storeOf('oauth_state'), savedState)
  const widest = union(kind.scope, kind.more ?? '')
  const shared = {
    clientMetadata: clientMetadata({ ...ctx, ...kind, scope: widest }),
    ...(ctx.key === undefined ? {} : { keyset: [ctx.key] }),
    stateStore: states,
    handleResolver: resolverOf(ctx.identity),
    plcDirectoryUrl: ctx.plcUrl,
    allowHttp: ctx.allowHttp,
    fetch: fetchFor(ctx.fetch),
  }
  const lockOf = (name: string) => `${kind.name} ${name}`
  const oauth = new NodeOAuthClient({
    ...shared,
    sessionStore: sessions,
    requestLock: (name, work) => ctx.lock.run(lockOf(name), work),
    onSessionDeleted(sub, cause) {
      const did = parseDid(sub)
      if (did !== undefined && !(cause instanceof TokenRevokedError)) kind.onGone(did, cause)
    },
  })
  const incoming = new NodeOAuthClient({
    ...shared,
    sessionStore: arrivals,
    requestLock: (name, work) => ctx.lock.run(`${lockOf(name)}, coming in`, work),
  })

  async function granted(did: Did) {
    return (await sessions.get(did))?.tokenSet.scope
  }

  async function begin(did: Did, state: string, more = '') {
    try {
      const scope = union(kind.scope, common(widest, union((await granted(did)) ?? '', more)))
      const url = await oauth.authorize(did, { state: writeAsked({ scope, state }), scope })
      return { ok: true as const, href: url.href }
    } catch (cause) {
      return { ok: false as const, cause }
    }
  }

  async function finish(
    params: URLSearchParams,
    isOurs: (state: string) => boolean,
    takes: (did: Did, state: string) => boolean = () => true,
  ): Promise<Finished> {
    const begun = await states.get(params.get('state') ?? '')
    const asked = readAsked(begun?.appState)
    if (asked === undefined || !isOurs(asked.state)) return { ok: false, why: 'stale' }
    const { state } = asked
    try {
      const { session } = await incoming.callback(params)
      const did = parseDid(session.did)
      if (did === undefined) return { ok: false, why: 'failed', state }
      const { scope } = await session.getTokenInfo(false)
      const judged = grants(scope, asked.scope) ? (takes(did, state) ? undefined : 'not-taken') : 'too-little'
      const wrong = judged ?? (await ctx.lock.run(lockOf(`@atproto-oauth-client-${did}`), () => takeIn(did)))
      // What came in and does not do, or what stood until now.
      await end(incoming, arrivals, did)
      return wrong === undefined ? { ok: true, did, state } : { ok: false, why: wrong, state }
    } catch (cause) {
      return failureOf(cause, state)
    }
  }

  /**
   * Exchanges the standing grant of an account with the one that came in, under the lock that refreshing takes as well. Not where that would take
   * away what was granted by another browser in the meantime.
   */
  async function takeIn(did: Did): Promise<'stale' | undefined> {
    const before = await sessions.get(did)
    const arrived = await arrivals.get(did)
    if (arrived === undefined) throw new Error('the grant that came in was replaced by another')
    if (before !== undefined && !grants(arrived.tokenSet.scope, common(widest, before.tokenSet.scope))) return 'stale'
    await sessions.set(did, arrived)
    if (before === undefined) await arrivals.del(did)
    else await arrivals.set(did, before)
    return undefined
  }

  async function restore(did: Did, refresh = false) {
    if ((await sessions.get(did)) === undefined) return undefined
    try {
      return sessionOfOAuth(await oauth.restore(did, refresh ? true : 'auto'))
    } catch (error) {
      if ((await sessions.get(did)) === undefined) return undefined
      throw error
    }
  }

  async function serverOf(did: Did) {
    const kept = await sessions.get(did)
    return kept && new URL(kept.tokenSet.aud).origin
  }

  return {
    metadata: oauth.clientMetadata,
    jwks: oauth.jwks,
    begin,
    finish,
    granted,
    restore,
    serverOf,
    revoke: did => end(oauth, sessions, did),
  }
}

/** A write is answered within what its writer waits (10 s), and an upload when it is through, so that it has longer until the first byte. */
function fetchFor(fetch: GuardedFetch): typeof globalThis.fetch {
  const usual = asWebFetch(fetch, { maxBytes: ANSWER_BYTES, firstByteMs: 10_000, totalMs: 15_000 })
  const upload = asWebFetch(fetch, { maxBytes: ANSWER_BYTES, firstByteMs: 120_000, totalMs: 120_000 })
  return async (input, init) => {
    const { url, method } = input instanceof Request ? input : { url: input, method: init?.method }
    const seen = method === 'POST' ? posts.getStore() : undefined
    if (seen !== undefined) seen.refused = true
    const answer = await (new URL(url).pathname === UPLOAD_PATH ? upload(input, init) : usual(input, init))
    if (seen !== undefined) seen.refused = !answer.ok
    return answer
  }
}

/** Whether the last POST of a call was taken; the library does not tell of a revocation that its server did not hear of. */
const posts = new AsyncLocalStorage<{ refused: boolean }>()

/** Takes a grant back at its server and forgets it. False when the server was not reached. */
async function end(client: NodeOAuthClient, store: { del(key: string): Promise<void> }, did: Did): Promise<boolean> {
  const seen = { refused: false }
  try {
    await posts.run(seen, () => client.revoke(did))
    return !seen.refused
  } catch {
    await store.del(did)
    return false
  }
}

function failureOf(cause: unknown, state: string): Finished {
  if (!(cause instanceof OAuthCallbackError)) return { ok: false, why: 'failed', state, cause }
  const why = cause.state === undefined ? 'stale' : cause.params.get('error') === 'access_denied' ? 'denied' : 'failed'
  return { ok: false, why, ...(why === 'stale' ? {} : { state }), cause }
}

/** Handles by our own look-up, which checks them both ways. */
function resolverOf(identity: Identity): HandleResolver {
  return {
    async resolve(name) {
      const handle = parseHandle(name)
      const did = handle && (await identity.resolveHandle(handle))
      return did !== undefined && isAccountDid(did) ? did : null
    },
  }
}

function isAccountDid(did: string): did is `did:plc:${string}` | `did:web:${string}` {
  return did.startsWith('did:plc:') || did.startsWith('did:web:')
}

const jwk = z.looseObject({ kty: z.string() })
const authMethod = z.union([z.string(), z.looseObject({ method: z.string() })])
const savedState = z.custom<NodeSavedState>(
  value =>
    z
      .looseObject({
        iss: z.string(),
        dpopJwk: jwk,
        authMethod: authMethod.optional(),
        verifier: z.string().optional(),
        appState: z.string().optional(),
      })
      .safeParse(value).success,
)
const tokenSet = z.looseObject({ iss: z.string(), sub: z.string(), aud: z.string(), scope: z.string(), access_token: z.string() })
const savedSession = z.custom<NodeSavedSession>(value => z.looseObject({ dpopJwk: jwk, tokenSet }).safeParse(value).success)

/** A store of JSON as one of values that were looked at: what does not have their shape counts as absent. */
function typed<V>(store: JsonStore, shape: z.ZodType<V>) {
  return {
    get: async (key: string): Promise<V | undefined> => shape.safeParse(await store.get(key)).data,
    set: (key: string, value: V) => store.set(key, value),
    del: (key: string) => store.del(key),
  }
}
