/** As whom somebody asks the gateway, by the owner's record alone (GWY-9). */
import type { RepositoryView, Roles } from '../../../queue/view.ts'

/**
 * `lander-collaborator`: a named runner that may push as well. `lander`: a named runner that may not, and whose batches are taken (GWY-3).
 * `runner`: named, and neither.
 */
export type Role = 'owner' | 'collaborator' | 'lander-collaborator' | 'lander' | 'runner' | 'stranger'

/** The role of an account. Records of landers, and who of them runs, change nothing here (GWY-9). */
export function roleOf(view: RepositoryView, caller: string): Role {
  const { roles } = view
  if (caller === roles.owner) return 'owner'
  const isNamed = roles.namedRunner(caller)
  if (roles.mayMerge(caller)) return isNamed ? 'lander-collaborator' : 'collaborator'
  if (!isNamed) return 'stranger'
  return landerByRecord(roles) === caller ? 'lander' : 'runner'
}

/** Who lands here: the first named runner that may push; if none may, the first named one. Undefined where no runner is named. */
export function landerByRecord(roles: Roles): string | undefined {
  return roles.runners.find(did => roles.mayMerge(did)) ?? roles.runners[0]
}
