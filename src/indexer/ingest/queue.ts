import type { IndexDatabase } from '../database.ts'
import { type Batch, refuse } from './batch.ts'
import { type ChangeListener, createChangeBus } from './bus.ts'
import type { IngestEvent, StreamEvent } from './events.ts'
import type { WaitingBounds } from './waiting-rows.ts'
import { createWriter, type Outcome, type Writer } from './writer.ts'

export interface IngestOptions {
  index: IndexDatabase
  /** Milliseconds since 1970. */
  now: () => number
  /** Names the stream whose cursor is kept. */
  service: string
  /** Events, and bytes of their frames, that may wait; past it the stream is to be closed. Default 20,000 and 32 MiB. */
  bounds?: { events: number; bytes: number }
  waiting?: WaitingBounds
  /** Something of ours failed: written to the log, never fatal. */
  failed: (error: unknown) => void
}

/** One sequential queue through which everything comes into the index. */
export interface Ingest {
  /** Takes an event of the stream; false when the queue is full: the event is not taken, and what follows it must not be either. */
  push(event: StreamEvent, bytes?: number): boolean
  /** Takes events that are not the stream's; settles when they are written. */
  submit(events: readonly IngestEvent[]): Promise<void>
  /** Writes one event before everything that waits; as a rule it is written when the call returns, for certain when the promise settles. */
  now(event: IngestEvent): Promise<void>
  /** Takes out what is too old; to be called every now and then. */
  maintain(): void
  /** Settles when there is room again. */
  room(): Promise<void>
  /** Settles when everything taken so far, and what it brought with it, is written. */
  idle(): Promise<void>
  /** Jetstream's time up to which everything is written, microseconds since 1970: of this stream or, before it was followed, of the one before. */
  cursor(): number | undefined
  /** Sets the cursor where there is none yet; with `skip` also past an older one, what lies between being read in another way. */
  startAt(timeUs: number, skip?: boolean): void
  size(): number
  onChanged(listener: ChangeListener): () => void
  onOutcome(listener: (outcome: Outcome) => void): void
  /** Writes what is there and takes nothing more. */
  stop(): Promise<void>
}

interface Item {
  event: IngestEvent
  bytes: number
  done?: () => void
}

const BATCH_EVENTS = 1_000
const BATCH_MS = 25
/** On a busy machine time passes without work: batches are not cut so small that committing them is most of it. */
const SMALL_BATCH = 256
const LONG_BATCH_MS = 60
const SAVE_CURSOR_MS = 1_000
const RETRY_MS = 500
/** How long stopping waits for a database that cannot be written to. */
const STOP_MS = 5_000

export function createIngest(options: IngestOptions): Ingest {
  const { index, now, service, failed } = options
  const bounds = options.bounds ?? { events: 20_000, bytes: 32 * 2 ** 20 }
  const writer: Writer = createWriter(index, options)
  const bus = createChangeBus(failed)
  const outcomes: ((outcome: Outcome) => void)[] = []
  const items: Item[] = []
  let first = 0
  let bytes = 0
  let latestUs = 0
  let savedAt = 0
  let lost = 0
  let scheduled: { cancel: () => void } | undefined
  let stopped = false
  let idlers: (() => void)[] = []
  let roomers: (() => void)[] = []
  const size = () => items.length - first

  function add(event: IngestEvent, frame = 0, done?: () => void): void {
    items.push({ event, bytes: frame, ...(done === undefined ? {} : { done }) })
    bytes += frame
    schedule()
  }

  function schedule(delayMs = 0): void {
    if (scheduled !== undefined) return
    const run = (): void => {
      scheduled = undefined
      flush()
    }
    if (delayMs > 0) {
      const timer = setTimeout(run, delayMs)
      scheduled = { cancel: () => clearTimeout(timer) }
    } else {
      const immediate = setImmediate(run)
      scheduled = { cancel: () => clearImmediate(immediate) }
    }
  }

  function flush(): void {
    if (size() === 0) settle()
    // A transaction of somebody else's on this connection ends in a later tick.
    else if (index.sqlite.inTransaction) schedule(1)
    else {
      const { count, trouble } = writeSome(items.slice(first, first + BATCH_EVENTS))
      advance(count)
      if (size() > 0) schedule(trouble ? RETRY_MS : 0)
      else settle()
    }
  }

  /** Writes what can be written; `trouble` when the database cannot be written to now. */
  function writeSome(taken: readonly Item[]): { count: number; trouble: boolean } {
    try {
      return { count: write(taken), trouble: false }
    } catch (error) {
      failed(error)
      return isTrouble(error) ? { count: 0, trouble: true } : writeEach(taken)
    }
  }

  /** One of these cannot be written, by a fault of ours: each by itself, and those that fail are counted and passed over. */
  function writeEach(taken: readonly Item[]): { count: number; trouble: boolean } {
    for (const [count, item] of taken.entries()) {
      try {
        write([item])
      } catch (error) {
        failed(error)
        if (isTrouble(error)) return { count, trouble: true }
        lost += 1
      }
    }
    return { count: taken.length, trouble: false }
  }

  /** Writes as many of these as fit into the time of one batch, at least one, and gives how many. */
  function write(taken: readonly Item[]): number {
    const started = performance.now()
    let count = 0
    let upTo = latestUs
    let records = false
    const outcome = transaction(batch => {
      for (const { event } of taken) {
        writer.apply(batch, event)
        count += 1
        if ('timeUs' in event) upTo = Math.max(upTo, event.timeUs ?? 0)
        if (event.kind === 'record') records = true
        if (count % 16 === 0 && performance.now() - started > (count < SMALL_BATCH ? LONG_BATCH_MS : BATCH_MS)) break
      }
      for (; lost > 0; lost--) refuse(batch, 'failed')
      // Of the others' events alone the time is kept once a second.
      if (upTo === 0 || (!records && now() - savedAt < SAVE_CURSOR_MS)) return undefined
      savedAt = now()
      return { service, timeUs: upTo }
    })
    latestUs = upTo
    tell(outcome)
    return count
  }

  function transaction(work: (batch: Batch) => { service: string; timeUs: number } | undefined): Outcome {
    try {
      return index.transaction(() => {
        const batch = writer.begin()
        const cursor = work(batch)
        return writer.finish(batch, cursor)
      })
    } catch (error) {
      writer.abandon()
      throw error
    }
  }

  function tell(outcome: Outcome): void {
    for (const event of outcome.next) add(event)
    bus.announce(outcome.changes)
    for (const listener of outcomes) listener(outcome)
  }

  function advance(count: number): void {
    for (let n = 0; n < count; n++) {
      const item = items[first + n]
      bytes -= item?.bytes ?? 0
      item?.done?.()
    }
    first += count
    if (first > 4_096 || first === items.length) {
      items.splice(0, first)
      first = 0
    }
    if (size() > bounds.events / 4 || bytes > bounds.bytes / 4) return
    const waiting = roomers
    roomers = []
    for (const resume of waiting) resume()
  }

  function settle(): void {
    const waiting = idlers
    idlers = []
    for (const resume of waiting) resume()
  }

  const ingest: Ingest = {
    push(event, frame = 200) {
      if (stopped || size() >= bounds.events || bytes >= bounds.bytes) return false
      const last = items.at(-1)?.event
      // Of what does not concern the index only the time counts, and of several times in a row the last.
      if (event.kind === 'other' && last?.kind === 'other') last.timeUs = Math.max(last.timeUs, event.timeUs)
      else add(event, frame)
      return true
    },
    submit(events) {
      if (stopped || events.length === 0) return Promise.resolve()
      return new Promise(resolve => {
        for (const event of events.slice(0, -1)) add(event)
        for (const event of events.slice(-1)) add(event, 0, resolve)
      })
    },
    async now(event) {
      if (stopped) return
      if (index.sqlite.inTransaction) return ingest.submit([event])
      tell(
        transaction(batch => {
          writer.apply(batch, event)
          return undefined
        }),
      )
    },
    maintain() {
      if (stopped || index.sqlite.inTransaction) return
      tell(
        transaction(batch => {
          writer.maintain(batch)
          return undefined
        }),
      )
    },
    room: () =>
      size() <= bounds.events / 4 && bytes <= bounds.bytes / 4 ? Promise.resolve() : new Promise(resolve => roomers.push(resolve)),
    idle: () => (size() === 0 ? Promise.resolve() : new Promise(resolve => idlers.push(resolve))),
    cursor: () => writer.cursor(service),
    startAt(timeUs, skip = false) {
      if (skip || writer.cursor(service) === undefined) transaction(() => ({ service, timeUs }))
    },
    size,
    onChanged: listener => bus.on(listener),
    onOutcome: listener => void outcomes.push(listener),
    async stop() {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>(resolve => {
        timer = setTimeout(resolve, STOP_MS)
      })
      await Promise.race([ingest.idle(), late])
      clearTimeout(timer)
      stopped = true
      scheduled?.cancel()
    },
  }

  for (const repo of writer.unreleased()) add({ kind: 'release', repo })
  if (writer.holdsBatches()) add({ kind: 'keep' })
  return ingest
}

/** Trouble of the file or the disk, which passes; everything else is a fault of ours. */
function isTrouble(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^SQLITE_(BUSY|LOCKED|FULL|IOERR|NOMEM|CANTOPEN|PROTOCOL)/.test(String(error.code))
}
