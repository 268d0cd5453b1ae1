import { z } from 'zod'
import { type AtUri, type Did, parseAtUri } from '../../atproto/ids.ts'
import { recordAt } from '../../indexer/read.ts'
import type { GatewayContext } from './context.ts'

const named = z.object({
  collaborators: z.array(z.object({ did: z.string() })).catch([]),
  runners: z.array(z.object({ did: z.string() })).catch([]),
})

/** Whether a repository's record names an account, as the index has it: enough to wait in its line, and to be looked at in earnest. */
export function isNamed(ctx: Pick<GatewayContext, 'database'>, repo: AtUri, caller: Did): boolean {
  if (parseAtUri(repo)?.did === caller) return true
  const known = recordAt(ctx.database, repo)
  const { success, data } = named.safeParse(known === undefined ? undefined : JSON.parse(known.json))
  return success && [...data.collaborators, ...data.runners].some(({ did }) => did === caller)
}

/**
 * Runs the work of an account on a repository: one after the other, so that none loses to another here. Of accounts that nobody has named none
 * waits and none is waited for; one that was named a moment ago is safe all the same, since every write is a compare-and-swap.
 */
export function inTurn<T>(ctx: GatewayContext, asked: { repo: AtUri; caller: Did }, work: () => Promise<T>): Promise<T> {
  return isNamed(ctx, asked.repo, asked.caller) ? ctx.locks.run(asked.repo, work) : work()
}
