import { LRUCache } from 'lru-cache'
import type { Did } from '../../atproto/ids.ts'
import type { Reader } from '../../atproto/reader.ts'
import { readUsable } from '../../indexer/sources/read-about.ts'
import type { CheckRecord, Stored } from '../../queue/facts.ts'
import { pullCheckPrefix } from '../../workflows/check-keys.ts'

export type Check = Stored<CheckRecord>

/** Checks of a pull at a head that are read at most, and at a time. */
const MOST = 300
const PAGE = 30

export interface PullChecks {
  /** An account's checks of a pull at this head as they were read last, and at which revision; undefined when they never were. */
  known(did: Did, pull: string, head: string): { rev: string; at: number; checks: readonly Check[] } | undefined
  /** Reads them. Rejects with an UpstreamError. */
  read(did: Did, rev: string, pull: string, head: string): Promise<readonly Check[]>
}

/** Their keys start alike, so that a few records of the list are read and not all (CHK-3). */
export function createPullChecks(ctx: { reader: Reader; now: () => number }): PullChecks {
  const { reader, now } = ctx
  const known = new LRUCache<string, { rev: string; at: number; checks: readonly Check[] }>({ max: 50_000, maxSize: 200_000 })

  return {
    known: (did, pull, head) => known.get(`${did} ${pull} ${head}`),
    async read(did, rev, pull, head) {
      const start = `${pullCheckPrefix(pull)}${head}:`
      const checks: Check[] = []
      for (let cursor = start, read = 0; read < MOST; ) {
        const page = await reader.listRecords(did, 'dev.knotless.check', { reverse: true, cursor, limit: PAGE })
        const own = page.records.filter(record => record.rkey.startsWith(start))
        for (const record of own) {
          const stored = readUsable(record, usable => (usable.kind === 'check' ? usable.value : undefined), now())
          if (stored !== undefined && stored.value.pull === pull && stored.value.commit === head) checks.push(stored)
        }
        read += page.records.length
        if (own.length < page.records.length || page.cursor === undefined || page.cursor === cursor || own.length === 0) break
        cursor = page.cursor
      }
      known.set(`${did} ${pull} ${head}`, { rev, at: now(), checks }, { size: 1 + checks.length })
      return checks
    },
  }
}
