import type { Reader } from '../../atproto/reader.ts'
import type { Mirrors } from '../../git/mirror.ts'
import type { SyncLimits } from '../../git/sync.ts'
import type { IndexDatabase } from '../database.ts'
import type { Ingest } from '../ingest/queue.ts'

/** What looking into git takes. */
export interface MirrorContext {
  index: IndexDatabase
  mirrors: Mirrors
  reader: Pick<Reader, 'getRecord' | 'getBlob'>
  ingest: Pick<Ingest, 'submit'>
  /** Milliseconds since 1970. */
  now: () => number
  limits?: SyncLimits | undefined
}
