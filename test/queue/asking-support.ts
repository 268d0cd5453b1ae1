/** Sentences and judgements for tests, as the people of a history get them. */
import { type AdmissionInput, judgeLeave, judgeMerge, judgeQueue } from '../../src/queue/admission.ts'
import type { GatewayFacts } from '../../src/queue/asking.ts'
import type { MergeResult } from '../../src/queue/facts.ts'
import { type Phrase, plain } from '../../src/queue/words/phrase.ts'
import type { Refusal } from '../../src/queue/words/refusals.ts'
import { type AtUri, HEAD, type History, MINUTE, TIP } from './support.ts'

/** The handle of a made-up account: its name without the padding. */
export function handle(did: string): string {
  return `${did.replace(/^did:plc:/, '').replace(/a+$/, '')}.test`
}

/** A phrase as text, at the history's time of looking. */
export function text(phrase: Phrase | undefined, history: History): string {
  return plain(phrase ?? [], history.now + MINUTE, handle)
}

export function merge(pull: string, more: Partial<MergeResult> = {}): MergeResult {
  return { pull, tip: TIP, head: HEAD, applies: true, conflicts: [], moreConflicts: 0, changesChecks: false, empty: false, ...more }
}

/** Sets a pull's merge result in a history. */
export function merges(history: History, pull: AtUri, more: Partial<MergeResult> = {}): void {
  history.merges.set(pull, merge(pull, more))
}

/** A server as gateway: with the owner's delegation, and without. */
export const given: GatewayFacts & { did: `did:web:${string}` } = {
  did: 'did:web:queue.example',
  delegation: { state: 'given', since: 0 },
  settingsUrl: 'https://queue.example/settings#delegation',
}
export const withheld: typeof given = { ...given, delegation: { state: 'never' } }

type Ask = Partial<Omit<AdmissionInput, 'view' | 'pull'>>

export const judge = {
  queue: (history: History, pull: string, ask: Ask = {}) => judgeQueue({ view: history.view(), pull, ...ask }),
  leave: (history: History, pull: string, ask: Ask = {}) => judgeLeave({ view: history.view(), pull, ...ask }),
  merge: (history: History, pull: string, ask: Ask = {}) => judgeMerge({ view: history.view(), pull, ...ask }),
}

/** Code, message and advice of a judgement, in a line; "ok" for one that allows. */
export function verdict(judged: { ok: true } | { ok: false; refusal: Refusal }, history: History): string {
  if (judged.ok) return 'ok'
  const { code, message, advice } = judged.refusal
  return [code, text(message, history), text(advice, history)].filter(part => part !== '').join(' | ')
}
