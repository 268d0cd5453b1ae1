/** Why a write into an owner's account was not made, in words. */
import { type AtUri, parseAtUri } from '../../atproto/ids.ts'
import type { UpstreamError } from '../../atproto/upstream-error.ts'
import { checkRefsRecord } from '../../git/refs-record.ts'
import type { GitRefusal } from '../../git/refusal.ts'
import { auditText, refMoved, refusedAs } from '../../queue/words/gateway.ts'
import { notDelegated, type Refusal, repoNotFound, type WriteAct } from '../../queue/words/refusals.ts'
import * as words from '../../queue/words/writing.ts'
import { upstreamFault } from '../actions/upstream-fault.ts'
import { namesOf } from '../names.ts'
import { type OwnersAccount, readFoundRefs } from './account.ts'
import { type GatewayContext, hostOf, settingsUrl } from './context.ts'
import type { Gathered, Ground } from './gather.ts'
import type { Wish } from './judge.ts'
import { isNamed } from './turn.ts'
import type { WriteAsked } from './write.ts'

/** The right to write is not there, or its server does not answer. */
export async function noRight(ctx: GatewayContext, asked: WriteAsked, why: 'not-delegated' | 'unreachable'): Promise<Refusal> {
  if (why === 'not-delegated') return noDelegation(ctx, asked)
  return words.serverFailed(asked.act, await serverOf(ctx, asked.ground), 'unclear', true)
}

/** Nothing could be judged, since the repository is not there or a source that must answer did not (GWY-13). */
export function gatherRefusal(act: WriteAct, repo: string, gathered: Extract<Gathered, { ok: false }>): Refusal {
  return gathered.why === 'gone' ? repoNotFound(repo.slice(repo.lastIndexOf('/') + 1)) : sourceFailed(act, gathered.error)
}

/** Notes a refusal from before anything could be judged, of an account that the repository names (GWY-6). */
export function noteUnread(ctx: GatewayContext, { repo, caller, door, moves }: Wish & { repo: AtUri }, refusal: Refusal): void {
  const owner = parseAtUri(repo)?.did
  if (owner === undefined || !isNamed(ctx, repo, caller)) return
  const reason = auditText(refusedAs(refusal), () => undefined)
  const more = { owner, repo, caller, door, reason, code: refusal.code }
  ctx.audit.refused(moves.map(move => ({ ...more, ref: move.name, from: move.old, to: move.new })))
}

/** A source that must answer did not; nothing was written. */
export function sourceFailed(act: WriteAct, error: UpstreamError): Refusal {
  return words.serverFailed(act, error.host, upstreamFault(error), true)
}

/** What an audit line says of a refusal. */
export function reasonOf(ctx: Pick<GatewayContext, 'database'>, { view }: Pick<Ground, 'view'>, refusal: Refusal): string {
  return auditText(refusedAs(refusal), namesOf(ctx.database, view))
}

/** What a push that was not made comes to: what moved, what the owner's server did, or what git would not take. */
export async function writeRefusal(
  ctx: GatewayContext,
  asked: WriteAsked,
  account: Pick<OwnersAccount, 'failure' | 'unread' | 'unsure'>,
  done: GitRefusal,
): Promise<Refusal> {
  const { act, ground } = asked
  const { failure, unread, unsure } = account
  if (done.code === 'branch-moved') return await moved(ctx, asked)
  if (unread !== undefined) return words.serverFailed(act, unread.host, upstreamFault(unread), !unsure)
  if (failure === undefined || done.code === 'too-large') return words.gitRefused(act, done)
  switch (failure.code) {
    case 'session-gone':
    case 'scope-missing':
      await ctx.delegations.gone(ground.owner, 'revoked')
      return noDelegation(ctx, asked)
    case 'rate-limited':
      return words.serverLimits(act, await serverOf(ctx, ground), (failure.retryAfter ?? 60) * 1000)
    case 'clock':
      return words.clocksApart(act, await serverOf(ctx, ground))
    case 'refused':
      return words.serverFailed(act, await serverOf(ctx, ground), 'refused', !unsure)
    case 'upstream-failed':
    case 'key-taken':
      return words.serverFailed(act, await serverOf(ctx, ground), 'unclear', !unsure)
    default:
      return words.gitRefused(act, done)
  }
}

/** Which ref moved, and where it is now; or that others kept writing while none did. */
async function moved(ctx: GatewayContext, { act, ground, updates }: WriteAsked): Promise<Refusal> {
  const at = { owner: ground.owner, name: ground.name, whole: false }
  const found = await readFoundRefs(ctx.reader, at).catch(() => undefined)
  const checked = checkRefsRecord(found?.record?.value)
  if (!checked.ok) return words.tooBusy(act, ground)
  const refs = new Map(checked.record.refs.map(row => [row.name, row.commit]))
  const update = updates.find(({ name, old }) => (refs.get(name) ?? null) !== old)
  return update === undefined
    ? words.tooBusy(act, ground)
    : refMoved(act, update.name, { old: update.old, now: refs.get(update.name) ?? null })
}

function noDelegation(ctx: GatewayContext, { act, caller, ground: { owner } }: WriteAsked): Refusal {
  const delegation = ctx.delegations.of(owner)
  const more = { settingsUrl: settingsUrl(ctx), ...(delegation.state === 'given' ? {} : { delegation }) }
  return notDelegated(act, owner, caller === owner, more)
}

function serverOf(ctx: GatewayContext, { owner }: Ground): Promise<string> {
  return hostOf(ctx, owner).catch(() => 'the owner’s account server')
}
