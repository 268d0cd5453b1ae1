import { TokenRefreshError } from '@atproto/oauth-client-node'
import type { FastifyBaseLogger } from 'fastify'
import type { Identity } from '../../atproto/identity.ts'
import { type Did, parseDid } from '../../atproto/ids.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import type { IndexDatabase } from '../../indexer/database.ts'
import { bind } from '../../indexer/sync-queries.ts'
import { delegationMetadataPath, delegationScope } from '../auth/client-metadata.ts'
import type { OAuth, OAuthKind } from '../auth/oauth.ts'
import type { SharedLock } from '../auth/shared-lock.ts'
import type { DelegationRow, ServerTables } from '../tables.ts'
import type { Delegation, Delegations } from './types.ts'

const HOUR = 60 * 60_000
const DAY = 24 * HOUR
/** How long servers let a grant stand, in milliseconds: of a public client from when it was given; of a confidential one from its last renewal. */
const LIFE = { loopback: 14 * DAY, idle: 90 * DAY, whole: 730 * DAY }
/** How often a grant is renewed. It would stand far longer; that it was taken back at its server is noticed by then, too. */
const RENEW_EVERY = 6 * HOUR
/** A server that does not answer is asked again after this long. */
const AGAIN_AFTER = 10 * 60_000
const RENEWED_IN_ONE_PASS = 200
const RENEWED_AT_ONCE = 4

export const delegationCallbackPath = '/oauth/delegation/callback'

/** The delegations, with what their page and the program around them need. */
export interface KeptDelegations extends Delegations {
  /** The OAuth client that they are given through. */
  readonly oauth: OAuth
  /** A grant of that client has come in and stands. */
  given(owner: Did): void
  /** Renews what is due and ends what has run out. One process does it at a time; the others leave it to that one. */
  renew(): Promise<void>
}

export interface DelegationsContext {
  database: IndexDatabase
  /** Milliseconds since 1970. */
  now: () => number
  logger: FastifyBaseLogger
  identity: Pick<Identity, 'resolveDocument'>
  lock: SharedLock
  loopback: boolean
  /** Makes the OAuth client, which tells of grants that ended. */
  createOAuth(kind: OAuthKind): OAuth
}

/**
 * What owners gave this server (GWY-1, GWY-7). Tokens lie sealed with the OAuth client; beside them a row per owner says what became of it. A grant
 * that was withdrawn or lost is not used from that moment on, whatever its server still takes.
 */
export function createDelegations(ctx: DelegationsContext): KeptDelegations {
  const { now, logger } = ctx
  const { sync } = ctx.database
  const db = ctx.database.db.withTables<ServerTables>()
  const listeners = new Set<(owner: string) => void>()
  const oauth = ctx.createOAuth({
    name: 'gateway',
    scope: delegationScope,
    callbackPath: delegationCallbackPath,
    metadataPath: delegationMetadataPath,
    onGone: (did, cause) => end(did, whyGone(cause)),
  })

  const byDid = bind(ctx.database.sqlite, ['did'], (p: { did: string }) => db.selectFrom('delegation').selectAll().where('did', '=', p.did))
  const rowOf = (did: string) => byDid.get({ did })
  const of = (owner: string) => delegationOf(rowOf(owner), now())

  function tell(owner: string): void {
    for (const listener of listeners) listener(owner)
  }

  /** Ends what stands. Gives false when nothing did. */
  function end(owner: string, why: NonNullable<DelegationRow['why']>): boolean {
    const at = why === 'expired' ? Math.min(now(), rowOf(owner)?.until ?? now()) : now()
    const { changes } = sync.run(
      db.updateTable('delegation').set({ ended_at: at, why }).where('did', '=', owner).where('ended_at', 'is', null),
    )
    if (changes === 0) return false
    logger.info({ did: owner, why }, 'a delegation ended')
    tell(owner)
    return true
  }

  function given(owner: Did): void {
    const at = now()
    const row = { given_at: at, until: untilOf(at, at), due_at: at + RENEW_EVERY, ended_at: null, why: null }
    sync.run(
      db
        .insertInto('delegation')
        .values({ did: owner, ...row })
        .onConflict(conflict => conflict.column('did').doUpdateSet(row)),
    )
    logger.info({ did: owner }, 'a delegation was given')
    tell(owner)
  }

  function untilOf(givenAt: number, renewedAt: number): number {
    return ctx.loopback ? givenAt + LIFE.loopback : Math.min(renewedAt + LIFE.idle, givenAt + LIFE.whole)
  }

  /** Uses the grant, renewing it where that is due or asked for; notes what becomes of it. */
  async function use(owner: Did, renewing: boolean) {
    const session = await oauth.restore(owner, renewing)
    // The tokens are gone: another process met that, or they cannot be opened with the present secret.
    if (session === undefined) end(owner, 'revoked')
    return session
  }

  /** The account lies at another server than the one that gave the grant, as far as that is known at once. */
  async function seemsMoved(owner: Did): Promise<boolean> {
    const server = await oauth.serverOf(owner)
    const document = await ctx.identity.resolveDocument(owner).catch(unlessUpstream)
    return server !== undefined && document?.pds !== undefined && new URL(document.pds).origin !== server
  }

  async function renewOne({ did, given_at }: DelegationRow): Promise<void> {
    const owner = parseDid(did)
    const note = (set: Partial<DelegationRow>) =>
      sync.run(db.updateTable('delegation').set(set).where('did', '=', did).where('given_at', '=', given_at).where('ended_at', 'is', null))
    if (owner === undefined || of(did).state === 'lost') {
      end(did, 'expired')
      if (owner !== undefined) await oauth.revoke(owner)
      return
    }
    try {
      if ((await use(owner, true)) !== undefined) note({ due_at: now() + RENEW_EVERY, until: untilOf(given_at, now()) })
    } catch (error) {
      logger.info({ did, err: error }, 'a delegation could not be renewed now')
      note({ due_at: now() + AGAIN_AFTER })
    }
  }

  async function renewDue(): Promise<void> {
    const due = sync.all(
      db
        .selectFrom('delegation')
        .selectAll()
        .where('ended_at', 'is', null)
        .where(row => row.or([row('due_at', '<=', now()), row('until', '<=', now())]))
        .orderBy('due_at')
        .limit(RENEWED_IN_ONE_PASS),
    )
    const next = due.values()
    const worker = async () => {
      for (const row of next) await renewOne(row)
    }
    await Promise.all(Array.from({ length: RENEWED_AT_ONCE }, worker))
  }

  return {
    scope: delegationScope,
    oauth,
    of,
    given,
    async session(owner) {
      if (of(owner).state !== 'given') return { ok: false, why: 'not-delegated' }
      try {
        const session = await use(owner, await seemsMoved(owner))
        return session === undefined || of(owner).state !== 'given' ? { ok: false, why: 'not-delegated' } : { ok: true, session }
      } catch (error) {
        logger.info({ did: owner, err: error }, 'a delegation could not be used now')
        return { ok: false, why: 'unreachable' }
      }
    },
    async gone(owner, why) {
      if (end(owner, why)) await oauth.revoke(owner)
    },
    async withdraw(owner) {
      end(owner, 'withdrawn')
      const told = await oauth.revoke(owner)
      if (!told) logger.warn({ did: owner }, "a delegation was withdrawn, and the account's server did not hear of it")
      return told
    },
    onChanged(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    async renew() {
      await ctx.lock.tryRun('renewing delegations', renewDue)
    },
  }
}

function delegationOf(row: DelegationRow | undefined, now: number): Delegation {
  if (row === undefined) return { state: 'never' }
  if (row.ended_at === null) {
    return row.until <= now ? { state: 'lost', at: row.until, why: 'expired' } : { state: 'given', since: row.given_at, until: row.until }
  }
  return row.why === 'withdrawn' || row.why === null
    ? { state: 'withdrawn', at: row.ended_at }
    : { state: 'lost', at: row.ended_at, why: row.why }
}

/** The library says that an account lies at another server by a TypeError, and what its server said in the message. */
function whyGone(cause: unknown): 'revoked' | 'expired' | 'moved' {
  if (cause instanceof TypeError) return 'moved'
  return cause instanceof TokenRefreshError && /expired/i.test(cause.message) ? 'expired' : 'revoked'
}

function unlessUpstream(error: unknown): undefined {
  if (!(error instanceof UpstreamError)) throw error
}
