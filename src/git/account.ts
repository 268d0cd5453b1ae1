import type { RefsRecord } from './refs-record.ts'
import { type GitRefusal, type GitRefusalCode, refuse } from './refusal.ts'
import { quoted, words } from './words.ts'

/** A refusal of the account's server, by its kebab-case code. */
export interface AccountRefusal {
  code: string
  message: string
}

/**
 * `swap-lost`: the record is another than the one named (InvalidSwap). `blob-missing`: a blob that the record names is not there (BlobNotFound);
 * both may come as the code of a refusal too, `blob-not-found` meaning the latter.
 * A refusal with code `upstream-failed` means that the write may have been made all the same: it is settled by reading (STO-7).
 */
export type PutAnswer = 'done' | 'swap-lost' | 'blob-missing' | AccountRefusal

/** A blob reference as a client decoded it: the link an object that prints as its CID, or `{ $link }`. */
export interface AnsweredBlob {
  $type: 'blob'
  ref: object
  mimeType: string
  size: number
}

/** One repository's refs record and blobs in its owner's account: what a push needs of it. */
export interface RefsAccount {
  /** The record as it is now at its source, with its CID; undefined when there is none. */
  read(): Promise<{ record: unknown; cid: string } | undefined | AccountRefusal>
  /** Puts the record by compare-and-swap with the CID read; `null`: only if there is none. */
  put(record: RefsRecord, swapCid: string | null): Promise<PutAnswer>
  /** Uploads a part as application/octet-stream; `too-large` when the server takes no blob of that size (413). */
  upload(bytes: Uint8Array): Promise<AnsweredBlob | 'too-large' | AccountRefusal>
  /** Bytes a part may have, as found out: written by a push, to be remembered per server (STO-2). */
  partLimit?: number
}

/** What an answer to a put comes to. */
export function putOutcome(answer: PutAnswer): 'done' | 'swap-lost' | 'blob-missing' | 'unsettled' | GitRefusal {
  if (typeof answer === 'string') return answer
  if (answer.code === 'swap-lost') return 'swap-lost'
  if (answer.code === 'blob-missing' || answer.code === 'blob-not-found') return 'blob-missing'
  return answer.code === 'upstream-failed' ? 'unsettled' : accountRefusal(answer)
}

const passedOn: ReadonlySet<string> = new Set<GitRefusalCode>(['not-allowed', 'rate-limited', 'too-large'])

/** A refusal of the account's server as one of ours: a code that says what to do is kept, any other is `upstream-failed`. */
export function accountRefusal(answer: AccountRefusal): GitRefusal {
  const message = quoted(answer.message, 300)
  return isPassedOn(answer.code) ? refuse(answer.code, message) : refuse('upstream-failed', message || words.recordUnread())
}

function isPassedOn(code: string): code is GitRefusalCode {
  return passedOn.has(code)
}
