import type { Did } from '../../atproto/ids.ts'
import type { ActionContext } from './context.ts'

/** What people call the server that keeps an account: its host, or `otherwise` where that cannot be told. */
export async function serverName(ctx: Pick<ActionContext, 'serverOf'>, did: Did | undefined, otherwise: string): Promise<string> {
  try {
    return (did && (await ctx.serverOf(did))) ?? otherwise
  } catch {
    return otherwise
  }
}
