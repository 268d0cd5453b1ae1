import type { IdResolver } from '@atproto/identity'
import { lexToJson } from '@atproto/lex-json'
import { type Event, Firehose } from '@atproto/sync'
import type { EventLog, NewEvent } from './log.ts'

/** The connection from a PDS's firehose to the log. */
export interface Feed {
  /** Sequence number of the last firehose event that has gone through, in the log or with nothing to log. */
  seen(): number
  /** What it stumbled over last, for the health answer. */
  trouble(): string | undefined
  stop(): Promise<void>
}

/**
 * Follows the firehose of the PDS at `pdsUrl` from where the log ends (from the beginning when it is empty), checks each commit's proofs and
 * signature, appends what passes and calls `appended` after each.
 */
export function startFeed(options: {
  pdsUrl: string
  resolver: IdResolver
  log: EventLog
  appended: () => void
  report: (line: string) => void
}): Feed {
  let seen = options.log.upstream()
  let trouble: string | undefined
  let stopped = false
  const firehose = new Firehose({
    service: options.pdsUrl.replace(/^http/, 'ws'),
    idResolver: options.resolver,
    subscriptionReconnectDelay: 300,
    maxReconnectSeconds: 2,
    // The last event is asked for again: a stop between two operations of one commit would else lose the second.
    getCursor: () => Math.max(0, seen - 1),
    handleEvent(event) {
      const entry = logEntry(event)
      if (entry !== undefined) {
        options.log.append(entry)
        options.appended()
      }
      seen = Math.max(seen, event.seq)
      trouble = undefined
    },
    onError(error) {
      if (stopped) return
      const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
      trouble = `${error.message}${cause}`
      options.report(`jetstream: ${trouble}`)
    },
  })
  const running = firehose.start()
  return {
    seen: () => seen,
    trouble: () => trouble,
    async stop() {
      stopped = true
      await firehose.destroy()
      await running
    },
  }
}

/** An event of the firehose as the log takes it; sync events have no place in the first version of the wire format. */
function logEntry(event: Event): NewEvent | undefined {
  const base = { upstream: event.seq, did: event.did, collection: '', rkey: '', operation: '' }
  switch (event.event) {
    case 'create':
    case 'update': {
      const place = { operation: event.event, collection: event.collection, rkey: event.rkey }
      const body = { rev: event.rev, ...place, record: lexToJson(event.record), cid: event.cid.toString() }
      return { ...base, ...place, kind: 'commit', body }
    }
    case 'delete': {
      const place = { operation: event.event, collection: event.collection, rkey: event.rkey }
      return { ...base, ...place, kind: 'commit', body: { rev: event.rev, ...place } }
    }
    case 'identity': {
      const handle = event.handle === undefined ? {} : { handle: event.handle }
      return { ...base, kind: 'identity', body: { did: event.did, ...handle, seq: event.seq, time: event.time } }
    }
    case 'account': {
      const status = event.status === undefined ? {} : { status: event.status }
      return { ...base, kind: 'account', body: { active: event.active, did: event.did, seq: event.seq, ...status, time: event.time } }
    }
    case 'sync':
      return undefined
  }
}
