/** Why an answer could not be had from somebody else's server. */
export type UpstreamReason =
  /** the address is private, link-local or otherwise not public */
  | 'private-address'
  /** more bytes than the bound */
  | 'too-large'
  /** no first byte, or not all of them, in time */
  | 'timeout'
  /** no connection: no such name, refused, reset, a bad certificate */
  | 'refused'
  /** an answer that is not what was asked for: no JSON, missing fields, bytes that do not match their CID */
  | 'bad-answer'
  /** the answer points elsewhere */
  | 'redirect'
  /** a status that says no */
  | 'status'
  /** the account is not there (any more): deleted, deactivated, taken down, or its DID names no server */
  | 'no-account'

/**
 * The one failure of a read of somebody else's server. Its message names the host and what was wrong in a few words, never a path, a token or
 * what the server wrote, so that it can be logged and shown.
 */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
  readonly reason: UpstreamReason
  /** Host and port that were asked. */
  readonly host: string
  /** HTTP status, where there was one. */
  readonly status: number | undefined
  /** Seconds to wait, from a 429's or 503's headers. */
  readonly retryAfter: number | undefined

  constructor(
    reason: UpstreamReason,
    host: string,
    detail: string,
    options: { status?: number; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(`${host}: ${detail}`, options.cause === undefined ? undefined : { cause: options.cause })
    this.reason = reason
    this.host = host
    this.status = options.status
    this.retryAfter = options.retryAfter
  }
}
