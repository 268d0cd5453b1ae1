import { LRUCache } from 'lru-cache'
import type { Did, Nsid } from '../../atproto/ids.ts'
import { parseRecordKey } from '../../atproto/ids.ts'
import type { Reader, ReadRecord } from '../../atproto/reader.ts'
import { gather } from '../../indexer/sources/gather.ts'
import { readUsable } from '../../indexer/sources/read-about.ts'
import type { Usable } from '../../indexer/validate/usable.ts'
import type { Stored } from '../../queue/facts.ts'
import type { FreshRead } from '../../queue/overlay.ts'

/** Records about a repository that are enough of one account, and records read for it at most (NOT-1). */
const ENOUGH = 25
const MOST = 500
/** Records remembered of one account, and how far down its list single ones are looked for. */
const DEEPEST = 3_000
/** So many single records are read one by one; more are looked for in the list. */
const SINGLE = 4
const PAGE = 100
const AT_ONCE = 12

export interface About {
  /** The repository's addresses. */
  addresses: ReadonlySet<string>
  /** The key of the oldest queued entry: nothing older decides anything. */
  oldest?: string | undefined
  /** Read on, enough or not, until keys are older than this one. */
  until?: string | undefined
}

/** One collection of accounts, as their own servers have it, remembered while their revisions stay (NOT-6). Everything rejects with an UpstreamError. */
export interface Collection<T> {
  /** The newest records about a repository; `rev` is the account's, looked at before. */
  about(did: Did, rev: string, about: About): Promise<FreshRead<T>>
  /** These records, by key; null for one that is not there or counts for nothing. */
  some(did: Did, rev: string, keys: readonly string[]): Promise<ReadonlyMap<string, Stored<T> | null>>
  /** A record as it was read last, at whatever revision. */
  seen(did: Did, key: string): Stored<T> | undefined
  /** All of those about a repository. */
  allSeen(did: Did, about: About): Stored<T>[]
}

interface Account<T> {
  rev: string
  /** The list as far as it was read at this revision, newest key first. */
  rows: string[]
  cursor: string | undefined
  whole: boolean
  /** Single records that were read at this revision. */
  single: Map<string, Stored<T> | null>
  /** Everything usable that was read and not found deleted since, by key. */
  seen: Map<string, Stored<T>>
}

export function createCollection<T extends { repo?: string }>(ctx: {
  reader: Reader
  now: () => number
  collection: Nsid
  pick: (record: Usable) => T | undefined
}): Collection<T> {
  const { reader, now, collection, pick } = ctx
  const accounts = new LRUCache<Did, Account<T>>({ max: 20_000 })
  const turns = new Map<Did, Promise<unknown>>()

  /** One at a time for each account: a list is read once for all repositories. */
  function inTurn<R>(did: Did, work: () => Promise<R>): Promise<R> {
    const turn = (turns.get(did) ?? Promise.resolve()).then(work, work)
    turns.set(did, turn)
    const over = (): void => {
      if (turns.get(did) === turn) turns.delete(did)
    }
    turn.then(over, over)
    return turn
  }

  function at(did: Did, rev: string): Account<T> {
    const known = accounts.get(did)
    if (known?.rev === rev) return known
    const account: Account<T> = { rev, rows: [], cursor: undefined, whole: false, single: new Map(), seen: known?.seen ?? new Map() }
    accounts.set(did, account)
    return account
  }

  /** A version that was read before is not held against its lexicon again. */
  function take(account: Account<T>, read: ReadRecord): Stored<T> | undefined {
    const known = account.seen.get(read.rkey)
    const stored = known?.cid === read.cid ? known : readUsable(read, pick, now())
    if (stored === undefined) account.seen.delete(read.rkey)
    else account.seen.set(read.rkey, stored)
    return stored
  }

  async function nextPage(did: Did, account: Account<T>): Promise<void> {
    const { cursor } = account
    const page = await reader.listRecords(did, collection, { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) })
    const before = account.rows.at(-1)
    for (const read of page.records) {
      account.rows.push(read.rkey)
      take(account, read)
    }
    account.cursor = page.cursor
    account.whole = page.cursor === undefined || page.cursor === cursor || page.records.length === 0
    forget(account, before)
  }

  /** What the list lacks where it was read was deleted. */
  function forget(account: Account<T>, before: string | undefined): void {
    const from = account.whole ? '' : (account.rows.at(-1) ?? '')
    const listed = new Set(account.rows)
    for (const key of account.seen.keys()) {
      if (key >= from && (before === undefined || key < before) && !listed.has(key)) account.seen.delete(key)
    }
    for (const key of account.seen.keys()) {
      if (account.seen.size <= DEEPEST) break
      if (!listed.has(key)) account.seen.delete(key)
    }
  }

  function recordsAbout(account: Account<T>, { addresses }: About): Stored<T>[] {
    return account.rows.flatMap(key => {
      const stored = account.seen.get(key)
      return stored?.value.repo !== undefined && addresses.has(stored.value.repo) ? [stored] : []
    })
  }

  return {
    about: (did, rev, about) =>
      inTurn(did, async () => {
        const account = at(did, rev)
        for (;;) {
          const records = recordsAbout(account, about)
          const last = account.rows.at(-1)
          if (account.whole) return { did, records }
          const isPast = (key: string | undefined) => last !== undefined && key !== undefined && last < key
          const isEnough = records.length >= ENOUGH || isPast(about.oldest)
          const isDeep = about.until === undefined || isPast(about.until)
          if ((isEnough && isDeep) || account.rows.length >= MOST) return { did, records, from: last }
          await nextPage(did, account)
        }
      }),
    some: (did, rev, keys) =>
      inTurn(did, async () => {
        const account = at(did, rev)
        const covered = (key: string) => account.whole || (account.rows.length > 0 && key >= (account.rows.at(-1) ?? ''))
        const isKnown = (key: string) => covered(key) || account.single.has(key)
        for (;;) {
          const wanted = keys.filter(key => !isKnown(key))
          if (wanted.length <= SINGLE || account.rows.length >= DEEPEST || account.whole) break
          await nextPage(did, account)
        }
        const missing = keys.filter(key => !isKnown(key)).flatMap(key => parseRecordKey(key) ?? [])
        await gather(missing, AT_ONCE, async key => {
          const read = await reader.getRecord(did, collection, key)
          const stored = read && take(account, read)
          if (stored === undefined) account.seen.delete(key)
          account.single.set(key, stored ?? null)
        })
        const listed = new Set(account.rows)
        return new Map(
          keys.map(key => [key, covered(key) ? (listed.has(key) && account.seen.get(key)) || null : (account.single.get(key) ?? null)]),
        )
      }),
    seen: (did, key) => accounts.get(did)?.seen.get(key),
    allSeen(did, { addresses }) {
      const all = [...(accounts.get(did)?.seen.values() ?? [])]
      return all.filter(({ value }) => value.repo !== undefined && addresses.has(value.repo))
    },
  }
}
