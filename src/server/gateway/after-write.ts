import { consolidate } from '../../git/consolidate.ts'
import type { PushDone } from '../../git/push.ts'
import { syncMirror } from '../../git/sync.ts'
import { blobsOf } from '../../indexer/mirrors/sync.ts'
import { type Along, createOwnersAccount, type OwnersAccount, readFoundRefs } from './account.ts'
import { type GatewayContext, goOn, hostOf } from './context.ts'
import type { Ground } from './gather.ts'

/** More packs than this are joined (STO-3). */
const MOST_PACKS = 32

interface Written {
  ground: Ground
  along: readonly Along[]
  account: Pick<OwnersAccount, 'written' | 'unsure'>
  done: PushDone
}

/**
 * What is to be done once a write stands: index and mirror know of it at once, and many packs are joined later, beside. Gives whether it was this
 * very call that wrote it. Nothing here changes that it stands, so nothing here throws.
 */
export async function afterWrite(ctx: GatewayContext, { ground, along, account, done }: Written): Promise<boolean> {
  try {
    const ours = account.written !== undefined || (account.unsure && (await isThere(ctx, ground, along[0])))
    if (done.mirrored && account.written !== undefined) ctx.mirrored.set(ground.repo, account.written.refs)
    else ctx.mirrored.delete(ground.repo)
    await indexWritten(ctx, ground, ours ? along : [], account.written)
    if (done.record.packs.length > MOST_PACKS) goOn(ctx, () => joinPacks(ctx, ground))
    return ours
  } catch (error) {
    ctx.logger.error({ err: error, repo: ground.repo }, 'what follows a write could not be done')
    return account.written !== undefined
  }
}

/** What went along is there, so that the commit that held it was made (STO-7). */
async function isThere(ctx: GatewayContext, { owner }: Ground, first: Along | undefined): Promise<boolean> {
  return first === undefined || (await ctx.reader.getRecord(owner, first.collection, first.rkey)) !== undefined
}

/** Indexes what was written; where its answer was lost, what is there now. */
async function indexWritten(
  ctx: GatewayContext,
  ground: Ground,
  along: readonly Along[],
  written: OwnersAccount['written'],
): Promise<void> {
  const { owner: did, name } = ground
  if (written?.rev !== undefined) {
    const { rev, refs, record } = written
    const others = along.map((one, at) => ({ did, rev, ...one, cid: written.along[at] ?? '' }))
    await Promise.all([
      ctx.indexer.indexOwnWrite({ did, collection: 'dev.knotless.refs', rkey: name, cid: refs, rev, record }),
      ...others.map(write => ctx.indexer.indexOwnWrite(write)),
    ])
    return
  }
  const rev = (await ctx.reader.getLatestCommit(did))?.rev
  if (rev === undefined) return
  const places = [{ collection: 'dev.knotless.refs' as const, rkey: name }, ...along]
  for (const { collection, rkey } of places) {
    const read = await ctx.reader.getRecord(did, collection, rkey)
    if (read !== undefined) await ctx.indexer.indexOwnWrite({ did, collection, rkey, cid: read.cid, rev, record: read.value })
  }
}

/** STO-3, under compare-and-swap: a push that comes first wins, and it is left for the next time. */
async function joinPacks(ctx: GatewayContext, ground: Ground): Promise<void> {
  const { owner, name, repo } = ground
  const right = await ctx.delegations.session(owner)
  if (!right.ok) return
  const first = await readFoundRefs(ctx.reader, { owner, name, whole: false })
  if (first.record === undefined) return
  const mirror = await ctx.mirrors.of(repo)
  const synced = await syncMirror(mirror, first.record.value, blobsOf(ctx.reader, owner), { repo, allPacks: true })
  if (!synced.ok) return
  const host = await hostOf(ctx, owner)
  const account = createOwnersAccount(ctx, { session: right.session, host, name, along: [], first })
  const joined = await consolidate({ mirror, account, repo, now: () => new Date(ctx.now()) })
  if (joined.ok && account.written !== undefined) await indexWritten(ctx, ground, [], account.written)
  if (!joined.ok) ctx.logger.info({ repo, code: joined.code }, 'packs could not be joined')
}
