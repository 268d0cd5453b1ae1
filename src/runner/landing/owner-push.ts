/** A landing by the owner's own runner, straight into the owner's account (WHO-4). */
import { asLex } from '../../atproto/as-lex.ts'
import type { Nsid, RecordKey } from '../../atproto/ids.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import type { RefsAccount } from '../../git/account.ts'
import type { Mirror } from '../../git/mirror.ts'
import { pushRefs } from '../../git/push.ts'
import { refName } from '../../git/ref-names.ts'
import type { SpentBranch } from '../../queue/spent.ts'
import type { RunnerContext } from '../context.ts'
import type { NotLanded } from '../planner/types.ts'
import type { Ground } from '../types.ts'

export type OwnerContext = Pick<RunnerContext, 'did' | 'reader' | 'writer' | 'now'>

const refsCollection: Nsid = 'dev.knotless.refs'

export type OwnerPush = { outcome: 'done' } | { outcome: 'refused'; as: NotLanded } | { outcome: 'unknown'; said: string }

/** This account's refs record and blobs of one repository, as a push wants them. */
export function ownRefs(ctx: OwnerContext, name: RecordKey): RefsAccount {
  return {
    async read() {
      try {
        const found = await ctx.reader.getRecord(ctx.did, refsCollection, name)
        return found && { record: found.value, cid: found.cid }
      } catch (error) {
        if (error instanceof UpstreamError) return { code: 'unread', message: error.message }
        throw error
      }
    },
    async put(record, swapRecord) {
      const done = await ctx.writer.putRecord({ collection: refsCollection, rkey: name, record: asLex(record), swapRecord })
      if (done.ok) return 'done'
      if (done.code === 'swap-lost') return 'swap-lost'
      return done.code === 'blob-not-found' ? 'blob-missing' : done
    },
    async upload(bytes) {
      const done = await ctx.writer.uploadBlob(bytes, 'application/octet-stream')
      if (done.ok) return done.blob
      return done.code === 'too-large' ? 'too-large' : done
    },
  }
}

/** The branch to the tip and the spent branches away, in one put, each only while it is where it is known to be; never forced. */
export async function pushStraight(
  ctx: OwnerContext,
  ground: Pick<Ground, 'repo' | 'name'>,
  push: { mirror: Mirror; branch: string; base: string; tip: string; spent: readonly SpentBranch[]; commits: readonly string[] },
): Promise<OwnerPush> {
  const pushed = await pushRefs({
    gitDir: push.mirror.dir,
    mirror: push.mirror,
    account: ownRefs(ctx, ground.name),
    repo: ground.repo,
    updates: [
      { name: refName(push.branch), commit: push.tip, old: push.base },
      ...push.spent.map(one => ({ name: refName(one.branch), commit: null, old: one.at })),
    ],
    commits: new Set(push.commits),
    now: () => new Date(ctx.now()),
  })
  if (pushed.ok) return { outcome: 'done' }
  switch (pushed.code) {
    case 'branch-moved':
      return { outcome: 'refused', as: { why: 'branch-moved' } }
    case 'force-refused':
    case 'missing-commit':
    case 'bad-ref':
      return { outcome: 'refused', as: { why: 'not-a-batch', said: pushed.message } }
    case 'upstream-failed':
    case 'blob-missing':
      return { outcome: 'unknown', said: pushed.message }
    default:
      return { outcome: 'refused', as: { why: 'trouble', said: pushed.message } }
  }
}
