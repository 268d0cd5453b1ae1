import { UpstreamError, type UpstreamReason } from '../../src/atproto/upstream-error.ts'

/** For assert.rejects: an UpstreamError for this reason. */
export function because(reason: UpstreamReason): (error: unknown) => boolean {
  return error => error instanceof UpstreamError && error.reason === reason
}
