/** Every sentence that git shows of what this server says: `remote:` lines, or the reason behind a ref. One line each, no control characters. */
import { span } from '../../queue/words/phrase.ts'

const mebibytes = (bytes: number) => `${Math.floor(bytes / 2 ** 20)} MiB`

/** Text of somebody else's, on one line and bounded. */
export function oneLine(text: string, most = 400): string {
  const clean = text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()
  return clean.length > most ? `${clean.slice(0, most - 1)}…` : clean
}

const tokenFor = (method: string, did: string) =>
  `a service token of your account for ${method}, audience ${did}, good for 5 minutes at most and for one push`

export const words = {
  noRepository: (owner: string, name: string) =>
    `There is no repository ${oneLine(owner, 120)}/${oneLine(name, 120)} here. Check the spelling, or ask its owner whether it moved.`,
  ownerGone: () => 'The account of its owner does not stand any more, and neither does this repository.',
  onlySmart: () => 'This address is for git 1.6.6 or later: its smart protocol, with ?service=git-upload-pack or git-receive-pack.',
  stateGone: () => 'The git state of this repository was taken out of its owner’s account.',
  unread: (why: string) => `The git state of this repository cannot be had now. ${oneLine(why)} Try again in a minute.`,
  stillFetching: () => 'This server is still fetching the repository from its owner’s account. Try again in a minute.',
  noAnswer: () => 'The account’s server does not answer.',
  busy: (ms: number) => `Too many clones, fetches and pushes at once. Try again in ${span(ms)}.`,
  limited: (ms: number) => `Too many requests from you just now. Try again in ${span(ms)}.`,
  requestTooLarge: (most: number) => `The request is larger than ${mebibytes(most)}, which is more than a fetch needs.`,
  requestUnreadable: () => 'The request cannot be read.',
  requestSlow: () => 'The request came too slowly.',
  wrongType: () => 'The request is of another kind than git sends to this address.',
  noToken: (method: string, did: string) => `Pushing needs a password: ${tokenFor(method, did)}. Any user name does.`,
  badToken: (why: string, method: string, did: string) => `Not let in: ${why}. The password of a push is ${tokenFor(method, did)}.`,
  tooManyTokens: () => 'Not let in: too many of your tokens are in use. Wait until some have expired, 5 minutes at most.',
  pushTooLarge: (most: number) => `The push is larger than ${mebibytes(most)}, which is the most that this server takes at once.`,
  wholePush: () => '(the whole push)',
  broken: (id: string) => `Something broke on our side: ${id}.`,
} as const
