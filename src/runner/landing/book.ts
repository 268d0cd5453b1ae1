/** The lander's own record, by compare-and-swap: the lease that it lands by, and what it is about to land (WHO-8, LND-8). */
import { asLex } from '../../atproto/as-lex.ts'
import type { AtUri } from '../../atproto/ids.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import type { LanderRecord, Stored } from '../../queue/facts.ts'
import { millis } from '../../queue/runs.ts'
import type { RunnerContext } from '../context.ts'
import type { LanderBook } from '../types.ts'
import {
  type FoundLander,
  type Intent,
  landerCollection,
  landerKey,
  readLander,
  runningLander,
  stoppedLander,
  storedLander,
  withIntent,
} from './lander-record.ts'
import { words } from './words.ts'

export type BookContext = Pick<RunnerContext, 'did' | 'reader' | 'writer' | 'now' | 'settings' | 'version' | 'git' | 'instance' | 'log'>

/** A lease lasts so long at least, in milliseconds, and so much longer for each repository: a server counts what an account writes in a day. */
const LEASE_MS = 3 * 60_000
const LEASE_MS_EACH = 35_000
/** How often a lost swap is read and tried again. */
const TRIES = 4

/** The book, as landing uses it. */
export interface Book extends LanderBook {
  /** How long a lease lasts, in milliseconds. It is renewed once half of it is gone: by each `claim`, and between claims by itself. */
  readonly leaseMs: number
  /** The record, while this process holds the lease for so many milliseconds more. */
  held(repo: AtUri, forMs: number): Stored<LanderRecord> | undefined
  /** Writes an intent into the record, or takes the one out that it has. False: the lease is another's, or the account does not take it now. */
  intend(repo: AtUri, intent: Intent | undefined): Promise<{ ok: true } | { ok: false; lost: boolean; said: string }>
  /** Runs `work` while nothing else writes the record here. `wrote` tells what it wrote. */
  alone<T>(repo: AtUri, work: (wrote: (value: LanderRecord, cid: string) => void) => Promise<T>): Promise<T>
  /** How often the lease was taken and not only renewed: another one may have landed before. */
  taken(repo: AtUri): number
  /** Ends all renewing. */
  close(): void
}

interface Page {
  record?: Stored<LanderRecord> | undefined
  taken: number
  startedAt: number
  claimedAt: number
  last: Promise<unknown>
}

/**
 * Opens the book. `every` calls something again and again until what it gives is called: the timer by which a lease is renewed while a pass takes
 * long. A repository that no pass claimed for three leases is left.
 */
export function createLanderBook(ctx: BookContext, options: { every?: (ms: number, work: () => void) => () => void } = {}): Book {
  const { did, now } = ctx
  const leaseMs = Math.max(LEASE_MS, ctx.settings.repos.length * LEASE_MS_EACH)
  const pages = new Map<AtUri, Page>()
  const stopTimer = (options.every ?? everyUnheld)(leaseMs / 6, () => {
    for (const [repo, page] of pages) if (page.record !== undefined) void renew(repo, page)
  })

  function pageOf(repo: AtUri): Page {
    const page = pages.get(repo) ?? { taken: 0, startedAt: now(), claimedAt: 0, last: Promise.resolve() }
    pages.set(repo, page)
    return page
  }

  function alone<T>(repo: AtUri, work: (wrote: (value: LanderRecord, cid: string) => void) => Promise<T>): Promise<T> {
    const page = pageOf(repo)
    const mine = page.last.then(() => work((value, cid) => wrote(repo, page, value, cid)))
    page.last = mine.catch(() => undefined)
    return mine
  }

  function wrote(repo: AtUri, page: Page, value: LanderRecord, cid: string): Stored<LanderRecord> {
    const record = storedLander(did, repo, { cid, value, at: now() })
    // Whoever else has the lease keeps it.
    page.record = value.lease?.instance === ctx.instance ? record : undefined
    return record
  }

  async function put(repo: AtUri, value: LanderRecord, swapRecord: string | null) {
    return await ctx.writer.putRecord({ collection: landerCollection, rkey: landerKey(repo), record: asLex(value), swapRecord })
  }

  async function renew(repo: AtUri, page: Page): Promise<void> {
    if (now() - page.claimedAt > 3 * leaseMs || left(page.record, now()) > leaseMs / 2) return
    await alone(repo, () => take(repo, page)).catch(() => undefined)
  }

  type Taken = Awaited<ReturnType<LanderBook['claim']>>

  /** Takes or renews the lease, unless more than half of it is left. */
  async function take(repo: AtUri, page: Page): Promise<Taken> {
    const { record: known } = page
    if (known !== undefined && left(known, now()) > leaseMs / 2) return { ok: true, record: known }
    let said: string = words.swapBusy
    for (let tried = 0; tried < TRIES; tried++) {
      const found: FoundLander =
        tried === 0 && known !== undefined ? { cid: known.cid, record: known } : await readLander(ctx.reader, did, repo, now())
      const other = otherUntil(found.record?.value, ctx.instance)
      if (other !== undefined && other > now()) {
        if (known !== undefined) ctx.log.warn(words.leaseLost, { repo })
        page.record = undefined
        return { ok: false, until: other }
      }
      const value = runningLander(ctx, repo, { startedAt: page.startedAt, until: now() + leaseMs, before: found.record?.value })
      const done = await put(repo, value, found.cid)
      if (done.ok) {
        if (known === undefined) {
          page.taken += 1
          ctx.log.info(words.leaseTaken, { repo })
        }
        return { ok: true, record: wrote(repo, page, value, done.cid) }
      }
      said = done.message
      if (done.code !== 'swap-lost') break
    }
    // A lease that stands goes on, however the renewal went.
    return known !== undefined && left(known, now()) > 0 ? { ok: true, record: known } : { ok: false, said }
  }

  /** Says on the record that it stopped; a record that is another one by now is read, and left where the lease is another's. Gives why not. */
  async function stop(repo: AtUri, known: Stored<LanderRecord>): Promise<string | undefined> {
    const done = await put(repo, stoppedLander(known.value, now()), known.cid)
    if (done.ok || done.code !== 'swap-lost') return done.ok ? undefined : done.message
    const found = await readLander(ctx.reader, did, repo, now()).catch(() => undefined)
    if (found?.record === undefined || found.record.value.lease?.instance !== ctx.instance) return done.message
    const again = await put(repo, stoppedLander(found.record.value, now()), found.cid)
    return again.ok ? undefined : again.message
  }

  return {
    leaseMs,
    alone,
    async claim({ repo }) {
      const page = pageOf(repo)
      page.claimedAt = now()
      try {
        return await alone(repo, () => take(repo, page))
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error
        const { record } = page
        return record !== undefined && left(record, now()) > 0 ? { ok: true, record } : { ok: false, said: error.message }
      }
    },
    async release(repo) {
      const page = pages.get(repo)
      if (page === undefined) return
      await alone(repo, async () => {
        const { record } = page
        page.record = undefined
        if (record === undefined) return
        const said = await stop(repo, record)
        if (said === undefined) ctx.log.info(words.released, { repo })
        else ctx.log.warn(words.notReleased, { repo, said })
      })
    },
    held(repo, forMs) {
      const record = pages.get(repo)?.record
      return record !== undefined && left(record, now()) >= forMs ? record : undefined
    },
    intend(repo, intent) {
      const page = pageOf(repo)
      return alone(repo, async () => {
        const { record } = page
        if (record === undefined || left(record, now()) <= 0) return { ok: false, lost: true, said: words.noLease }
        if (record.value.intent === intent) return { ok: true }
        const value = withIntent(record.value, intent)
        const done = await put(repo, value, record.cid)
        if (!done.ok) {
          // Whatever is there now is read before anything else is written.
          if (done.code === 'swap-lost' || !done.settled) page.record = undefined
          return { ok: false, lost: done.code === 'swap-lost', said: done.message }
        }
        wrote(repo, page, value, done.cid)
        return { ok: true }
      })
    },
    taken: repo => pages.get(repo)?.taken ?? 0,
    close: stopTimer,
  }
}

/** What is left of a lease, in milliseconds. */
function left(record: Stored<LanderRecord> | undefined, now: number): number {
  return (millis(record?.value.lease?.until) ?? 0) - now
}

/** Until when another process has the lease; undefined when none has. */
function otherUntil(value: LanderRecord | undefined, instance: string): number | undefined {
  if (value?.lease === undefined || value.stoppedAt !== undefined || value.lease.instance === instance) return undefined
  return millis(value.lease.until)
}

function everyUnheld(ms: number, work: () => void): () => void {
  const timer = setInterval(work, ms)
  timer.unref()
  return () => clearInterval(timer)
}
