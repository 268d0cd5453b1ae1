/** Whether a repository's queues are landed through a server, and whether its owner lets that server write (WHO-4, ADM-10, GWY-12). */
import type { GatewayFacts } from './asking.ts'
import type { RepositoryView } from './view.ts'
import type { NoDelegation } from './words/refusals.ts'

/** The gateway that the repository names, where that is another than the one that is asked. */
export function namesOther(view: RepositoryView, gateway: GatewayFacts | undefined): string | undefined {
  const named = view.record.value.gateway
  return gateway === undefined || named === undefined || named === gateway.did ? undefined : named
}

/**
 * What keeps the queues from landing: they are landed through the server that is asked, since the lander is not the owner and the repository names
 * no other gateway, and the owner's delegation to it does not stand. Undefined where nothing is in the way, or nobody lands.
 */
export function lacksDelegation(view: RepositoryView, gateway: GatewayFacts | undefined): NoDelegation | undefined {
  const lander = view.lander?.did
  if (gateway === undefined || lander === undefined || lander === view.roles.owner) return undefined
  if (namesOther(view, gateway) !== undefined || gateway.delegation.state === 'given') return undefined
  return gateway.delegation
}

/** Since when a delegation is lacking, in milliseconds since 1970; undefined when there never was one. */
export function lackingSince(delegation: NoDelegation): number | undefined {
  return delegation.state === 'never' ? undefined : delegation.at
}
