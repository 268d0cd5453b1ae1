/** Every sentence that the shell of the server says: at the door, about sessions, and when a request is turned away. */
import { join, type Phrase, plain } from '../queue/words/phrase.ts'
import { type Refusal as QueueRefusal, rateLimited } from '../queue/words/refusals.ts'
import type { Refusal } from './refusals.ts'

export const refusals = {
  rateLimited: (seconds: number): Refusal => textOf(rateLimited(seconds * 1000)),
  crossSite: (publicUrl: string): Refusal => ({
    code: 'cross-site',
    message: 'This form was sent from another site, so nothing was done.',
    advice: `Open the page at ${publicUrl} and send it from there.`,
  }),
  formExpired: (): Refusal => ({
    code: 'form-expired',
    message: 'This form is too old or was opened under another log-in, so nothing was done.',
    advice: 'Go back, reload the page and try again.',
  }),
  tooLarge: (): Refusal => ({ code: 'too-large', message: 'What was sent is larger than is taken here.' }),
  unsupportedType: (): Refusal => ({ code: 'unsupported-type', message: 'What was sent is of a kind that is not taken here.' }),
  badRequest: (detail?: string): Refusal => ({
    code: 'bad-request',
    message: detail === undefined ? 'The address or the form has parts that cannot be read.' : `Not understood: ${detail}.`,
  }),
  methodNotAllowed: (): Refusal => ({ code: 'method-not-allowed', message: 'This cannot be done at this address.' }),
} as const

/** What is said at the door (log-in) when it does not open. */
export const door = {
  nobodyFound: (handle: string): Refusal => ({
    code: 'nobody-found',
    message: `Nobody found. There is no account called ${handle}.`,
    advice: 'Check the spelling.',
  }),
  notAName: (): Refusal => ({
    code: 'bad-request',
    message: 'That is no handle and no DID.',
    advice: 'A handle is a name like alice.test, a DID begins with did:plc: or did:web:.',
  }),
  unresolvable: (handle: string): Refusal => ({
    code: 'upstream-failed',
    message: `Not known now: who ${handle} is could not be looked up.`,
    advice: 'Try again in a minute.',
  }),
  noServer: (handle: string): Refusal => ({
    code: 'upstream-failed',
    message: `The account of ${handle} names no server to log in at.`,
  }),
  serverDown: (host: string): Refusal => ({
    code: 'upstream-failed',
    message: `${host} does not answer, or not as a server for log-in does.`,
    advice: 'Try again in a minute.',
  }),
  denied: (): Refusal => ({
    code: 'denied',
    message: 'You denied the request, so you are not logged in.',
    advice: 'Nothing was changed. Continue again when you want to.',
  }),
  stale: (): Refusal => ({
    code: 'stale-log-in',
    message: 'This log-in was used already, was begun in another browser, or is too old.',
    advice: 'Begin again here.',
  }),
  tooLittle: (): Refusal => ({
    code: 'scope-missing',
    message: 'Your server did not grant the one right that is needed: to write queue records as you.',
    advice: 'Continue again and leave it ticked.',
  }),
  failed: (): Refusal => ({
    code: 'upstream-failed',
    message: 'The log-in did not work out at your server.',
    advice: 'Begin again here.',
  }),
  again: (): Refusal => ({
    code: 'signed-out',
    message: 'Your log-in has ended: it ran out, was ended elsewhere, or was taken back at your server.',
    advice: 'Log in again; you come back to the same page.',
  }),
} as const

/** What is said on Settings where a delegation is not given, or its server did not hear that it was taken back. */
export const delegationRefusals = {
  denied: (): Refusal => ({
    code: 'denied',
    message: 'You denied the request, so nothing was delegated.',
    advice: 'Nothing was changed. Give it again when you want to.',
  }),
  stale: (): Refusal => ({
    code: 'stale-log-in',
    message: 'This answer was used already, was begun in another browser or under another log-in, or is too old.',
    advice: 'Nothing was changed. Begin again here.',
  }),
  tooLittle: (): Refusal => ({
    code: 'scope-missing',
    message: 'Your server granted less than is needed, so it was given back at once.',
    advice: 'Give it again and leave everything ticked.',
  }),
  otherAccount: (handle: string | undefined): Refusal => ({
    code: 'other-account',
    message: 'You allowed it as another account than the one that you are logged in with here, so it was given back at once.',
    advice: `At your server, continue as ${handle ?? 'the account that you are logged in with here'}; or log in here with the other one first.`,
  }),
  failed: (): Refusal => ({
    code: 'upstream-failed',
    message: 'It did not work out at your server, so nothing was delegated.',
    advice: 'Begin again here.',
  }),
  notTold: (host: string | undefined): Refusal => ({
    code: 'upstream-failed',
    message: `Withdrawn here, and what it allowed is forgotten; but ${host ?? 'your server'} did not hear of it.`,
    advice: 'Remove knotless among the connected apps there as well.',
  }),
} as const

/** Why `/healthz` is not ready. */
export const unready = {
  database: 'the database does not answer',
  neverConnected: 'not yet connected to Jetstream',
  disconnected: 'the connection to Jetstream is lost',
  stopping: 'the server is stopping',
} as const

/** A refusal of the queue's words as plain text. It names nobody and no time. */
function textOf(refusal: QueueRefusal): Refusal {
  const text = (phrase: Phrase) => plain(phrase, 0, () => undefined)
  const { code, message, advice } = refusal
  return { code, message: text(message), ...(advice === undefined ? {} : { advice: text(join(advice)) }) }
}
