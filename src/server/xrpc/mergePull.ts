import type { HandlerContext } from '@atproto/xrpc-server'
import { makeAtUri, parseAtUri } from '../../atproto/ids.ts'
import type { ReplayMemory } from '../../atproto/replay-memory.ts'
import type * as knotless from '../../lexicons/dev/knotless.ts'
import { pullNotFound } from '../../queue/words/refusals.ts'
import type { Context } from '../context.ts'
import { namesOf } from '../names.ts'
import { type KnownCaller, requiredCaller } from './caller.ts'
import { refused, withDid } from './queries.ts'

type Question = HandlerContext<KnownCaller, knotless.mergePull.$Params, knotless.mergePull.$Input>

/** dev.knotless.mergePull: lands one pull, as a batch of one would. */
export function mergePull(ctx: Context, replay: ReplayMemory) {
  return {
    auth: requiredCaller(ctx, 'dev.knotless.mergePull', replay),
    async handler({ auth, input }: Question) {
      const names = namesOf(ctx.database)
      const at = parseAtUri(await withDid(ctx, input.body.pull))
      if (at?.collection !== 'dev.knotless.pull') throw refused(pullNotFound(), ctx.now(), names)
      const pull = makeAtUri(at.did, at.collection, at.rkey)
      const done = await ctx.gateway.mergePull({ pull, caller: auth.credentials.caller, head: input.body.head })
      if (!done.ok) throw refused(done.refusal, ctx.now(), names)
      return { encoding: 'application/json' as const, body: { commit: done.commit, uri: done.uri } }
    },
  }
}
