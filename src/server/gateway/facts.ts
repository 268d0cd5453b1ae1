import type { GatewayFacts } from '../../queue/asking.ts'
import type { Context } from '../context.ts'

/** This server as a gateway before an owner: what pages, answers and admission say of it (ADM-10). */
export function gatewayFacts(ctx: Pick<Context, 'config' | 'delegations'>, owner: string): GatewayFacts {
  return { did: ctx.config.did, delegation: ctx.delegations.of(owner), settingsUrl: `${ctx.config.publicUrl}${delegationPath}` }
}

/** Where the owner gives and withdraws. */
export const delegationPath = '/settings#delegation'
