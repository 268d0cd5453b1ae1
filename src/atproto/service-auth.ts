import { l } from '@atproto/lex'
import { AuthRequiredError, verifyJwt } from '@atproto/xrpc-server'
import type { Identity } from './identity.ts'
import { type Did, type Nsid, parseDid } from './ids.ts'
import type { ReplayMemory } from './replay-memory.ts'
import { UpstreamError } from './upstream-error.ts'

/** The longest that a token may be good for, in seconds. */
const MAX_LIFETIME = 5 * 60
/** How far an issuer's clock may be ahead of ours, in seconds (REC-8's bound). */
const CLOCK_ROOM = 60
const MAX_TOKEN_CHARACTERS = 4_096

export type ServiceAuthCode =
  | 'bad-token'
  | 'token-expired'
  | 'token-too-long'
  | 'wrong-audience'
  | 'wrong-method'
  | 'bad-signature'
  | 'unknown-issuer'
  | 'token-spent'
  | 'rate-limited'
  | 'upstream-failed'

export interface ServiceAuthRefusal {
  ok: false
  code: ServiceAuthCode
  message: string
}

/** `exp` in seconds since 1970. */
export type ServiceAuth = { ok: true; did: Did; jti: string | undefined; exp: number } | ServiceAuthRefusal

const claimsSchema = l.object({
  iss: l.string(),
  aud: l.string(),
  exp: l.integer(),
  iat: l.optional(l.integer()),
  lxm: l.optional(l.string()),
  jti: l.optional(l.string()),
})
type Claims = l.InferOutput<typeof claimsSchema>

export interface ServiceAuthContext {
  /** This server's DID. A token's audience is it, or its `#knotless_appview`. */
  serverDid: Did
  identity: Identity
  /** Milliseconds since 1970. */
  now: () => number
}

/**
 * Who sent a request, by the token that their account's server signed for exactly this method. Of a token with a bad signature the issuer's DID
 * document is read afresh once. With `replay` the token must have a `jti` that was not spent yet; `spend` spends it (GWY-10). Queries do
 * without.
 */
export async function verifyServiceAuth(
  ctx: ServiceAuthContext,
  token: string,
  demands: { lxm: Nsid; replay?: ReplayMemory; spend?: boolean },
): Promise<ServiceAuth> {
  const claims = readClaims(token)
  const did = parseDid(claims?.iss)
  if (claims === undefined || did === undefined) return refuse('bad-token', 'the token is none that an account signs')
  const refusal = checkClaims(ctx, claims, demands.lxm) ?? (await checkSignature(ctx.identity, token, claims))
  if (refusal !== undefined) return refusal
  const { jti, exp } = claims
  const replayed = demands.replay && checkReplay(demands.replay, demands.spend ?? false, { did, jti, exp })
  return replayed ?? { ok: true, did, jti, exp }
}

/** What a token says of itself, unproved; undefined when it is no token. Read first, so that a token for somebody else costs no look-up. */
function readClaims(token: string): Claims | undefined {
  if (token.length > MAX_TOKEN_CHARACTERS) return undefined
  try {
    const parsed = claimsSchema.safeParse(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')))
    return parsed.success ? parsed.value : undefined
  } catch {
    return undefined
  }
}

function checkClaims(ctx: ServiceAuthContext, claims: Claims, lxm: Nsid): ServiceAuthRefusal | undefined {
  if (claims.aud !== ctx.serverDid && claims.aud !== `${ctx.serverDid}#knotless_appview`) {
    return refuse('wrong-audience', `the token is for another server, not for ${ctx.serverDid}`)
  }
  if (claims.lxm !== lxm) return refuse('wrong-method', `the token is not for ${lxm}`)
  const seconds = ctx.now() / 1000
  if (claims.exp < seconds) return refuse('token-expired', 'the token has expired')
  if (claims.exp - (claims.iat ?? seconds) > MAX_LIFETIME || claims.exp - seconds > MAX_LIFETIME + CLOCK_ROOM) {
    return refuse('token-too-long', 'the token is good for more than 5 minutes')
  }
  return undefined
}

async function checkSignature(identity: Identity, token: string, claims: Claims): Promise<ServiceAuthRefusal | undefined> {
  try {
    await verifyJwt(token, claims.aud, claims.lxm ?? null, async (issuer, fresh) => {
      const did = parseDid(issuer)
      const key = did && (await identity.resolveDocument(did, { fresh }))?.signingKey
      if (key === undefined) throw new UnknownIssuer()
      return key
    })
    return undefined
  } catch (error) {
    if (error instanceof UnknownIssuer) return refuse('unknown-issuer', 'the token is from an account that does not exist')
    if (error instanceof UpstreamError) return refuse('upstream-failed', "the key of the token's account cannot be looked up now")
    if (error instanceof AuthRequiredError && error.customErrorName === 'JwtExpired')
      return refuse('token-expired', 'the token has expired')
    if (error instanceof AuthRequiredError && error.customErrorName === 'BadJwtSignature') {
      return refuse('bad-signature', 'the token is not signed by its account')
    }
    return refuse('bad-token', 'the token is none that an account signs')
  }
}

function checkReplay(
  replay: ReplayMemory,
  spend: boolean,
  token: { did: Did; jti: string | undefined; exp: number },
): ServiceAuthRefusal | undefined {
  if (token.jti === undefined) return refuse('bad-token', 'the token has no jti, by which its second use could be told')
  const found = spend ? replay.spend(token.did, token.jti, token.exp) : replay.isSpent(token.did, token.jti) ? 'spent' : 'ok'
  if (found === 'spent') return refuse('token-spent', 'the token was used before')
  return found === 'full' ? refuse('rate-limited', 'too many tokens are in use; wait until some have expired') : undefined
}

class UnknownIssuer extends Error {}

function refuse(code: ServiceAuthCode, message: string): ServiceAuthRefusal {
  return { ok: false, code, message }
}
