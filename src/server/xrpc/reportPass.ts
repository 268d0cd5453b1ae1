import type { HandlerContext } from '@atproto/xrpc-server'
import { type Did, parseAtUri } from '../../atproto/ids.ts'
import type { ReplayMemory } from '../../atproto/replay-memory.ts'
import type * as knotless from '../../lexicons/dev/knotless.ts'
import { notAllowed } from '../../queue/words/refusals.ts'
import type { Context } from '../context.ts'
import { namesOf } from '../names.ts'
import { type KnownCaller, requiredCaller } from './caller.ts'
import { findRepo, refused } from './queries.ts'

type Question = HandlerContext<KnownCaller, knotless.reportPass.$Params, knotless.reportPass.$Input>

/** The largest input, in bytes: a report may bring pieces of several logs. */
const INPUT_BYTES = 2 ** 20

/**
 * dev.knotless.reportPass: a runner tells that it passed and when it will again (STA-4), and sends what its runs print. Taken from runners that the
 * repository names and from who may merge there (WHO-1); of logs, from each its own.
 */
export function reportPass(ctx: Context, replay: ReplayMemory) {
  return {
    // A report gives no right to anything, and comes every few seconds while something runs: the key need not be read afresh for each.
    auth: requiredCaller(ctx, 'dev.knotless.reportPass', replay, { freshKey: false }),
    opts: { jsonLimit: INPUT_BYTES },
    async handler({ auth, input }: Question) {
      const { caller } = auth.credentials
      const { repo, passedAt, nextBy, waitsFor, logs } = input.body
      const { view } = await findRepo(ctx, repo)
      const { owner, collaborators, runners } = view.roles
      if (!view.roles.mayMerge(caller) && !view.roles.namedRunner(caller)) {
        const people = [...new Set([...runners, owner, ...collaborators])]
        throw refused(notAllowed('report', people), ctx.now(), namesOf(ctx.database, view))
      }
      // Who only sends output says nothing of a pass.
      if (passedAt !== undefined || nextBy !== undefined) {
        const said = (waitsFor ?? []).map(reason => reason.text)
        const times = { passedAt: millis(passedAt), nextBy: millis(nextBy) }
        ctx.passes.note({ repo: view.record.uri, did: caller, ...times, waitsFor: said })
      }
      for (const { check, offset, text } of logs ?? []) if (isOwnCheck(check, caller)) ctx.liveLogs.add(check, { offset, text })
    },
  }
}

function millis(time: string | undefined): number | undefined {
  const ms = time === undefined ? Number.NaN : Date.parse(time)
  return Number.isNaN(ms) ? undefined : ms
}

function isOwnCheck(uri: string, caller: Did): boolean {
  const at = parseAtUri(uri)
  return at?.did === caller && at.collection === 'dev.knotless.check'
}
