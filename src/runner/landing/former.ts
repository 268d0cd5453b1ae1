/** What those who landed here before left undone (LND-8): intents in the records of accounts that the repository names, or named. */
import { type Did, parseDid } from '../../atproto/ids.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import { gather } from '../../indexer/sources/gather.ts'
import { millis } from '../../queue/runs.ts'
import type { RunnerContext } from '../context.ts'
import type { Ground } from '../types.ts'
import { type Intent, readLander } from './lander-record.ts'

const AT_ONCE = 12
/** The longest that looking may take, in milliseconds: whoever has not answered by then is looked at again later. */
const PATIENCE_MS = 5_000
/** When that is: while somebody may still be landing, and where somebody's server did not answer. */
const AGAIN_MS = { leased: 60_000, unread: 10 * 60_000 } as const

export interface Former {
  /**
   * Intents of others whose lease has ended, as their accounts have them. Once they are `settled` they are not looked for until the lease is taken again
   * (`taken` counts that), or somebody's record could not be read, or somebody may still be landing.
   */
  look(ground: Ground, taken: number): Promise<{ intents: readonly Intent[]; settled: () => void }>
}

export function createFormer(ctx: Pick<RunnerContext, 'did' | 'reader' | 'now'>): Former {
  const looked = new Map<string, { taken: number; again?: number | undefined }>()

  async function read(ground: Ground): Promise<{ intents: Intent[]; again: number | undefined }> {
    const { roles, record } = ground.view
    const former = (record.value.former ?? []).filter(one => one.void !== true).map(one => one.did)
    const all = [roles.owner, ...roles.collaborators, ...roles.runners, ...former].flatMap(did => parseDid(did) ?? [])
    const others = [...new Set(all)].filter(did => did !== ctx.did)
    const signal = AbortSignal.timeout(PATIENCE_MS)
    let again: number | undefined
    const found = await gather(others, AT_ONCE, async (did: Did) => {
      try {
        return (await readLander(ctx.reader, did, ground.repo, ctx.now(), signal)).record?.value
      } catch (error) {
        if (!(error instanceof UpstreamError || signal.aborted)) throw error
        again ??= AGAIN_MS.unread
        return undefined
      }
    })
    const intents = found.flatMap(value => {
      if (value?.intent === undefined) return []
      const leased = value.stoppedAt === undefined && (millis(value.lease?.until) ?? 0) > ctx.now()
      if (leased) again = AGAIN_MS.leased
      return leased ? [] : [value.intent]
    })
    return { intents, again }
  }

  return {
    async look(ground, taken) {
      const last = looked.get(ground.repo)
      if (last?.taken === taken && (last.again === undefined || ctx.now() < last.again)) return { intents: [], settled: () => undefined }
      const { intents, again } = await read(ground)
      return { intents, settled: () => looked.set(ground.repo, { taken, again: again === undefined ? undefined : ctx.now() + again }) }
    },
  }
}
