import { gather } from '../../indexer/sources/gather.ts'
import { isAfterCreated, wakesAt } from '../../queue/records.ts'
import { tidMillis } from '../../queue/tid.ts'
import type { Ground, Rerun } from '../types.ts'
import type { Kept } from './ground.ts'
import { didsOf } from './members.ts'
import { asUpstream, patienceMs, within } from './patience.ts'
import type { ReadsContext, Stores } from './stores.ts'

/** Whoever was away for longer than this does not answer what was asked for meanwhile; milliseconds. */
const STANDS = 7 * 24 * 3_600_000
const AT_ONCE = 16

/**
 * RUN-6: rerun records about a repository by its owner and collaborators, oldest first. Those whose key lies past their making by a day, or in the
 * future, do not count (REC-3). An account that does not answer adds nothing.
 */
export async function readReruns(ctx: ReadsContext, stores: Stores, { addresses }: Kept, ground: Ground): Promise<Rerun[]> {
  const { owner, collaborators } = ground.view.roles
  const now = ctx.now()
  const reruns: Rerun[] = []
  await gather(didsOf([owner, ...collaborators]), AT_ONCE, async did => {
    try {
      const look = await stores.looks.look(did, { maxAgeMs: stores.lately() })
      if (look.state !== 'at') return
      const { records } = await within(patienceMs, did, () => stores.reruns.about(did, look.rev, { addresses }))
      for (const { uri, rkey, value } of records) {
        const time = tidMillis(rkey)
        if (isAfterCreated(time, value.createdAt) || wakesAt(time, now) !== undefined || now - time > STANDS) continue
        const { pull, branch, commit, workflow } = value
        reruns.push({ uri, key: rkey, by: did, pull, branch, commit, workflow })
      }
    } catch (error) {
      asUpstream(error)
    }
  })
  return reruns.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.by < b.by ? -1 : 1))
}
