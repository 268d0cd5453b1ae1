import type { HandlerContext } from '@atproto/xrpc-server'
import { makeAtUri, parseAtUri } from '../../atproto/ids.ts'
import type { ReplayMemory } from '../../atproto/replay-memory.ts'
import type * as knotless from '../../lexicons/dev/knotless.ts'
import { repoNotFound } from '../../queue/words/refusals.ts'
import type { Context } from '../context.ts'
import { namesOf } from '../names.ts'
import { type KnownCaller, requiredCaller } from './caller.ts'
import { refused, withDid } from './queries.ts'

type Question = HandlerContext<KnownCaller, knotless.createCommit.$Params, knotless.createCommit.$Input>

/** The largest input, in bytes: files of a commit come as they are. */
const INPUT_BYTES = 4 * 2 ** 20

/** dev.knotless.createCommit: makes a commit on a branch, for somebody who may push it. */
export function createCommit(ctx: Context, replay: ReplayMemory) {
  return {
    auth: requiredCaller(ctx, 'dev.knotless.createCommit', replay),
    opts: { jsonLimit: INPUT_BYTES },
    async handler({ auth, input }: Question) {
      const names = namesOf(ctx.database)
      const { repo: uri, branch, base, message } = input.body
      const at = parseAtUri(await withDid(ctx, uri))
      if (at?.collection !== 'dev.knotless.repo') throw refused(repoNotFound(uri.split('/').at(-1) ?? uri), ctx.now(), names)
      const repo = makeAtUri(at.did, at.collection, at.rkey)
      // A mode that is not known is that of a plain file.
      const changes = input.body.changes.map(({ path, content, mode }) => ({
        path,
        content,
        mode: mode === '100755' ? ('100755' as const) : undefined,
      }))
      const done = await ctx.gateway.createCommit({ repo, caller: auth.credentials.caller, branch, base, message, changes })
      if (!done.ok) throw refused(done.refusal, ctx.now(), names)
      return { encoding: 'application/json' as const, body: { commit: done.commit } }
    },
  }
}
