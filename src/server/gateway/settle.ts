import { parseAtUri } from '../../atproto/ids.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import { isAncestor } from '../../git/chain.ts'
import { checkRefsRecord } from '../../git/refs-record.ts'
import { auditText } from '../../queue/words/gateway.ts'
import { notWritten } from '../../queue/words/writing.ts'
import { readFoundRefs } from './account.ts'
import type { GatewayContext } from './context.ts'
import { bringMirror } from './mirror.ts'
import type { AuditEntry } from './types.ts'

/** Lines looked at in one pass. */
const MOST = 500
/** For how long a write that was sent may still be on its way, in milliseconds: the wait of its tries and some more. */
const LOOSE_MS = 120_000

/**
 * Looks at what a crash, or a server that did not answer, left open in the audit log: written when the ref is at the new commit or past it and no
 * later line says so, not written otherwise once nothing can be under way any more (LND-11). What cannot be read stays open. Gives how many lines stay so.
 */
export async function settleOpen(ctx: GatewayContext): Promise<number> {
  const lines = ctx.audit.open(MOST)
  let left = 0
  for (const [repo, about] of Map.groupBy(lines, line => line.repo)) {
    const outcomes = await look(ctx, repo, about)
    for (const line of about) {
      const outcome = outcomes.get(line)
      if (outcome === 'written' && !ctx.audit.madeLater(line)) ctx.audit.settle([line.id], 'written')
      else if (outcome !== undefined && ctx.now() - line.at >= LOOSE_MS) {
        ctx.audit.settle([line.id], 'refused', { code: 'upstream-failed', reason: auditText(notWritten(), () => undefined) })
      } else left += 1
    }
  }
  return left
}

type Open = AuditEntry & { id: number; at: number }

/** What became of each, as the refs are now; nothing where they cannot be read. */
async function look(ctx: GatewayContext, repo: Open['repo'], lines: readonly Open[]): Promise<Map<Open, 'written' | 'refused'>> {
  const outcomes = new Map<Open, 'written' | 'refused'>()
  const address = parseAtUri(repo)
  if (address === undefined) return outcomes
  try {
    const { record } = await readFoundRefs(ctx.reader, { owner: address.did, name: address.rkey, whole: false })
    const checked = record && checkRefsRecord(record.value, repo)
    if (record !== undefined && checked?.ok !== true) return outcomes
    const refs = new Map(checked?.ok ? checked.record.refs.map(row => [row.name, row.commit]) : [])
    for (const line of lines) {
      const now = refs.get(line.ref) ?? null
      if (now === line.to) outcomes.set(line, 'written')
      else if (now === null || line.to === null) outcomes.set(line, 'refused')
      else if (record !== undefined) {
        const brought = await bringMirror(ctx, repo, record)
        const found = brought.ok ? await isAncestor(brought.mirror, line.to, now) : brought
        if (found.ok) outcomes.set(line, found.ancestor ? 'written' : 'refused')
      }
    }
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
  }
  return outcomes
}
