import type { LexMap } from '@atproto/lex-data'
import { parseTid, type Tid } from '../../atproto/ids.ts'
import { openIssuesOf } from '../../indexer/read.ts'
import { closedBy } from '../../queue/closing.ts'
import { keysToExceed } from '../../queue/keys-to-exceed.ts'
import type { Along } from './account.ts'
import type { GatewayContext } from './context.ts'
import type { Ground } from './gather.ts'

/** Keys and dates of states by what they are about: chosen before the first try and kept over all of them (STO-7). */
export type KeptKeys = Map<string, { rkey: Tid; createdAt: string }>

const collection = 'dev.knotless.state'

/**
 * The records that go with a merge of one pull: that it is merged, at its commit and as a batch of its own, and on the default branch that the
 * issues are closed which the message that lands names (LND-5, LND-6).
 */
export function landedRecords(
  ctx: GatewayContext,
  landed: { ground: Ground; pull: string; branch: string; commit: string; message: string; keys: KeptKeys },
): Along[] {
  const { ground, pull, branch, commit, message, keys } = landed
  const { view, repo, owner } = ground
  const above = keysToExceed(view, pull)
  const merged = state(ctx, keys, pull, above, { repo, subject: pull, state: 'merged', commit, batch: commit })
  if (branch !== view.record.value.defaultBranch) return [merged]
  const members = [owner, ...view.roles.collaborators, ...view.roles.runners]
  const issues = [...new Set([repo, view.uri])].flatMap(address => openIssuesOf(ctx.database, address, members))
  const closings = closedBy(
    [{ pull, message }],
    issues.map(uri => ({ uri })),
  )
  const closed = closings.now.map(({ issue }) => state(ctx, keys, issue, undefined, { repo, subject: issue, state: 'closed', pull }))
  return [merged, ...closed]
}

/** The record about a subject under its kept key, or under a new one where records past that one were read meanwhile (REC-7). */
function state(ctx: GatewayContext, keys: KeptKeys, subject: string, above: string | undefined, fields: LexMap): Along {
  const kept = keys.get(subject)
  const key =
    kept !== undefined && kept.rkey > (above ?? '')
      ? kept
      : { rkey: ctx.tids.next(parseTid(above)), createdAt: new Date(ctx.now()).toISOString() }
  keys.set(subject, key)
  return { collection, rkey: key.rkey, record: { $type: collection, ...fields, createdAt: key.createdAt } }
}
