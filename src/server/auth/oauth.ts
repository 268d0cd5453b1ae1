import {
  type HandleResolver,
  NodeOAuthClient,
  type NodeSavedSession,
  type NodeSavedState,
  OAuthCallbackError,
  requestLocalLock,
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
import type { keepClientKey } from './client-key.ts'
import { clientMetadata, grants } from './client-metadata.ts'
import type { Seal } from './seal.ts'
import { createSealedStore, type JsonStore } from './sealed-store.ts'

/** What came of a log-in. `state` is what `begin` was given, where the log-in is known. */
export type Finished =
  | { ok: true; did: Did; state: string }
  | { ok: false; why: 'denied' | 'stale' | 'too-little' | 'failed'; state?: string; cause?: unknown }

/** An OAuth client of this server with its grants, one per account. */
export interface OAuth {
  readonly metadata: NodeOAuthClient['clientMetadata']
  readonly jwks: NodeOAuthClient['jwks']
  /** The address at the account's server where the person goes on. `why` is for the log. */
  begin(did: Did, state: string): Promise<{ ok: true; href: string } | { ok: false; cause: unknown }>
  /**
   * Takes the answer that the person's browser brings back. Each answer is good once, and only where `isOurs` takes the state that `begin` was
   * given: an answer that another browser brings is left for the one that waits for it.
   */
  finish(params: URLSearchParams, isOurs: (state: string) => boolean): Promise<Finished>
  /** The right to act for an account; undefined when its grant is gone. Refreshes it when that is due. Throws when that cannot be told now. */
  restore(did: Did): Promise<AccountSession | undefined>
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
  /** Off loopback; see `keepClientKey`. */
  key?: Awaited<ReturnType<typeof keepClientKey>> | undefined
}

const ANSWER_BYTES = 1_000_000

/**
 * An OAuth client by name: its stores are its own, so that the grant of one is never replaced by another's. `onGone` is told of accounts
 * whose grant ended without our doing.
 */
export function createOAuth(
  ctx: OAuthContext,
  client: { name: string; scope: string; callbackPath: string; onGone: (did: Did) => void },
): OAuth {
  const { db, seal, now } = ctx
  const storeOf = (table: 'oauth_state' | 'oauth_session') => createSealedStore({ db, seal, now, table, client: client.name })
  const sessions = storeOf('oauth_session')
  const states = typed(storeOf('oauth_state'), savedState)
  const oauth = new NodeOAuthClient({
    clientMetadata: clientMetadata({ ...ctx, ...client }),
    ...(ctx.key === undefined ? {} : { keyset: [ctx.key] }),
    stateStore: states,
    sessionStore: typed(sessions, savedSession),
    handleResolver: resolverOf(ctx.identity),
    plcDirectoryUrl: ctx.plcUrl,
    allowHttp: ctx.allowHttp,
    fetch: asWebFetch(ctx.fetch, { maxBytes: ANSWER_BYTES, firstByteMs: 5_000, totalMs: 15_000 }),
    requestLock: requestLocalLock,
    onSessionDeleted(sub, cause) {
      const did = parseDid(sub)
      if (did !== undefined && !(cause instanceof TokenRevokedError)) client.onGone(did)
    },
  })

  async function begin(did: Did, state: string) {
    try {
      const url = await oauth.authorize(did, { state, scope: client.scope })
      return { ok: true as const, href: url.href }
    } catch (cause) {
      return { ok: false as const, cause }
    }
  }

  async function finish(params: URLSearchParams, isOurs: (state: string) => boolean): Promise<Finished> {
    const begun = await states.get(params.get('state') ?? '')
    if (begun?.appState === undefined || !isOurs(begun.appState)) return { ok: false, why: 'stale' }
    try {
      const { session, state } = await oauth.callback(params)
      const did = parseDid(session.did)
      if (did === undefined || state === null) return { ok: false, why: 'failed' }
      const { scope } = await session.getTokenInfo(false)
      if (grants(scope, client.scope)) return { ok: true, did, state }
      await revoke(did)
      return { ok: false, why: 'too-little', state }
    } catch (cause) {
      return failureOf(cause)
    }
  }

  async function restore(did: Did) {
    if ((await sessions.get(did)) === undefined) return undefined
    try {
      return sessionOfOAuth(await oauth.restore(did))
    } catch (error) {
      if ((await sessions.get(did)) === undefined) return undefined
      throw error
    }
  }

  async function revoke(did: Did) {
    try {
      await oauth.revoke(did)
      return true
    } catch {
      await sessions.del(did)
      return false
    }
  }

  return { metadata: oauth.clientMetadata, jwks: oauth.jwks, begin, finish, restore, revoke }
}

function failureOf(cause: unknown): Finished {
  if (!(cause instanceof OAuthCallbackError)) return { ok: false, why: 'failed', cause }
  if (cause.state === undefined) return { ok: false, why: 'stale' }
  const why = cause.params.get('error') === 'access_denied' ? 'denied' : 'failed'
  return { ok: false, why, state: cause.state, cause }
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
