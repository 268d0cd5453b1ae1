/** What other runners have of a pre-flight when it gets its job (PRE-4). */
import { parseDid } from '../../atproto/ids.ts'
import { readUsable } from '../../indexer/sources/read-about.ts'
import type { CheckRecord } from '../../queue/facts.ts'
import { newerRun, runTime, type Run as StoredRun } from '../../queue/runs.ts'
import { pullCheckPrefix } from '../../workflows/check-keys.ts'
import type { RunnerContext } from '../context.ts'
import type { Subject } from '../types.ts'
import { checks, ofCheck } from './saver.ts'

/** The longest that reading another runner's account may take, and the longest that a run may go on past its time-out before it counts as lost. */
const bounds = { readMs: 5_000, graceMs: 3_600_000, page: 100 } as const

export interface Flight {
  repo: string
  subject: Subject & { of: 'pull' }
  workflow: string
}

/** Whether one of these runners runs the pre-flight at the same head and base, or has passed it. One that cannot be read has nothing. */
export async function takenByAnother(
  ctx: Pick<RunnerContext, 'reader' | 'now' | 'settings'>,
  others: readonly string[],
  flight: Flight,
): Promise<boolean> {
  const taken = await Promise.all(others.map(did => takenBy(ctx, did, flight)))
  return taken.includes(true)
}

async function takenBy(ctx: Pick<RunnerContext, 'reader' | 'now' | 'settings'>, runner: string, flight: Flight): Promise<boolean> {
  const did = parseDid(runner)
  if (did === undefined) return false
  const { subject } = flight
  const prefix = pullCheckPrefix(subject.pull, { tip: subject.head, base: subject.tip })
  try {
    const page = await ctx.reader.listRecords(did, checks, {
      limit: bounds.page,
      reverse: true,
      cursor: prefix,
      signal: AbortSignal.timeout(bounds.readMs),
    })
    const runs = page.records.flatMap((read): StoredRun[] => {
      const run = read.rkey.startsWith(prefix) ? readUsable(read, ofCheck, ctx.now()) : undefined
      return run !== undefined && isOf(flight, run.value) ? [run] : []
    })
    const [newest] = runs.sort(newerRun)
    if (newest === undefined) return false
    if (newest.value.status === 'success') return true
    return newest.value.status === 'running' && ctx.now() - runTime(newest) < ctx.settings.timeoutMs + bounds.graceMs
  } catch {
    return false
  }
}

/** CHK-8, CHK-9: the same pull at the same head and base, by the same workflow. */
function isOf({ repo, subject, workflow }: Flight, check: CheckRecord): boolean {
  const isHere = check.repo === repo && check.pull === subject.pull && check.generation === subject.generation
  return isHere && check.workflow === workflow && check.commit === subject.head && check.baseCommit === subject.tip
}
