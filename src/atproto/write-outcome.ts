import type { PdsAnswer } from './pds-call.ts'

/** Why a write did not happen, or is not known to have happened. */
export type WriteCode =
  /** the record, or the repository, is no longer what the caller had read: read again, judge again (STO-6) */
  | 'swap-lost'
  /** the key of a create holds another record already */
  | 'key-taken'
  /** over the server's bound for a record or a blob */
  | 'too-large'
  /** a blob that the record names is not there (any more): upload it again (STO-4) */
  | 'blob-not-found'
  /** the grant does not cover this write */
  | 'scope-missing'
  /** log in again */
  | 'session-gone'
  | 'rate-limited'
  /** the clocks lie too far apart (REC-8); nothing was sent */
  | 'clock'
  /** the server says no for another reason: an invalid record, a deactivated account */
  | 'refused'
  /** no answer, or none that can be read */
  | 'upstream-failed'

export interface WriteFailure {
  ok: false
  code: WriteCode
  /** What happened, for a log or as the detail under the words for the code; the server's own text is quoted, bounded and clean. */
  message: string
  /** Seconds to wait, where the server says. */
  retryAfter?: number
  /**
   * True: this call has written nothing, and nothing of it is under way. False: not known; the same call with the same keys and content
   * may be made again and settles it (STO-7).
   */
  settled: boolean
}

export interface Written {
  ok: true
  cid: string
  /** The repository's revision with this write in it; absent when it was there already, or its answer was lost and it was found by reading. */
  rev?: string
}

export interface Applied {
  ok: true
  /** In the order of the writes; undefined for a delete. */
  cids: (string | undefined)[]
  rev?: string
}

/** What a server said, made fit to stand in a log or a page: one line, at most 300 characters. */
export function quoted(text: string): string {
  const clean = text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()
  return clean.length > 300 ? `${clean.slice(0, 300)}…` : clean
}

export function failure(code: WriteCode, message: string, settled: boolean): WriteFailure {
  return { ok: false, code, message, settled }
}

/** What a server's no means to the caller. A no is settled: it has written nothing. */
export function refusalOf(answer: Extract<PdsAnswer, { kind: 'refused' }>): WriteFailure {
  const said = quoted(answer.message)
  return {
    ok: false,
    code: codeOf(answer.status, answer.error),
    message: `the account's server answered ${answer.status}${said === '' ? '' : `: ${said}`}`,
    settled: true,
    ...(answer.retryAfter === undefined ? {} : { retryAfter: answer.retryAfter }),
  }
}

function codeOf(status: number, error: string): WriteCode {
  if (status === 429) return 'rate-limited'
  if (status === 413) return 'too-large'
  if (status === 403) return 'scope-missing'
  switch (error) {
    case 'InvalidSwap':
      return 'swap-lost'
    case 'BlobNotFound':
      return 'blob-not-found'
    case 'ExpiredToken':
    case 'InvalidToken':
      return 'session-gone'
    default:
      return 'refused'
  }
}
