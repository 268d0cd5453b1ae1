/** When something is expected to land: a range with what it goes by, or the reason why there is none. */
import type { Phrase } from './words/phrase.ts'

/** Times in milliseconds since 1970. */
export type Expected = { from: number; to: number; basis: Phrase } | { none: Phrase }
