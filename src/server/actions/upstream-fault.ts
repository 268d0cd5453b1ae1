import type { UpstreamError } from '../../atproto/upstream-error.ts'
import type { UpstreamFault } from '../../queue/words/refusals.ts'

/** What was wrong with a server, as people are told. */
export function upstreamFault(error: UpstreamError): UpstreamFault {
  if (error.reason === 'timeout') return 'silent'
  return error.reason === 'refused' ? 'unreachable' : 'garbage'
}
