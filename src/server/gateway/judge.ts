/** The one rule function, asked over a ground. */
import type { Did } from '../../atproto/ids.ts'
import type { GatewayFacts } from '../../queue/asking.ts'
import { auditText } from '../../queue/words/gateway.ts'
import { namesOf } from '../names.ts'
import { type GatewayContext, settingsUrl } from './context.ts'
import type { Ground } from './gather.ts'
import type { Asked } from './rules/asked.ts'
import { judgeGateway } from './rules/judge.ts'
import { auditReason } from './rules/reason.ts'
import type { AuditEntry, Door, GatewayVerdict, MoveFacts, MoveVerdict, RefMove } from './types.ts'

/** Who asks for what. */
export interface Wish {
  door: Door
  caller: Did
  moves: readonly RefMove[]
}

/** This server as the queue's rules see it, before an owner. */
export function gatewayFacts(ctx: GatewayContext, owner: string): GatewayFacts {
  return { did: ctx.config.did, delegation: ctx.delegations.of(owner), settingsUrl: settingsUrl(ctx) }
}

/** The question before git was asked. */
export function askedOf(ctx: GatewayContext, ground: Ground, wish: Wish): Asked {
  return {
    ...wish,
    server: ctx.config.did,
    settingsUrl: settingsUrl(ctx),
    delegation: ctx.delegations.of(ground.owner),
    view: ground.view,
    refs: new Map(ground.refs?.refs.map(row => [row.name, row.commit])),
    fromIndex: ground.fromIndex,
  }
}

export function judge(asked: Asked, facts: ReadonlyMap<string, MoveFacts>): GatewayVerdict {
  return judgeGateway({ ...asked, facts })
}

/** The line of the audit log for a move (GWY-6). */
export function auditEntry(ctx: GatewayContext, ground: Ground, wish: Wish, move: RefMove, verdict: MoveVerdict): AuditEntry {
  const names = namesOf(ctx.database, ground.view)
  const { reason, code, note } = auditReason(verdict, move, ground.fromIndex)
  return {
    owner: ground.owner,
    repo: ground.repo,
    caller: wish.caller,
    door: wish.door,
    ref: move.name,
    from: move.old,
    to: move.new,
    reason: auditText(reason, names),
    code,
    note: note && auditText(note, names),
  }
}
