import { UpstreamError } from '../../atproto/upstream-error.ts'
import type { Mirror } from '../../git/mirror.ts'
import { sameRefs, writtenRefs } from '../../git/packed-refs.ts'
import { checkRefsRecord, type RefsRecord } from '../../git/refs-record.ts'
import type { Context } from '../context.ts'
import type { GitRepository } from './repository.ts'
import { words } from './words.ts'

/** What reading a repository's git state at its source came to. `absent`: nothing was pushed yet, or it was taken away. */
export type Fresh =
  | { kind: 'fresh'; mirror: Mirror; record: RefsRecord }
  | { kind: 'absent'; mirror: Mirror }
  /** `slow`: it goes on beside. */
  | { kind: 'unread'; mirror: Mirror; says: string; slow: boolean }

/** Mirrors as their accounts have them now, and not as the index heard last. */
export interface FreshMirrors {
  /**
   * Reads the refs record and brings the mirror to it. Those who ask at once share a read, but none gets one that began before they asked, unless it
   * ended less than `maxAge` milliseconds ago. At most 20 s are waited for; what takes longer goes on beside.
   */
  bring(repository: GitRepository, options?: { maxAge?: number }): Promise<Fresh>
  /** Calls off what is under way and waits for its end. */
  stop(): Promise<void>
}

const READ_MS = 6_000
const WAIT_MS = 20_000
/** Repositories whose last reading is remembered. */
const REMEMBERED = 1_000

interface Running {
  now: Promise<Fresh>
  next?: Promise<Fresh>
}

export function createFreshMirrors(ctx: Pick<Context, 'reader' | 'indexer' | 'mirrors' | 'now'>): FreshMirrors {
  const running = new Map<string, Running>()
  const last = new Map<string, { at: number; fresh: Fresh }>()
  const stopping = new AbortController()

  async function read(repository: GitRepository): Promise<Fresh> {
    const { uri } = repository
    const mirror = await ctx.mirrors.of(uri)
    const unread = (says: string): Fresh => ({ kind: 'unread', mirror, says, slow: false })
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(READ_MS)])
    try {
      const found = await ctx.reader.getRecord(repository.owner, 'dev.knotless.refs', repository.name, { signal })
      if (found === undefined) return { kind: 'absent', mirror }
      const checked = checkRefsRecord(found.value, uri)
      if (!checked.ok) return unread(checked.message)
      const { record } = checked
      // As a rule the mirror stands there already: pushes through here leave it so, and the index follows all others.
      if (sameRefs(await writtenRefs(mirror), record.refs)) return { kind: 'fresh', mirror, record }
      const done = await ctx.indexer.ensureMirror(uri, found.value, stopping.signal)
      return done.ok ? { kind: 'fresh', mirror, record } : unread(done.message)
    } catch (error) {
      if (error instanceof UpstreamError || signal.aborted) return unread(words.noAnswer())
      throw error
    }
  }

  function start(repository: GitRepository): Promise<Fresh> {
    const { uri } = repository
    const reading = read(repository)
      .then(fresh => {
        last.delete(uri)
        last.set(uri, { at: ctx.now(), fresh })
        for (const oldest of last.keys()) if (last.size > REMEMBERED) last.delete(oldest)
        return fresh
      })
      .finally(() => {
        if (running.get(uri)?.now === reading) running.delete(uri)
      })
    running.set(uri, { now: reading })
    reading.catch(() => undefined)
    return reading
  }

  function ask(repository: GitRepository): Promise<Fresh> {
    const active = running.get(repository.uri)
    if (active === undefined) return start(repository)
    active.next ??= active.now.then(
      () => start(repository),
      () => start(repository),
    )
    return active.next
  }

  async function waited(repository: GitRepository, asked: Promise<Fresh>): Promise<Fresh> {
    const late = Promise.withResolvers<undefined>()
    const timer = setTimeout(late.resolve, WAIT_MS, undefined)
    const fresh = await Promise.race([asked, late.promise]).finally(() => clearTimeout(timer))
    return fresh ?? { kind: 'unread', mirror: await ctx.mirrors.of(repository.uri), says: words.stillFetching(), slow: true }
  }

  return {
    async bring(repository, { maxAge = 0 } = {}) {
      const known = last.get(repository.uri)
      if (known?.fresh.kind === 'fresh' && ctx.now() - known.at < maxAge) return known.fresh
      return await waited(repository, ask(repository))
    },
    async stop() {
      stopping.abort()
      await Promise.allSettled([...running.values()].flatMap(({ now, next }) => [now, ...(next === undefined ? [] : [next])]))
    },
  }
}

/** Whether a mirror that could not be brought up to date has something to serve all the same; otherwise what is to be said. */
export async function servable(fresh: Fresh): Promise<{ ok: true; stale: boolean } | { ok: false; status: 404 | 503; says: string }> {
  if (fresh.kind === 'fresh') return { ok: true, stale: false }
  const isEmpty = (await writtenRefs(fresh.mirror)).size === 0
  if (fresh.kind === 'absent') return isEmpty ? { ok: true, stale: false } : { ok: false, status: 404, says: words.stateGone() }
  if (!isEmpty) return { ok: true, stale: true }
  return { ok: false, status: 503, says: fresh.slow ? fresh.says : words.unread(fresh.says) }
}
