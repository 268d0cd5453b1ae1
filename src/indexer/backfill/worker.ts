import { type Did, parseAtUri, parseDid } from '../../atproto/ids.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import { about, readAccount } from './account.ts'
import type { BackfillContext, JobEnd } from './context.ts'
import type { Job } from './jobs.ts'
import { readRelay, relayCollections } from './relay.ts'
import { readRepository } from './repository.ts'

export interface BackfillWorker {
  /** Something new is to be read. */
  kick(): void
  /** An account's handle or server may have changed: they are looked up again. */
  identity(did: string): void
  /** The stream has a gap: everything is read again. */
  gap(): void
  /** To be called every now and then: takes up what is to be renewed or was not resolved. */
  tick(unresolved: readonly string[]): void
  /** Settles when nothing runs and nothing waits but what failed and is tried again later. */
  idle(): Promise<void>
  status(): { pending: number; running: number }
  stop(): Promise<void>
}

const CONCURRENT = 6
const PER_HOST = 2
const JOB_MS = 10 * 60_000
const BUSY_MS = 100
const FIRST_RETRY_MS = 2_000
const FORGET_MS = 30_000
const LAST_RETRY_MS = 6 * 3_600_000

/** Reads from people's servers what the stream does not bring: a few at a time, each server within its budget, again later what failed. */
export function startBackfill(ctx: BackfillContext, failed: (error: unknown) => void): BackfillWorker {
  const { jobs, now } = ctx
  const running = new Map<string, Promise<void>>()
  const perHost = new Map<string, number>()
  const lookups = new Set<string>()
  const again = new Set<string>()
  const stopping = new AbortController()
  const idlers: (() => void)[] = []
  let timer: NodeJS.Timeout | undefined

  if (ctx.relay !== undefined) for (const collection of relayCollections.keys()) jobs.addRelay(collection)

  function fill(): void {
    if (stopping.signal.aborted) return
    for (const did of lookups) {
      if (running.size >= CONCURRENT) return
      if (running.has(did)) continue
      lookups.delete(did)
      start(did, () => lookUp(did))
    }
    for (const job of jobs.due(now(), CONCURRENT + running.size)) {
      if (running.size >= CONCURRENT) return
      if (!running.has(job.subject)) start(job.subject, () => run(job))
    }
    if (running.size > 0) return
    if (isIdle()) for (const resume of idlers.splice(0)) resume()
    wakeLater()
  }

  function start(subject: string, work: () => Promise<void>): void {
    const task = work()
      .catch(failed)
      .finally(() => {
        running.delete(subject)
        fill()
      })
    running.set(subject, task)
  }

  function wakeLater(): void {
    clearTimeout(timer)
    const next = jobs.nextAt()
    if (next === undefined || stopping.signal.aborted) return
    timer = setTimeout(fill, Math.min(60_000, Math.max(20, next - now())))
    timer.unref()
  }

  async function run(job: Job): Promise<void> {
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(JOB_MS)])
    try {
      const end = await perform(jobs.begin(job), signal)
      if (end === 'later') jobs.later(job.subject, now() + BUSY_MS, job.tries, null)
      if (end === 'absent') jobs.absent(job.subject, now() + ctx.bounds.absentMs)
    } catch (error) {
      if (stopping.signal.aborted) return
      putOff(job, error)
    }
  }

  function putOff(job: Job, error: unknown): void {
    const known = error instanceof UpstreamError
    if (!known && !(error instanceof DOMException)) failed(error)
    const asked = known && error.retryAfter !== undefined ? error.retryAfter * 1_000 : 0
    if (known && asked > 0) ctx.budget.rest(error.host, asked)
    const delay = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(20, job.tries))
    jobs.later(job.subject, now() + Math.max(asked, delay), job.tries + 1, known ? `${error.reason}: ${error.message}` : 'failed')
  }

  async function perform(job: Job, signal: AbortSignal): Promise<JobEnd> {
    if (job.kind === 'relay') return await readRelay(ctx, job, signal)
    const did = job.kind === 'account' ? parseDid(job.subject) : parseAtUri(job.subject)?.did
    if (did === undefined) return 'absent'
    const host = await hostOf(did)
    if (host === undefined) return 'absent'
    return await onHost(host, () =>
      job.kind === 'account' ? readAccount(ctx, job, did, host, signal) : readRepository(ctx, job, host, signal),
    )
  }

  /** The account's server; one that is nowhere is noted as gone. */
  async function hostOf(did: Did): Promise<string | undefined> {
    const askedUs = now() * 1_000
    const account = await ctx.identity.resolveDid(did)
    if (account?.handleUnread === true) lookAgain(did)
    if (account?.pds !== undefined) return new URL(account.pds).host
    await ctx.ingest.submit([{ kind: 'resolved', did, handle: account?.handle, status: 'deleted', askedUs }])
    return undefined
  }

  async function onHost(host: string, work: () => Promise<JobEnd>): Promise<JobEnd> {
    const busy = perHost.get(host) ?? 0
    if (busy >= PER_HOST) return 'later'
    perHost.set(host, busy + 1)
    try {
      return await work()
    } finally {
      const left = (perHost.get(host) ?? 1) - 1
      if (left > 0) perHost.set(host, left)
      else perHost.delete(host)
    }
  }

  async function lookUp(name: string): Promise<void> {
    const did = parseDid(name)
    if (did === undefined) return
    try {
      ctx.identity.forget(did)
      const account = await ctx.identity.resolveDid(did)
      await ctx.ingest.submit([{ kind: 'resolved', did, ...about(account), askedUs: now() * 1_000 }])
      if (account?.handleUnread === true) lookAgain(did)
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error
      lookAgain(did)
    }
  }

  /** Once more in a moment; later ticks take it up again, since the account stays unresolved. */
  function lookAgain(did: string): void {
    if (again.has(did)) return
    const timer = setTimeout(() => {
      lookups.add(did)
      fill()
      // The place is kept while it is looked at, so that what goes on failing is left to the ticks.
      setTimeout(() => again.delete(did), FORGET_MS).unref()
    }, FIRST_RETRY_MS)
    timer.unref()
    again.add(did)
  }

  fill()
  return {
    kick: fill,
    identity(did) {
      lookups.add(did)
      fill()
    },
    gap() {
      jobs.restart()
      fill()
    },
    tick(unresolved) {
      jobs.renew(now())
      for (const did of unresolved) lookups.add(did)
      fill()
    },
    idle() {
      fill()
      return isIdle() ? Promise.resolve() : new Promise(resolve => idlers.push(resolve))
    },
    status: () => ({ pending: jobs.pending(), running: running.size }),
    async stop() {
      stopping.abort()
      clearTimeout(timer)
      await Promise.allSettled(running.values())
      for (const resume of idlers.splice(0)) resume()
    },
  }

  function isIdle(): boolean {
    return running.size === 0 && lookups.size === 0 && !jobs.atHand(now()) && jobs.due(now(), 1).length === 0
  }
}
