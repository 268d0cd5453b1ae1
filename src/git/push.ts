import type { BlobRef, RefsRecord } from './refs-record.ts'
import type { GitRefusal } from './refusal.ts'

/** A refusal of the account's server, passed on as it is. */
export interface AccountRefusal {
  code: string
  message: string
}

/**
 * `swap-lost`: the record is another than `swapCid` (InvalidSwap). `blob-missing`: a blob that the record names is not there (BlobNotFound).
 * A refusal with code `upstream-failed` means that the write may have been made: it is settled by reading (STO-7).
 */
export type PutAnswer = 'done' | 'swap-lost' | 'blob-missing' | AccountRefusal

/** One repository's refs record and blobs in its owner's account. */
export interface RefsAccount {
  /** The record as it is now, from its source; undefined when there is none. */
  read(): Promise<{ record: unknown; cid: string } | undefined | AccountRefusal>
  /** Puts the record by compare-and-swap; `null`: only if there is none. */
  put(record: RefsRecord, swapCid: string | null): Promise<PutAnswer>
  /** Uploads a part as application/octet-stream; `too-large` when the server answers 413. */
  upload(bytes: Uint8Array): Promise<BlobRef | 'too-large' | AccountRefusal>
  /** Bytes a part may have, as found out; written here, to be remembered per server (STO-2). */
  partLimit?: number
}

/** A ref to set, or to delete with `commit: null`. */
export interface RefUpdate {
  /** Full ref name. */
  name: string
  commit: string | null
  /** Where it must be at now (`null`: nowhere); by default where the first read finds it. */
  old?: string | null
  /** Allow a move that is no fast-forward. */
  force?: boolean
}

export interface PushDone {
  ok: true
  /** The record as it stands after the push. */
  record: RefsRecord
  /** False when everything was so already and nothing was written. */
  changed: boolean
}

/** Pushes commits of a local git directory into an account as one compare-and-swap (STO-1..7). */
export function pushRefs(_input: {
  gitDir: string
  updates: RefUpdate[]
  account: RefsAccount
  repo: string
  now: () => Date
  /** For the jitter between tries: waits so many milliseconds; and a number in 0..1. */
  wait?: (ms: number) => Promise<void>
  random?: () => number
}): Promise<PushDone | GitRefusal> {
  throw new Error('not written yet')
}
