import { AuthRequiredError, type MethodAuthContext, XRPCError } from '@atproto/xrpc-server'
import type { Identity } from '../../atproto/identity.ts'
import type { Did, Nsid } from '../../atproto/ids.ts'
import type { ReplayMemory } from '../../atproto/replay-memory.ts'
import { type ServiceAuthCode, verifyServiceAuth } from '../../atproto/service-auth.ts'
import type { Context } from '../context.ts'
import { xrpcName } from '../refusals.ts'

/** Who asks; nobody when no token came along. */
export interface Caller {
  credentials: { caller: Did | undefined }
}

/** Who asks for something that only somebody known is done. */
export interface KnownCaller {
  credentials: { caller: Did }
}

const otherStatus: Partial<Record<ServiceAuthCode, number>> = { 'upstream-failed': 502, 'rate-limited': 429 }

/**
 * Reads the token that a caller's account server signed for this very method. A query may come without one; a token that is wrong is refused, and
 * never taken for none.
 */
export function optionalCaller(ctx: Context, lxm: Nsid) {
  return async ({ req }: Pick<MethodAuthContext, 'req'>): Promise<Caller> => {
    const header = req.headers.authorization
    if (header === undefined) return { credentials: { caller: undefined } }
    return { credentials: { caller: await callerOf(ctx, header, { lxm }) } }
  }
}

/**
 * As `optionalCaller`, of a procedure: there has to be a token, each is good once (GWY-10), and its key is the one that its account has now, since a
 * key that was taken out of service may be in the wrong hands; without `freshKey`, the one that it had lately. Whom it turns away is nobody known yet, and is counted (GWY-6).
 */
export function requiredCaller(ctx: Context, lxm: Nsid, replay: ReplayMemory, { freshKey = true } = {}) {
  const fresh: Identity = { ...ctx.identity, resolveDocument: did => ctx.identity.resolveDocument(did, { fresh: true }) }
  const identity = freshKey ? fresh : ctx.identity
  return async ({ req }: Pick<MethodAuthContext, 'req'>): Promise<KnownCaller> => {
    const header = req.headers.authorization
    try {
      if (header === undefined) throw new AuthRequiredError(`a service token for ${lxm} is needed`, 'AuthMissing')
      return { credentials: { caller: await callerOf({ ...ctx, identity }, header, { lxm, replay, spend: true }) } }
    } catch (error) {
      if (error instanceof XRPCError) ctx.metrics.methodTokensRefused.inc({ code: error.customErrorName ?? 'other' })
      throw error
    }
  }
}

async function callerOf(
  ctx: Pick<Context, 'config' | 'identity' | 'now'>,
  header: string,
  demands: Parameters<typeof verifyServiceAuth>[2],
): Promise<Did> {
  const token = /^Bearer ([\x21-\x7e]+)$/i.exec(header)?.[1]
  if (token === undefined) throw new AuthRequiredError('the Authorization header holds no service token', 'BadToken')
  const verified = await verifyServiceAuth({ serverDid: ctx.config.did, identity: ctx.identity, now: ctx.now }, token, demands)
  if (verified.ok) return verified.did
  const status = otherStatus[verified.code]
  if (status !== undefined) throw new XRPCError(status, verified.message, xrpcName(verified.code))
  throw new AuthRequiredError(verified.message, xrpcName(verified.code))
}
