/** Pruning of old batch checks (CHK-12): whole batches only, each in one call. */

import { parseRecordKey } from '../../atproto/ids.ts'
import type { CheckRecord, Stored } from '../../queue/facts.ts'
import { isGoing, millis } from '../../queue/runs.ts'
import { tidMillis } from '../../queue/tid.ts'
import type { RepositoryView } from '../../queue/view.ts'
import { parseCheckKey, queueCheckPrefix } from '../../workflows/check-keys.ts'
import type { RunnerContext } from '../context.ts'
import type { Ground } from '../types.ts'
import { readOwnChecks } from './own-checks.ts'
import { checks } from './saver.ts'

const day = 24 * 3_600_000
/** A batch's checks are kept this long in any case, and those that an ejection names so long from it. One round takes away so many batches at most. */
export const pruning = { keepMs: 7 * day, ejectionMs: 90 * day, everyMs: 3_600_000, read: 5_000, batches: 20, operations: 200 } as const

/** Checks of one batch of one account: a tip on a base. */
export interface OldBatch {
  tip: string
  base: string
  checks: readonly Stored<CheckRecord>[]
}

export interface PruneFacts {
  now: number
  view: RepositoryView
  /** Tips of batches that stay. */
  keep: ReadonlySet<string>
}

/** The batches, of those given, whose checks are not needed any more, oldest first. Pure. */
export function prunable(batches: readonly OldBatch[], { now, view, keep }: PruneFacts): OldBatch[] {
  const landed = new Set([...view.branches.values()].flatMap(branch => branch.landed.map(({ tip }) => tip)))
  const named = ejectionChecks(view, now)
  const isOld = ({ value }: Stored<CheckRecord>) => {
    const last = millis(value.finishedAt) ?? millis(value.createdAt)
    return last !== undefined && now - last > pruning.keepMs
  }
  const old = batches.filter(batch => {
    if (keep.has(batch.tip) || landed.has(batch.tip)) return false
    return batch.checks.every(check => !isGoing(check.value) && isOld(check) && !named.has(check.uri))
  })
  return old.sort((a, b) => filedAt(a) - filedAt(b))
}

/** Own batch checks put together by tip and base. */
export function batchesOf(found: readonly Stored<CheckRecord>[]): OldBatch[] {
  const batches = new Map<string, Stored<CheckRecord>[]>()
  for (const check of found) {
    const key = parseCheckKey(check.rkey)
    if (key?.kind !== 'queue') continue
    const place = `${key.tip} ${key.base}`
    const group = batches.get(place)
    if (group === undefined) batches.set(place, [check])
    else group.push(check)
  }
  return [...batches].map(([place, group]) => {
    const [tip = '', base = ''] = place.split(' ')
    return { tip, base, checks: group }
  })
}

/** Takes away what is not needed any more of a repository's branches. Answers the addresses that are gone. Never rejects. */
export async function pruneChecks(
  ctx: Pick<RunnerContext, 'did' | 'reader' | 'writer' | 'now' | 'log'>,
  ground: Ground,
  keep: ReadonlySet<string>,
) {
  const gone: string[] = []
  const branches = new Set([
    ...ground.view.branches.keys(),
    ...(ground.refs.gone ?? []).map(({ name }) => name.replace(/^refs\/heads\//, '')),
  ])
  for (const branch of branches) {
    try {
      const prefix = queueCheckPrefix({ repo: ground.repo, ref: `refs/heads/${branch}` })
      const { found } = await readOwnChecks(ctx, { prefix, max: pruning.read })
      for (const batch of prunable(batchesOf(found), { now: ctx.now(), view: ground.view, keep }).slice(0, pruning.batches)) {
        const uris = await takeAway(ctx, batch)
        gone.push(...uris)
        if (uris.length > 0) ctx.log.info('checks-pruned', { repo: ground.repo, branch, tip: batch.tip, checks: uris.length })
      }
    } catch (error) {
      ctx.log.warn('checks-not-pruned', { repo: ground.repo, branch, error: error instanceof Error ? error.name : 'unknown' })
    }
  }
  return gone
}

/** One call, all or none: what is left of a batch is never read as less than the whole of it. */
async function takeAway(ctx: Pick<RunnerContext, 'writer' | 'log'>, batch: OldBatch): Promise<string[]> {
  const keys = batch.checks.flatMap(({ rkey }) => parseRecordKey(rkey) ?? [])
  if (keys.length > pruning.operations) return []
  const done = await ctx.writer.applyWrites({ writes: keys.map(rkey => ({ action: 'delete', collection: checks, rkey })) })
  if (done.ok) return batch.checks.map(({ uri }) => uri)
  ctx.log.warn('checks-not-pruned', { tip: batch.tip, code: done.code, said: done.message })
  return []
}

/** Checks that ejections of the last 90 days name (REC-2). */
function ejectionChecks(view: RepositoryView, now: number): Set<string> {
  const named = new Set<string>()
  for (const pull of view.pulls.values()) {
    for (const { rkey, value } of pull.history) {
      if (value.$type !== 'dev.knotless.queue' || value.state !== 'ejected' || now - tidMillis(rkey) > pruning.ejectionMs) continue
      for (const { check } of value.checks ?? []) named.add(check)
    }
  }
  return named
}

function filedAt({ checks: group }: OldBatch): number {
  return Math.min(...group.map(({ value }) => millis(value.createdAt) ?? 0))
}
