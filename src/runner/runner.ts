/** A runner: its parts put together, started and stopped. */
import { writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AtUri } from '../atproto/ids.ts'
import type { RunnerConfig } from './config.ts'
import { listen } from './listen.ts'
import { createRunnerMetrics } from './metrics.ts'
import { openRunner } from './open.ts'
import { createDoor, type RepositoryDoor } from './pass/repository.ts'
import { createReporter } from './report.ts'
import type { Found } from './start.ts'
import { createTurns } from './turns.ts'
import { words } from './words.ts'

export interface Runner {
  /** Sweeps what a crash left, listens and makes the first passes. Rejects when the container engine or the address to listen at cannot be had. */
  start(): Promise<void>
  /** Settled when every repository was gone through once, and what that began has ended (`--once`). False when a pass failed. */
  finish(): Promise<boolean>
  /** As MOV-5 says: what was not begun is dropped, what is going is waited for, and a batch that it completes lands. */
  stop(): Promise<void>
  /** Ends everything now. */
  kill(): Promise<void>
}

/** Passes over different repositories that are made at once. */
const PASSES_AT_ONCE = 4
/** A repository that was not gone through for so long past its sweep makes the runner not ready, in milliseconds. */
const LATE_MS = 120_000

/** Puts a runner together. The fault is one line for whoever started it. */
export async function createRunner(
  config: RunnerConfig,
  found: Found,
): Promise<{ ok: true; runner: Runner } | { ok: false; fault: string }> {
  const doors = new Map<AtUri, RepositoryDoor>()
  const ring = (repo: string, why: string) => doorOf(repo)?.ring(why)
  const opened = await openRunner(config, found, { ring, write: line => console.log(line) })
  if (!opened.ok) return opened
  const { ctx, live, made, close: closeAll } = opened
  const { settings, log, now } = ctx
  const { parts, bells, slots, executor } = made
  const metrics = createRunnerMetrics(() => ({ busy: settings.jobs - slots.free, waiting: slots.waiting }))
  const reporter = createReporter(ctx, live)
  const turn = createTurns(PASSES_AT_ONCE)
  const firsts = Promise.withResolvers<void>()
  const passed = new Set<AtUri>()

  /** By the address that was asked for, or by the one that governs now (HON-4). */
  function doorOf(repo: string): RepositoryDoor | undefined {
    return [...doors.values()].find(door => door.repo === repo || door.last?.done.ground.repo === repo)
  }

  for (const repo of settings.repos) {
    const door: RepositoryDoor = createDoor({
      repo,
      parts,
      turn,
      onPass({ tookMs, done, failed }) {
        metrics.passes.inc({ outcome: failed === undefined ? 'made' : 'failed' })
        metrics.passSeconds.observe(tookMs / 1000)
        for (const action of done?.did ?? []) metrics.actions.inc({ action })
        if (done !== undefined) bells.watch(repo, made.reads.accountsOf(done.ground))
        if (!settings.dryRun) void reporter.passed(door)
        passed.add(repo)
        if (passed.size === settings.repos.length) firsts.resolve()
      },
    })
    doors.set(repo, door)
  }
  if (settings.repos.length === 0) firsts.resolve()
  const all = (why: string) => {
    for (const door of doors.values()) door.ring(why)
  }
  const quiet = () => Promise.all([...doors.values()].map(door => door.quiet()))
  let server: Server | undefined

  function health(): string[] {
    return [...doors.values()].flatMap(({ repo, last, trouble }) => {
      const late = last === undefined || now() - last.at > settings.sweepMs + LATE_MS
      return late ? [`${repo}: ${trouble ?? 'not gone through yet'}`] : []
    })
  }

  /** Passes until nothing is going any more: the end of a run may land a batch. */
  async function settle(): Promise<void> {
    await parts.runs.idle()
    all('stopping')
    await quiet()
    await parts.runs.idle()
  }

  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= closeOnce())

  async function closeOnce(): Promise<void> {
    for (const door of doors.values()) door.close()
    await bells.stop()
    await reporter.stop()
    await new Promise<void>(resolve => (server === undefined ? resolve() : server.close(() => resolve())))
    server?.closeAllConnections()
    await closeAll()
  }

  const runner: Runner = {
    async start() {
      if (!settings.dryRun) await executor.sweep()
      const at = config['--listen']
      if (at !== undefined) server = await listen(at, metrics.registry, health)
      if (!executor.isolated) log.warn(words.notIsolated)
      log.info(words.runs(settings.repos.length), { account: ctx.did, executor: executor.kind, git: ctx.git })
      if (!settings.once && !settings.dryRun) bells.start(ring)
      all('started')
      const ready = config['--ready-file']
      if (ready !== undefined) {
        const told = firsts.promise.then(() => writeFile(ready, `${JSON.stringify({ did: ctx.did, repos: settings.repos })}\n`))
        told.catch((error: unknown) => log.error(words.notReady, { why: error }))
      }
    },
    async finish() {
      await firsts.promise
      for (const door of doors.values()) door.stopping()
      await quiet()
      await settle()
      return [...doors.values()].every(door => door.trouble === undefined)
    },
    async stop() {
      if (!settings.once) log.info(words.stopping)
      await bells.stop()
      for (const door of doors.values()) door.stopping()
      await parts.runs.stop()
      await settle()
      if (!settings.dryRun) await Promise.all([...doors.values()].map(door => parts.book.release(door.last?.done.ground.repo ?? door.repo)))
      await close()
    },
    async kill() {
      for (const door of doors.values()) door.close()
      await parts.runs.kill()
      await close()
    },
  }
  return { ok: true, runner }
}
