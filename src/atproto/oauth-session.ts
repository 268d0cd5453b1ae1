import { type OAuthSession, TokenInvalidError, TokenRefreshError, TokenRevokedError } from '@atproto/oauth-client-node'
import { parseDid } from './ids.ts'
import { type AccountSession, SessionGoneError } from './session.ts'

/** An OAuth session as an account session: what OAuth's client throws when the grant is gone becomes SessionGoneError. Throws on a session without an account's DID. */
export function sessionOfOAuth(session: Pick<OAuthSession, 'did' | 'fetchHandler'>): AccountSession {
  const did = parseDid(session.did)
  if (did === undefined) throw new Error('an OAuth session without a DID')
  return {
    did,
    async fetchHandler(path, init) {
      try {
        return await session.fetchHandler(path, init)
      } catch (error) {
        throw isGone(error) ? new SessionGoneError('the grant has ended', { cause: error }) : error
      }
    },
  }
}

function isGone(error: unknown): boolean {
  return error instanceof TokenRefreshError || error instanceof TokenRevokedError || error instanceof TokenInvalidError
}
