/** What the queue takes in. */

/**
 * A change of a record. `live`: from the stream; `replayed`: from the stream, of a time before it was followed; `own`: written by this server just
 * now; `listed`: read from the account's server by backfill.
 */
export interface RecordEvent {
  kind: 'record'
  source: 'live' | 'replayed' | 'own' | 'listed'
  did: string
  collection: string
  rkey: string
  /** The account's revision; of `listed`, the one before the list was read. */
  rev: string
  operation: 'create' | 'update' | 'delete'
  cid?: string | undefined
  /** In JSON form. */
  record?: unknown
  /** Jetstream's time, microseconds since 1970. */
  timeUs?: number | undefined
}

/** An account's standing changed. */
export interface AccountEvent {
  kind: 'account'
  did: string
  active: boolean
  status?: string | undefined
  timeUs: number
}

/** An account's handle, keys or server may have changed. */
export interface IdentityEvent {
  kind: 'identity'
  did: string
  timeUs: number
}

/** Something of the stream that does not concern the index: only its time counts. */
export interface OtherEvent {
  kind: 'other'
  timeUs: number
}

export type StreamEvent = RecordEvent | AccountEvent | IdentityEvent | OtherEvent

/** Rows of a collection that a whole list of it, read up to `rev`, lacks: they were deleted. */
export interface SweepEvent {
  kind: 'sweep'
  did: string
  collection: string
  rev: string
  listed: ReadonlySet<string>
  /** Only keys after this one were listed. */
  from?: string | undefined
}

/** Answers about these repositories changed by something other than a record. */
export interface TouchEvent {
  kind: 'touch'
  repos: readonly string[]
}

/** The records that waited for a repository which is known now. */
export interface ReleaseEvent {
  kind: 'release'
  repo: string
}

/** What an account's own server and the directory say about it. */
export interface ResolvedEvent {
  kind: 'resolved'
  did: string
  handle?: string | undefined
  /** The handle could not be looked at: what is known of it stays, and it is looked up again. */
  handleUnread?: boolean | undefined
  pds?: string | undefined
  /** Absent when it could not be told. */
  status?: string | undefined
  /** When it was asked, in microseconds since 1970. */
  askedUs: number
}

/** Accounts whose records are to be read: smaller goes first. */
export interface WantEvent {
  kind: 'want'
  dids: readonly string[]
  priority: number
}

/** What is held of batches' checks is kept past their pruning (REA-4): of one repository, or of all, from a row on. */
export interface KeepEvent {
  kind: 'keep'
  repo?: string | undefined
  after?: number | undefined
}

export type IngestEvent = StreamEvent | KeepEvent | SweepEvent | ReleaseEvent | ResolvedEvent | TouchEvent | WantEvent

/** The most that a clock elsewhere may be ahead of ours and still be believed, in microseconds. */
const AHEAD_US = 60_000_000

/**
 * An event as Jetstream sends it; undefined for one that is none. `nowUs` bounds its time: a time far ahead would make a cursor that skips
 * everything until then.
 */
export function readStreamEvent(frame: unknown, nowUs: number): StreamEvent | undefined {
  if (!isFields(frame) || typeof frame.did !== 'string') return undefined
  const timeUs = isTime(frame.time_us) && frame.time_us <= nowUs + AHEAD_US ? frame.time_us : nowUs
  const { did, commit, account } = frame
  if (frame.kind === 'identity') return { kind: 'identity', did, timeUs }
  if (frame.kind === 'account') {
    if (!isFields(account) || typeof account.active !== 'boolean') return undefined
    return { kind: 'account', did, active: account.active, status: text(account.status), timeUs }
  }
  if (frame.kind !== 'commit' || !isFields(commit) || typeof commit.collection !== 'string') return undefined
  if (!commit.collection.startsWith('dev.knotless.')) return { kind: 'other', timeUs }
  const { collection, rkey, rev, operation, cid, record } = commit
  if (typeof rkey !== 'string' || typeof rev !== 'string') return undefined
  if (operation !== 'create' && operation !== 'update' && operation !== 'delete') return undefined
  return { kind: 'record', source: 'live', did, collection, rkey, rev, operation, cid: text(cid), record, timeUs }
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
