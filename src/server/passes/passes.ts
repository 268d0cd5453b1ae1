import type { IndexDatabase } from '../../indexer/database.ts'
import type { LastSeen } from '../../queue/asking.ts'
import { NOT_SEEN_AFTER } from '../../queue/lander-life.ts'
import type { PassRow } from '../tables.ts'

/** A pass as a runner tells of it, by its own clock. Times in milliseconds since 1970. */
export interface Pass {
  /** The address that governs (HON-4). */
  repo: string
  did: string
  passedAt?: number | undefined
  nextBy?: number | undefined
  waitsFor: readonly string[]
}

/** When landers passed last, as they told (STA-4). It is kept over restarts. */
export interface Passes {
  note(pass: Pass): void
  /** By DID of those who told anything of this repository. */
  lastSeen(repo: string): ReadonlyMap<string, LastSeen>
  /** Tells when what pages say of a lander changes: what it waits for, that it is back, or that it is not seen any more; else now and then. */
  onChanged(listener: (repo: string) => void): () => void
  /** Forgets who told nothing for 30 days. */
  purge(): void
  stop(): void
}

const MINUTE = 60_000
/** A pass that says that the next is due later than this is taken as saying this. */
const LATEST_DUE = 24 * 60 * MINUTE
const FORGET_AFTER = 30 * 24 * 60 * MINUTE
const MOST_OF_REPOSITORY = 50
const MOST_SAYS = 2_000
/** After a start. */
const MOST_WATCHED = 10_000
/** So long after a lander is not seen any more, in milliseconds, it is said. */
const AFTER = 1_000
/** Between two announcements of a repository where only the time of the last pass has changed. */
const QUIET = MINUTE

export function createPasses({ database, now }: { database: IndexDatabase; now: () => number }): Passes {
  const { sqlite } = database
  const listeners = new Set<(repo: string) => void>()
  const announced = new Map<string, number>()
  const timers = new Map<string, NodeJS.Timeout>()

  function announce(repo: string): void {
    announced.delete(repo)
    announced.set(repo, now())
    if (announced.size > 10_000) for (const [oldest] of announced.entries().take(1)) announced.delete(oldest)
    for (const listener of listeners) listener(repo)
  }

  /** Pages that are open when a lander falls silent say so then. */
  function watch(key: string, repo: string, deadAt: number): void {
    clearTimeout(timers.get(key))
    const timer = setTimeout(
      () => {
        timers.delete(key)
        announce(repo)
      },
      Math.min(deadAt - now() + AFTER, LATEST_DUE + NOT_SEEN_AFTER),
    )
    timer.unref()
    timers.set(key, timer)
  }

  function rowsOf(repo: string): PassRow[] {
    return sqlite
      .prepare<[string, number], PassRow>('select * from lander_pass where repo = ? order by at desc limit ?')
      .all(repo, MOST_OF_REPOSITORY)
  }

  // Those who told before this server started again.
  const seen = sqlite
    .prepare<[number, number], PassRow>('select * from lander_pass where ifnull(due_at, at) > ? order by at desc limit ?')
    .all(now() - NOT_SEEN_AFTER - AFTER, MOST_WATCHED)
  for (const { repo, did, at, due_at } of seen) watch(`${repo} ${did}`, repo, (due_at ?? at) + NOT_SEEN_AFTER)

  return {
    note({ repo, did, passedAt, nextBy, waitsFor }) {
      const at = now()
      // By this server's clock: the runner's may be another, and only how far it is to the next pass is taken from it.
      const due = nextBy === undefined ? null : at + Math.min(Math.max(nextBy - (passedAt ?? at), 0), LATEST_DUE)
      const says = waitsFor.length === 0 ? null : waitsFor.join(' ').slice(0, MOST_SAYS)
      const before = rowsOf(repo).find(row => row.did === did)
      sqlite
        .prepare('insert or replace into lander_pass (repo, did, at, due_at, says) values (?, ?, ?, ?, ?)')
        .run(repo, did, at, due, says)
      watch(`${repo} ${did}`, repo, (due ?? at) + NOT_SEEN_AFTER)
      const wasSeen = before !== undefined && at <= (before.due_at ?? before.at) + NOT_SEEN_AFTER
      if (!wasSeen || before.says !== says || at - (announced.get(repo) ?? 0) >= QUIET) announce(repo)
    },
    lastSeen(repo) {
      return new Map(rowsOf(repo).map(row => [row.did, { at: row.at, dueAt: row.due_at ?? undefined, says: row.says ?? undefined }]))
    },
    onChanged(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    purge() {
      sqlite.prepare('delete from lander_pass where at < ?').run(now() - FORGET_AFTER)
    },
    stop() {
      for (const timer of timers.values()) clearTimeout(timer)
      timers.clear()
    },
  }
}
