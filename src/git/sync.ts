import type { Mirror } from './mirror.ts'
import type { RefRow } from './refs-record.ts'
import type { GitRefusal } from './refusal.ts'

/** What a blob read answers instead of bytes. */
export interface BlobRefusal {
  code: 'blob-missing' | 'upstream-failed'
  message: string
}

/**
 * Reads one blob: its CID, the size that the record says, a signal that ends the read. Answers the bytes, or a refusal. An error thrown while
 * iterating counts as `upstream-failed`, unless its `code` is `blob-missing`. Bytes are checked against the CID here.
 */
export type FetchBlob = (
  cid: string,
  size: number,
  signal: AbortSignal,
) => AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array> | BlobRefusal>

/** Bounds of a sync; each has a default. */
export interface SyncLimits {
  /** Bytes of all packs fetched in one sync. */
  bytes?: number
  /** Bytes of one object. */
  objectBytes?: number
  /** Milliseconds without a byte from a blob. */
  idleMs?: number
  /** Milliseconds for the whole sync. */
  totalMs?: number
}

export interface SyncDone {
  ok: true
  /** True when a pack came in or a ref moved. */
  changed: boolean
  refs: RefRow[]
}

/** Brings a mirror to what a refs record says. Anything wrong leaves the mirror as it was. */
export function syncMirror(
  _mirror: Mirror,
  _record: unknown,
  _fetchBlob: FetchBlob,
  _limits?: SyncLimits & { repo?: string; allPacks?: boolean; signal?: AbortSignal },
): Promise<SyncDone | GitRefusal> {
  throw new Error('not written yet')
}

/** `syncMirror` with the record read by `read`, read again up to five times when a part is gone (STO-4). */
export function syncFrom(_input: {
  mirror: Mirror
  read: () => Promise<{ record: unknown; cid: string } | undefined | { code: string; message: string }>
  fetchBlob: FetchBlob
  limits?: SyncLimits
  repo?: string
}): Promise<(SyncDone & { cid: string }) | GitRefusal> {
  throw new Error('not written yet')
}
