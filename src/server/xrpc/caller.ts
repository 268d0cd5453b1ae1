import { AuthRequiredError, type MethodAuthContext, XRPCError } from '@atproto/xrpc-server'
import type { Did, Nsid } from '../../atproto/ids.ts'
import { type ServiceAuthCode, verifyServiceAuth } from '../../atproto/service-auth.ts'
import type { Context } from '../context.ts'
import { xrpcName } from '../refusals.ts'

/** Who asks; nobody when no token came along. */
export interface Caller {
  credentials: { caller: Did | undefined }
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
    const token = /^Bearer ([\x21-\x7e]+)$/i.exec(header)?.[1]
    if (token === undefined) throw new AuthRequiredError('the Authorization header holds no service token', 'BadToken')
    const verified = await verifyServiceAuth({ serverDid: ctx.config.did, identity: ctx.identity, now: ctx.now }, token, { lxm })
    if (verified.ok) return { credentials: { caller: verified.did } }
    const status = otherStatus[verified.code]
    if (status !== undefined) throw new XRPCError(status, verified.message, xrpcName(verified.code))
    throw new AuthRequiredError(verified.message, xrpcName(verified.code))
  }
}
