import type { CommitObject } from './commit-objects.ts'
import { cleanBody, cleanTitle, isCleanText } from './message-text.ts'
import { words } from './words.ts'

/** What a squash commit says besides its tree: all that lander, gateway and preview have to agree on (BLD-10). */
export interface SquashText {
  title: string
  body?: string | undefined
  /** The pull's head branch: the title of a pull whose own is empty. */
  branch: string
  /** The pull's AT-URI. */
  pull: string
}

/** Bytes of an author line that is kept, of a committer's, which holds a DID twice, and of a message that is clean. */
const bounds = { author: 512, committer: 1024, message: 32 * 1024, lastLine: 2048 } as const

/** Dates with leading zeros and names without letters are what git's strict check refuses; controls are what a terminal would act on. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it keeps out
const wellFormed = /^[^\x00-\x1f\x7f<>]*[^\x00-\x20\x7f<>][^\x00-\x1f\x7f<>]* <[^\x00-\x1f\x7f<>]*> (0|[1-9]\d{0,11}) [+-]\d{4}$/

/**
 * The squash commit of a pull as bytes of a commit object (BLD-3, BLD-10). `head` is the head's last commit, whose author line is kept byte for
 * byte where it is well formed; `committer` is a DID; `time` is in seconds since 1970. The same input gives the same bytes. Throws for ids, a DID,
 * a time or an address that are none: they are not anybody's free text.
 */
export function squashCommit(
  input: SquashText & { tree: string; parent: string; head: Pick<CommitObject, 'author' | 'encoding'>; committer: string; time: number },
): Buffer {
  const { tree, parent, head, committer, time } = input
  if (!/^[0-9a-f]{40}$/.test(tree) || !/^[0-9a-f]{40}$/.test(parent)) throw new Error('a squash needs the ids of a tree and a parent')
  if (!/^did:[a-z]+:[\w.:%-]{1,2048}$/.test(committer)) throw new Error('a squash is committed by a DID')
  if (!Number.isSafeInteger(time) || time < 0 || time > 99_999_999_999) throw new Error('a squash needs a time in whole seconds')
  const date = `${time} +0000`
  return Buffer.concat([
    Buffer.from(`tree ${tree}\nparent ${parent}\n`),
    authorLine(head) ?? Buffer.from(`author ${words.unknownAuthor()} <unknown@knotless.invalid> ${date}`),
    Buffer.from(`\ncommitter ${committer} <${committer}@knotless.invalid> ${date}\n\n${squashMessage(input)}`),
  ])
}

/** The message of a squash commit: title, body if there is any, the pull's AT-URI as the last line, with empty lines between. */
export function squashMessage(text: SquashText): string {
  if (!/^at:\/\/[\w.:%~/-]{1,2040}$/.test(text.pull)) throw new Error('a squash needs the address of its pull')
  const title = cleanTitle(text.title) || cleanTitle(text.branch) || words.untitled()
  const body = cleanBody(text.body ?? '')
  return [title, ...(body === '' ? [] : [body]), text.pull].join('\n\n').concat('\n')
}

/** The last line of a message that is not empty, at most 2,048 characters of it: the only line that readers look at to learn its pull. */
export function lastLineOf(message: Buffer): string {
  for (let end = message.length; end > 0; ) {
    const start = message.lastIndexOf(0x0a, end - 1) + 1
    const line = message.subarray(start, Math.min(end, start + 4 * bounds.lastLine)).toString('utf8')
    if (line.trim() !== '') return line.slice(0, bounds.lastLine)
    end = start - 1
  }
  return ''
}

/** Whether a message is within bounds (32 KiB), UTF-8 and free of controls and bidi overrides, as every message of the builder is (GWY-4). */
export function isCleanMessage(message: Buffer): boolean {
  if (message.length > bounds.message) return false
  const text = decoded(message, 'utf-8')
  return text !== undefined && isCleanText(text)
}

/**
 * Whether a commit brings nothing with it besides a clean message and two people, each as the builder would write them: no signature, merge tag or
 * made-up header, which may be of any size.
 */
export function isCleanCommit(commit: CommitObject): boolean {
  const { author, committer, cut, otherHeaders, message } = commit
  return !cut && otherHeaders.length === 0 && isPerson(author, 'author') && isPerson(committer, 'committer') && isCleanMessage(message)
}

function isPerson(line: Buffer, who: 'author' | 'committer'): boolean {
  return line.length <= bounds[who] && isWellFormed(line.toString('latin1'), who)
}

function isWellFormed(line: string, who: 'author' | 'committer'): boolean {
  return line.startsWith(`${who} `) && wellFormed.test(line.slice(who.length + 1))
}

/** The author line as it is kept, or nothing where there is none to keep. In UTF-8: the squash commit names no other encoding. */
function authorLine(head: Pick<CommitObject, 'author' | 'encoding'>): Buffer | undefined {
  const { author, encoding } = head
  if (encoding === undefined) return isPerson(author, 'author') ? author : undefined
  const text = author.length > bounds.author ? undefined : decoded(author, encoding)
  if (text === undefined || !isWellFormed(text, 'author')) return undefined
  const line = Buffer.from(text)
  return line.length <= bounds.author ? line : undefined
}

/** The text, or undefined where the bytes are none in that encoding or nobody knows it. */
function decoded(bytes: Buffer, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
