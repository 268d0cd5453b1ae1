import type { Did } from './ids.ts'

/** A right to act for an account at its own server, by OAuth or by password. */
export interface AccountSession {
  readonly did: Did
  /**
   * Sends a request to the account's server as that account. `path` starts with `/xrpc/`. Rejects with SessionGoneError when the account has to
   * log in again, and with anything else when no answer came.
   */
  fetchHandler(path: string, init?: RequestInit): Promise<Response>
}

/** The session has ended: revoked, expired, or its password changed. Only logging in again helps. */
export class SessionGoneError extends Error {
  override readonly name = 'SessionGoneError'
}
