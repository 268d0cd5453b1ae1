/** Whether this account lands a repository's queues (WHO-1 to WHO-3, WHO-7, GWY-9). Pure. */
import { readRules } from '../../queue/roles.ts'
import type { RepositoryView } from '../../queue/view.ts'

/** `first` lands instead, as far as records say; absent where nobody does. */
export type MayLand = { lands: true } | { lands: false; first?: string | undefined }

/**
 * Whether the account lands, for a branch where one is named. Who asks counts as running, whatever its record says. The view knows who else runs: one
 * whose lease ended two minutes ago does not (`src/queue/landers.ts`). Onto a queue-only branch a collaborator's runner has to be named (GWY-9), so
 * that there an unnamed one neither lands nor keeps others from it.
 */
export function mayLand(view: RepositoryView, did: string, asked: { queue: boolean; branch?: string | undefined }): MayLand {
  const { roles, lander } = view
  const queueOnly = asked.branch !== undefined && readRules(view.record.value).get(asked.branch)?.queueOnly === true
  const named = roles.runners.filter(other => roles.mayMerge(other))
  const pushers = [...new Set([...named, roles.owner, ...roles.collaborators])].filter(
    other => !queueOnly || other === roles.owner || roles.namedRunner(other),
  )
  const running = lander?.running === true && pushers.includes(lander.did) ? lander.did : undefined
  const first = running ?? named[0] ?? roles.runners[0]
  const place = pushers.indexOf(did)
  const lands =
    place >= 0
      ? running === undefined || pushers.indexOf(running) >= place
      : running === undefined && named.length === 0 && did === roles.runners[0]
  return asked.queue && lands ? { lands: true } : { lands: false, first }
}
