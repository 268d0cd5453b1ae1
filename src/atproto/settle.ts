import type { LexValue } from '@atproto/lex-data'
import type { PdsAnswer } from './pds-call.ts'
import { failure, refusalOf, type WriteFailure } from './write-outcome.ts'

/**
 * What a look at the written keys says: `written` (what was to be there is there), `not-written` (what was there before), `key-taken` and
 * `swap-lost` (something else, so that this write cannot happen any more), `unknown` (could not be read).
 */
export type Seen = 'written' | 'not-written' | 'key-taken' | 'swap-lost' | 'unknown'

export interface Attempt<Done> {
  send: () => Promise<PdsAnswer>
  /** What a good answer says; undefined when it cannot be read. */
  read: (value: LexValue) => Done | undefined
  look: () => Promise<Seen>
  /** The outcome when a look says `written`. */
  found: Done | undefined
  tries: number
}

/**
 * Makes a write, and settles by reading what an answer does not say (STO-7). After a lost answer the keys are read; only when they show that
 * nothing was written is the same write sent again, with the same keys and content, so that sending it twice cannot write twice. A server
 * that let the whole wait go by is not waited for again.
 */
export async function settle<Done extends { ok: true }>(attempt: Attempt<Done>): Promise<Done | WriteFailure> {
  /** Whether a request that nobody answered may still be under way. */
  let loose = false
  for (let tried = 1; ; tried++) {
    const answer = await attempt.send()
    if (answer.kind === 'session-gone') return failure('session-gone', 'the account has to log in again', !loose)
    if (answer.kind === 'refused') return await refused(answer, loose)
    const done = answer.kind === 'ok' ? attempt.read(answer.value) : undefined
    if (done !== undefined) return done

    const lost = answer.kind === 'lost' ? answer : { answered: false, slow: false, detail: 'no readable answer' }
    loose ||= !lost.answered
    const seen = await attempt.look()
    if (seen === 'written' && attempt.found !== undefined) return attempt.found
    if (seen === 'key-taken') return failure('key-taken', 'the key holds another record', true)
    if (seen === 'swap-lost') return failure('swap-lost', 'the record is another one now', !loose)
    if (seen === 'unknown')
      return failure('upstream-failed', `the account's server: ${lost.detail}, and the record could not be read back`, false)
    if (lost.slow || tried >= attempt.tries) return failure('upstream-failed', `the account's server: ${lost.detail}`, !loose)
  }

  /** A swap that is lost may have been lost to an earlier try of this very write. */
  async function refused(answer: Extract<PdsAnswer, { kind: 'refused' }>, loose: boolean): Promise<Done | WriteFailure> {
    const refusal = refusalOf(answer)
    if (refusal.code !== 'swap-lost' && !loose) return refusal
    return ((await attempt.look()) === 'written' && attempt.found) || { ...refusal, settled: !loose }
  }
}
