import type { AtUri } from '../atproto/ids.ts'
import type { RunnerContext } from './context.ts'
import type { LiveLogs } from './live-logs.ts'
import type { RepositoryDoor } from './pass/repository.ts'

/** How often pieces of live logs are sent, and pieces in one report. */
const LIVE_MS = 1_000
const PIECES = 50

export interface Reporter {
  /** Says that a pass was made, when the next is due and what it waits for; a server that does not take it is told by the next. */
  passed(door: RepositoryDoor): Promise<void>
  stop(): Promise<void>
}

/** Tells the server of passes, and sends it what runs print while they go on. */
export function createReporter(ctx: RunnerContext, live: LiveLogs): Reporter {
  const lastOf = new Map<string, RepositoryDoor>()
  let sending: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    for (const repo of live.repos) {
      const door = lastOf.get(repo)
      if (door !== undefined) void send(door)
    }
  }, LIVE_MS)
  timer.unref()

  function send(door: RepositoryDoor): Promise<void> {
    sending = sending.then(() => report(door))
    return sending
  }

  async function report(door: RepositoryDoor): Promise<void> {
    const { last } = door
    if (last === undefined) return
    const repo: AtUri = last.done.ground.repo
    // Even where passes fail and it lies in the past: the server takes from it how far apart passes are.
    const nextBy = last.at + ctx.settings.sweepMs
    const pass = { repo, passedAt: last.at, nextBy, waitsFor: last.done.waitsFor, logs: live.take(repo, PIECES) }
    const taken = await ctx.appview.report(pass).catch(() => false)
    if (!taken) ctx.log.info('the server did not take a report', { repo })
  }

  return {
    passed(door) {
      const repo = door.last?.done.ground.repo
      if (repo !== undefined) lastOf.set(repo, door)
      return send(door)
    },
    async stop() {
      clearInterval(timer)
      await sending
    },
  }
}
