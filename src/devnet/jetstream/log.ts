import Database from 'better-sqlite3'
import { z } from 'zod'
import type { Filterable } from './filter.ts'

/** An event on its way into the log. */
export interface NewEvent extends Filterable {
  /** Sequence number of the firehose event it comes from; a commit of several operations gives several log events. */
  readonly upstream: number
  readonly operation: string
  readonly rkey: string
  /** The object that the wire format puts under the name of the event's kind. */
  readonly body: unknown
}

const rowSchema = z.object({
  seq: z.number(),
  timeUs: z.number(),
  did: z.string(),
  kind: z.string(),
  collection: z.string(),
  body: z.string(),
})

/** An event as the log keeps it. `body` is JSON text. */
export type LogEvent = z.infer<typeof rowSchema>

/** The kept log of everything the stream ever sent, in order. */
export interface EventLog {
  /** Adds an event with the next sequence number and time; one that is already there (the firehose repeats after a restart) is left alone. */
  append(event: NewEvent): void
  /** Moves everything that is there so many microseconds back, as if it had been sent then. */
  age(us: number): void
  /** Up to `limit` events from sequence number `from` on, inclusive. */
  read(from: number, limit: number): LogEvent[]
  /** The last sequence number, 0 when empty. */
  tip(): number
  /** The first sequence number whose time is at or after `timeUs`, or undefined. */
  firstSince(timeUs: number): number | undefined
  /** The highest firehose sequence number seen, 0 when empty. */
  upstream(): number
  /** Accounts with records in a collection, in DID order after `after`. */
  accountsIn(collection: string, after: string, limit: number): string[]
  close(): void
}

const number = z.object({ n: z.number().nullable() })
const didRow = z.object({ did: z.string() })

/** Opens the log in a SQLite file. `nowUs` gives the time in unix microseconds; times in the log never go back, whatever it says. */
export function openLog(path: string, nowUs: () => number): EventLog {
  const db = new Database(path)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = NORMAL')
  db.exec(`
    create table if not exists event (
      seq integer primary key, time_us integer not null, upstream integer not null, did text not null, kind text not null,
      collection text not null, rkey text not null, operation text not null, body text not null,
      unique (upstream, kind, collection, rkey, operation));
    create index if not exists event_time on event (time_us);
    create index if not exists event_collection on event (collection, did) where operation <> 'delete';`)
  const value = (sql: string, ...args: unknown[]) => number.parse(db.prepare(sql).get(...args)).n
  const insert = db.prepare(`insert or ignore into event (time_us, upstream, did, kind, collection, rkey, operation, body)
    values (?, ?, ?, ?, ?, ?, ?, ?)`)
  const age = db.prepare('update event set time_us = time_us - ?')
  const select = db.prepare('select seq, time_us as timeUs, did, kind, collection, body from event where seq >= ? order by seq limit ?')
  const accounts = db.prepare(
    `select distinct did from event where collection = ? and operation <> 'delete' and did > ? order by did limit ?`,
  )
  let lastUs = value('select max(time_us) as n from event') ?? 0
  return {
    append(event) {
      lastUs = Math.max(nowUs(), lastUs + 1)
      insert.run(lastUs, event.upstream, event.did, event.kind, event.collection, event.rkey, event.operation, JSON.stringify(event.body))
    },
    age: us => void age.run(us),
    read: (from, limit) => z.array(rowSchema).parse(select.all(from, limit)),
    tip: () => value('select max(seq) as n from event') ?? 0,
    firstSince: timeUs => value('select min(seq) as n from event where time_us >= ?', timeUs) ?? undefined,
    upstream: () => value('select max(upstream) as n from event') ?? 0,
    accountsIn: (collection, after, limit) =>
      z
        .array(didRow)
        .parse(accounts.all(collection, after, limit))
        .map(row => row.did),
    close: () => db.close(),
  }
}
