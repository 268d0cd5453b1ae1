import { LRUCache } from 'lru-cache'
import { maintainMirror } from '../../git/maintain.ts'
import type { Change } from '../ingest/writer.ts'
import type { MirrorContext } from './context.ts'
import { createFetches } from './fetches.ts'
import { lookInto } from './pass.ts'

export interface MirrorWorker {
  /** Something about these repositories changed: they are looked at again. */
  changed(change: Change): void
  /** Somebody looks at a pull that landed long ago: whether its commit is on the branch is to be known. */
  lookAt(pull: string, repo: string): void
  /** Settles when nothing runs and nothing waits but for its time. */
  idle(): Promise<void>
  status(): { running: number; waiting: number }
  stop(): Promise<void>
}

interface Task {
  /** A change came in while it ran. */
  again: boolean
  also: Set<string>
}

const CONCURRENT = 2
const PASS_MS = 30 * 60_000
/** After how long a merge that git refused is tried again. */
const REFUSED_MS = 10 * 60_000
const UPKEEP_MS = 3_600_000

/**
 * Keeps mirrors and what they tell up to date in the background: one look per repository at a time, a few at once, the newest state wins, and
 * downloads beside them.
 */
export function startMirrors(ctx: MirrorContext, failed: (error: unknown) => void): MirrorWorker {
  const waiting = new Map<string, Set<string>>()
  const running = new Map<string, { task: Task; done: Promise<void> }>()
  const timers = new Map<string, NodeJS.Timeout>()
  const upkept = new Map<string, number>()
  const kept = new LRUCache<string, true>({ max: 5_000, ttl: REFUSED_MS })
  const refused = { has: (merge: string) => kept.has(merge), add: (merge: string) => void kept.set(merge, true) }
  const stopping = new AbortController()
  const fetches = createFetches(ctx, repo => fetched(repo), failed)
  const idlers: (() => void)[] = []

  function want(repo: string, also: readonly string[] = []): void {
    if (stopping.signal.aborted) return
    const active = running.get(repo)
    if (active !== undefined) {
      active.task.again = true
      for (const pull of also) active.task.also.add(pull)
      return
    }
    const known = waiting.get(repo) ?? new Set()
    for (const pull of also) known.add(pull)
    waiting.set(repo, known)
    fill()
  }

  function fill(): void {
    for (const [repo, also] of waiting) {
      if (running.size >= CONCURRENT || stopping.signal.aborted) return
      waiting.delete(repo)
      const task: Task = { again: false, also: new Set() }
      const done = run(repo, also, task)
        .catch(failed)
        .finally(() => end(repo, task))
      running.set(repo, { task, done })
    }
    if (isIdle()) for (const resume of idlers.splice(0)) resume()
  }

  function isIdle(): boolean {
    return running.size === 0 && waiting.size === 0 && fetches.size() === 0
  }

  function fetched(repo: string): void {
    want(repo)
    fill()
  }

  function end(repo: string, task: Task): void {
    running.delete(repo)
    if (task.again) waiting.set(repo, task.also)
    fill()
  }

  async function run(repo: string, also: Iterable<string>, task: Task): Promise<void> {
    clearTimeout(timers.get(repo))
    timers.delete(repo)
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(PASS_MS)])
    const { retryAt, behind } = await lookInto(ctx, repo, { signal, outdated: () => task.again, also, refused })
    if (stopping.signal.aborted) return
    for (const record of behind) fetches.want(record, repo)
    if (retryAt !== undefined) {
      const timer = setTimeout(() => want(repo), Math.min(2 ** 31 - 1, Math.max(100, retryAt - ctx.now())))
      timer.unref()
      timers.set(repo, timer)
    }
    if (!task.again) await keepUp(repo)
  }

  /** Now and then a mirror's files are put in order; the first look at one does nothing of the kind. */
  async function keepUp(repo: string): Promise<void> {
    const last = upkept.get(repo)
    if (last === undefined || ctx.now() - last < UPKEEP_MS) {
      if (last === undefined) upkept.set(repo, ctx.now())
      return
    }
    upkept.set(repo, ctx.now())
    const done = await maintainMirror(await ctx.mirrors.of(repo), ctx.now(), stopping.signal)
    if (!done.ok && !stopping.signal.aborted) failed(new Error(`a mirror could not be kept up: ${done.code}`))
  }

  return {
    changed: change => want(change.repo),
    lookAt: (pull, repo) => want(repo, [pull]),
    idle: () => (isIdle() ? Promise.resolve() : new Promise(resolve => idlers.push(resolve))),
    status: () => ({ running: running.size, waiting: waiting.size + fetches.size() }),
    async stop() {
      stopping.abort()
      waiting.clear()
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.allSettled([...[...running.values()].map(active => active.done), fetches.stop()])
      for (const resume of idlers.splice(0)) resume()
    },
  }
}
