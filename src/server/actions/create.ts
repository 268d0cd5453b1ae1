import { createTidClock } from '../../atproto/tid.ts'
import { mergeOnto } from '../../git/merge.ts'
import type { Context } from '../context.ts'
import { gatewayFacts } from '../gateway/facts.ts'
import type { ActionContext, LookAtMerge } from './context.ts'
import { createKeyedLock } from './keyed-lock.ts'
import { createUnsettledWrites } from './unsettled.ts'

/** The longest that git may take over one look, its downloads included, in milliseconds. */
const LOOK_MS = 30_000

/** What queueing and leaving need, over the server's context. */
export function createActions(ctx: Context): ActionContext {
  const { now, reader, database, repositories, indexer, identity, oauth } = ctx
  return {
    now,
    reader,
    database,
    repositories,
    tids: createTidClock({ now, clockId: ctx.ids.clock() }),
    locks: createKeyedLock(),
    unsettled: createUnsettledWrites(now),
    lookAtMerge: lookAtMerge(ctx),
    gatewayOf: owner => gatewayFacts(ctx, owner),
    indexOwnWrite: write => indexer.indexOwnWrite(write),
    async serverOf(did) {
      const server = (await identity.resolveDocument(did))?.pds
      return server === undefined ? undefined : new URL(server).host
    },
    restore: did => oauth.restore(did),
  }
}

function lookAtMerge({ indexer }: Pick<Context, 'indexer'>): LookAtMerge {
  return async ({ pull, tip, target, head, source }) => {
    const signal = AbortSignal.timeout(LOOK_MS)
    const onto = await indexer.ensureMirror(target.value.repo, target.value, signal)
    if (!onto.ok) return { ...onto, of: 'target' }
    const from = source.uri === target.uri ? onto : await indexer.ensureMirror(source.value.repo, source.value, signal)
    if (!from.ok) return { ...from, of: 'head' }
    const merged = await mergeOnto({ target: onto.mirror, tip, source: from.mirror, head, signal })
    if (!merged.ok) return { ...merged, of: 'merge' }
    const { changesChecks } = merged
    const merge = merged.applies
      ? { pull, tip, head, applies: true, conflicts: [], moreConflicts: 0, changesChecks, empty: merged.nothingToLand }
      : { pull, tip, head, applies: false, conflicts: merged.conflicts, moreConflicts: merged.moreConflicts, changesChecks, empty: false }
    return { ok: true, merge }
  }
}
