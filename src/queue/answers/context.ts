/** What every answer is made with. */
import type { Asking } from '../asking.ts'
import { type Names, type Phrase, plain } from '../words/phrase.ts'
import type { Refusal } from '../words/refusals.ts'

export interface AnswerContext extends Asking {
  names: Names
  /** The version of the repository's index. */
  version: number
}

/** How phrases come out: as text for XRPC and the command line, or as they are for pages. */
export type Voice<W> = (phrase: Phrase) => W

/** Plain text at the time and with the names of a context. */
export function textVoice(ctx: AnswerContext): Voice<string> {
  return phrase => plain(phrase, ctx.now, ctx.names)
}

/** For pages: phrases stay in parts. */
export function phraseVoice(phrase: Phrase): Phrase {
  return phrase
}

/** An answer, or why there is none. */
export type Answer<T> = { ok: true; body: T } | { ok: false; refusal: Refusal }
