import { clockSkewMs, MAX_CLOCK_SKEW_MS } from './clock-skew.ts'
import { callPds, type PdsAnswer } from './pds-call.ts'
import type { AccountSession } from './session.ts'
import { failure, type WriteFailure } from './write-outcome.ts'

/** How long a comparison of clocks stands, in milliseconds. */
const STANDS_MS = 5 * 60_000

export interface WriterClock {
  /** Takes note of an answer's Date header. */
  note(answer: PdsAnswer): void
  /** The refusal to write, when the clocks lie too far apart or the server cannot be asked; undefined when writing is fine. */
  check(): Promise<WriteFailure | undefined>
}

/** Compares our clock with the server's before a write (REC-8), by its last answer or a small question. A server that sends no Date is believed. */
export function createWriterClock(ctx: { session: AccountSession; now: () => number; timeoutMs: number }): WriterClock {
  let last: { skew: number; at: number } | undefined

  function note(answer: PdsAnswer): void {
    if (answer.kind === 'session-gone') return
    const skew = clockSkewMs(answer.date, ctx.now())
    if (skew !== undefined) last = { skew, at: ctx.now() }
  }

  /** The last comparison, if it still stands and the clocks agreed. */
  function agrees(): boolean {
    return last !== undefined && Math.abs(ctx.now() - last.at) < STANDS_MS && Math.abs(last.skew) <= MAX_CLOCK_SKEW_MS
  }

  async function check(): Promise<WriteFailure | undefined> {
    if (agrees()) return undefined
    const answer = await callPds(ctx.session, { path: '/xrpc/_health', method: 'GET', timeoutMs: ctx.timeoutMs })
    if (answer.kind === 'session-gone') return failure('session-gone', 'the account has to log in again', true)
    if (answer.kind === 'lost' && !answer.answered) return failure('upstream-failed', `the account's server: ${answer.detail}`, true)
    note(answer)
    const skew = clockSkewMs(answer.date, ctx.now()) ?? 0
    if (Math.abs(skew) <= MAX_CLOCK_SKEW_MS) return undefined
    return failure(
      'clock',
      `this clock is ${Math.round(Math.abs(skew) / 1000)} s ${skew > 0 ? 'behind' : 'ahead of'} the account's server's`,
      true,
    )
  }

  return { note, check }
}
