import type { FastifyReply, FastifyRequest } from 'fastify'
import { parseAtUri } from '../../atproto/ids.ts'
import { listRepositories } from '../../indexer/read.ts'
import { lacksDelegation } from '../../queue/delegated.ts'
import { auditWords, delegationSays, delegationWords, waitingWords } from '../../queue/words/delegation.ts'
import { gatewayLabels } from '../../queue/words/labels.ts'
import type { Names } from '../../queue/words/phrase.ts'
import type { AuditRow, DelegationSheet, SettingsPage } from '../../views/models.ts'
import { findAccount } from '../auth/find-account.ts'
import type { WebSession } from '../auth/sessions.ts'
import { nameUserAgent } from '../auth/user-agent.ts'
import type { Context } from '../context.ts'
import type { AuditLine } from '../gateway/audit.ts'
import { gatewayFacts } from '../gateway/facts.ts'
import { sendPage } from '../http/answers.ts'
import { frameOf } from '../http/frame.ts'
import { namesOf } from '../names.ts'
import type { Refusal } from '../refusals.ts'

/** What is shown beside the account as it is: what was just refused or has to be said, and where in the log. */
export interface Shown {
  refused?: Refusal | undefined
  notice?: Refusal | undefined
  /** The log's lines before this one. */
  before?: number | undefined
}

const ROWS = 25
/** Repositories of an owner that are looked at for what waits. */
const LOOKED_AT = 100

/** The account's page, as it is now. */
export async function sendSettings(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  session: WebSession,
  shown: Shown = {},
  status = 200,
): Promise<FastifyReply> {
  const found = await findAccount(ctx, session.did)
  const host = found.ok ? found.account.host : undefined
  const sessions = await ctx.sessions.list(session.did)
  const names = namesOf(ctx.database)
  const frame = frameOf(ctx, request, { title: 'Settings', description: 'Sessions, delegation and the audit log of your account.' })
  reply.header('cache-control', 'no-store')
  const model: SettingsPage = {
    frame: { ...frame, names, viewer: { did: session.did, handle: session.handle } },
    host,
    delegation: delegationSheet(ctx, session.did, host),
    sessions: sessions.map(one => ({
      id: one.name,
      name: nameUserAgent(one.userAgent),
      since: one.createdAt,
      usedAt: one.usedAt,
      current: one.name === session.name,
    })),
    audit: auditPart(ctx, session.did, names, shown.before),
    refused: shown.refused,
    notice: shown.notice,
  }
  return sendPage(ctx, reply, 'settings', model, status)
}

function delegationSheet(ctx: Context, owner: string, host: string | undefined): DelegationSheet {
  const delegation = ctx.delegations.of(owner)
  const { what, covers, may, mayNot, withdraw, confirm, exactly } = delegationSays
  return {
    state: delegation.state,
    label: gatewayLabels[delegation.state],
    says: delegationWords(delegation, host),
    ...{ what, covers, may, mayNot, confirm },
    waiting: waitingOf(ctx, owner),
    next: delegation.state === 'given' ? withdraw : exactly(host),
  }
}

/** The owner's repositories whose queues are landed through this server, and hold pulls that cannot land. */
function waitingOf(ctx: Context, owner: string) {
  const gateway = gatewayFacts(ctx, owner)
  if (gateway.delegation.state === 'given') return undefined
  const { repositories } = listRepositories(ctx.database, { owner, limit: LOOKED_AT })
  const waiting = repositories.flatMap(({ uri, name }) => {
    const view = ctx.repositories.viewOf(uri)?.view
    if (view === undefined || lacksDelegation(view, gateway) === undefined) return []
    const queued = [...view.branches.values()].reduce((sum, branch) => sum + branch.queue.length, 0)
    return queued === 0 ? [] : [{ owner, name, queued }]
  })
  return waitingWords(waiting)
}

function auditPart(ctx: Context, owner: string, names: Names, before: number | undefined): SettingsPage['audit'] {
  const lines = ctx.audit.list(owner, { before, limit: ROWS })
  const { all, newer } = ctx.audit.count(owner, before)
  const last = lines.at(-1)
  const older = last !== undefined && newer + lines.length < all ? `/settings?before=${last.id}#audit` : undefined
  const newest = newer > 0 ? '/settings#audit' : undefined
  return {
    rows: lines.flatMap(line => rowOf(line, names)),
    says: auditWords.what,
    none: auditWords.none,
    paging: { from: newer + 1, to: newer + lines.length, of: all, newest, older },
  }
}

function rowOf(line: AuditLine, names: Names): AuditRow[] {
  const address = parseAtUri(line.repo)
  if (address === undefined) return []
  const { id, at, outcome, reason, note, more } = line
  const open = outcome === 'begun' || outcome === 'unknown'
  const why = [reason, note, open ? auditWords.begun : undefined, more > 0 ? auditWords.more(more) : undefined]
  return [
    {
      id,
      at,
      caller: { did: line.caller, handle: names(line.caller) },
      by: auditWords.by[line.door],
      repo: { owner: { did: address.did, handle: names(address.did) }, name: address.rkey },
      ref: line.ref === '' ? undefined : line.ref.replace(/^refs\/(heads|tags)\//, ''),
      from: line.from ?? undefined,
      to: line.to ?? undefined,
      verdict: gatewayLabels[open ? 'unknown' : outcome],
      why: why.filter(part => part !== undefined).join('; '),
    },
  ]
}
