import type { FetchBlob } from './incoming.ts'
import type { Mirror } from './mirror.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { type SyncDone, type SyncOptions, syncMirror } from './sync.ts'
import { words } from './words.ts'

/** A record as read from its account with its CID, nothing when there is none, or why it could not be read. */
export type RecordRead = { record: unknown; cid: string } | undefined | { code: string; message: string }

const reads = 5
const unread = { code: 'upstream-failed', message: words.recordUnread() }

/**
 * Reads the refs record and brings the mirror to it. A part that is gone means that the record changed (a consolidation drops parts at once):
 * it is read again, up to five times; only then is the repository called broken (STO-4). A read that throws counts as one that failed. `cid`: of
 * the record that the mirror is at.
 */
export async function syncFrom(input: {
  mirror: Mirror
  read: () => Promise<RecordRead>
  fetchBlob: FetchBlob
  options?: SyncOptions
}): Promise<(SyncDone & { cid: string }) | GitRefusal> {
  for (let read = 1; read <= reads; read++) {
    const found = await input.read().catch(() => unread)
    if (found === undefined) return refuse('bad-record', words.noRecord())
    if ('code' in found) return refuse('upstream-failed', words.recordUnread())
    const done = await syncMirror(input.mirror, found.record, input.fetchBlob, input.options)
    if (done.ok) return { ...done, cid: found.cid }
    if (done.code !== 'blob-missing') return done
  }
  return refuse('blob-missing', words.broken())
}
