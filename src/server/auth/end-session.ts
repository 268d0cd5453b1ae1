import { parseDid } from '../../atproto/ids.ts'
import type { Context } from '../context.ts'

/** How long a person waits for their server to hear of it; it is told all the same. */
const WAIT_MS = 3_000

/**
 * Ends a web session. With the last one of an account its grant is taken back at the account's server too. Gives false when there was no such
 * session.
 */
export async function endSession(ctx: Context, did: string, name: string): Promise<boolean> {
  const left = await ctx.sessions.end(did, name)
  if (left === 0) await giveBackGrant(ctx, did)
  return left !== undefined
}

async function giveBackGrant(ctx: Context, sessionDid: string): Promise<void> {
  const did = parseDid(sessionDid)
  if (did === undefined) return
  const told = ctx.oauth.revoke(did).then(reached => {
    if (!reached) ctx.logger.warn({ did }, "a grant was forgotten, and the account's server did not hear of it")
  })
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>(resolve => {
    timer = setTimeout(resolve, WAIT_MS)
  })
  await Promise.race([told, late])
  clearTimeout(timer)
}
