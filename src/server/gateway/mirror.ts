import type { Mirror } from '../../git/mirror.ts'
import type { GitRefusal } from '../../git/refusal.ts'
import type { GatewayContext } from './context.ts'

/** The longest that a mirror may take to be brought to a record, in milliseconds. */
const PATIENCE_MS = 60_000

/** A repository's mirror with everything in it that a refs record names. One that was brought there before is not looked at again. */
export async function bringMirror(
  ctx: GatewayContext,
  repo: string,
  record: { cid: string; value: unknown } | undefined,
): Promise<{ ok: true; mirror: Mirror } | GitRefusal> {
  if (record === undefined || ctx.mirrored.get(repo) === record.cid) return { ok: true, mirror: await ctx.mirrors.of(repo) }
  const brought = await ctx.indexer.ensureMirror(repo, record.value, AbortSignal.timeout(PATIENCE_MS))
  if (brought.ok) ctx.mirrored.set(repo, record.cid)
  return brought
}
