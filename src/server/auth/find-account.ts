import { type Did, parseDid, parseHandle } from '../../atproto/ids.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import type { Context } from '../context.ts'
import type { Refusal } from '../refusals.ts'
import { door } from '../words.ts'

/** An account as the door shows it: `host` is the server that keeps it. */
export interface FoundAccount {
  did: Did
  handle?: string
  host: string
}

/** Marks that come along when a handle is copied from a page, and that nobody sees. */
const invisible = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

/** Finds an account by what a person typed: a handle, with or without @, or a DID. */
export async function findAccount(
  ctx: Pick<Context, 'identity'>,
  typed: string,
): Promise<{ ok: true; account: FoundAccount } | { ok: false; refusal: Refusal }> {
  const name = typed.replace(invisible, '').trim()
  const handle = parseHandle(name)
  const typedDid = parseDid(name)
  if (handle === undefined && typedDid === undefined) return { ok: false, refusal: door.notAName() }
  try {
    const did = typedDid ?? (handle && (await ctx.identity.resolveHandle(handle)))
    const account = did && (await ctx.identity.resolveDid(did))
    if (account === undefined) return { ok: false, refusal: door.nobodyFound(name) }
    if (account.pds === undefined) return { ok: false, refusal: door.noServer(name) }
    const { host } = new URL(account.pds)
    return { ok: true, account: { did: account.did, host, ...(account.handle === undefined ? {} : { handle: account.handle }) } }
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    return { ok: false, refusal: door.unresolvable(name) }
  }
}
