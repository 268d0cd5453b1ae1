import type { FastifyRequest } from 'fastify'
import type { Identity } from '../../atproto/identity.ts'
import type { Did, Nsid } from '../../atproto/ids.ts'
import { type ServiceAuthCode, verifyServiceAuth } from '../../atproto/service-auth.ts'
import type { GitDoor } from './door.ts'
import { words } from './words.ts'

/** The method that tokens for pushes are for (GWY-10). */
export const pushMethod: Nsid = 'dev.knotless.gitPush'

/** Whose push it is; `spend` uses the token up, and says so when it was used before. */
export interface PushCaller {
  ok: true
  did: Did
  spend(): PushCallerRefusal | undefined
}

/** `status` is for where git shows a body in words; elsewhere `says` is the reason. `code` is for the metric. */
export interface PushCallerRefusal {
  ok: false
  code: ServiceAuthCode | 'no-token'
  status: 401 | 429 | 503
  says: string
}

const statuses: Partial<Record<ServiceAuthCode, 429 | 503>> = { 'upstream-failed': 503, 'rate-limited': 429 }

/**
 * Who pushes, by the token that git sends as its password, whatever the user name (GWY-10). It is looked at afresh in each request of a push, and
 * judged by when that request began; it is not spent here. `fresh`: by the account's key as its DID document has it now, so that one that was taken
 * out writes nothing. Those who were turned away too often lately are turned away unread.
 */
export async function readPushCaller(
  { ctx, replay, failures }: GitDoor,
  request: Pick<FastifyRequest, 'ip'> & { headers: { authorization?: string | undefined } },
  { fresh }: { fresh: boolean },
): Promise<PushCaller | PushCallerRefusal> {
  const refused = (code: PushCallerRefusal['code'], says: string): PushCallerRefusal => {
    ctx.metrics.gitTokensRefused.inc({ code })
    if (code !== 'no-token') failures.note(request.ip)
    return { ok: false, code, status: code === 'no-token' ? 401 : (statuses[code] ?? 401), says }
  }
  const wait = failures.wait(request.ip)
  if (wait > 0) return { ok: false, code: 'rate-limited', status: 429, says: words.limited(wait) }
  const token = passwordOf(request.headers.authorization)
  if (token === undefined) return refused('no-token', words.noToken(pushMethod, ctx.config.did))
  const identity: Identity = fresh
    ? { ...ctx.identity, resolveDocument: did => ctx.identity.resolveDocument(did, { fresh }) }
    : ctx.identity
  const found = await verifyServiceAuth({ serverDid: ctx.config.did, identity, now: ctx.now }, token, { lxm: pushMethod, replay })
  if (!found.ok) return refused(found.code, words.badToken(found.message, pushMethod, ctx.config.did))
  const { did, jti = '', exp } = found
  return {
    ok: true,
    did,
    spend() {
      const spent = replay.spend(did, jti, exp)
      if (spent === 'ok') return undefined
      if (spent === 'full') return refused('rate-limited', words.tooManyTokens())
      return refused('token-spent', words.badToken('the token was used before', pushMethod, ctx.config.did))
    },
  }
}

/** The password of Basic credentials; undefined when there are none. */
function passwordOf(header: string | undefined): string | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/=_-]{1,12000})$/i.exec(header ?? '')?.[1]
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  // A token holds no colon; a DID, which some give as their name, does.
  const password = text.slice(text.lastIndexOf(':') + 1)
  return password === '' ? undefined : password
}
