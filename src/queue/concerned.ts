import type { RepositoryView } from './view.ts'

const known = new WeakMap<RepositoryView, ReadonlySet<string>>()

/** Whether an account has a part in a repository: its record names it, or it opened or queued one of its pulls. Everybody else sees the same. */
export function isConcerned(view: RepositoryView, did: string): boolean {
  const all = known.get(view) ?? concerned(view)
  known.set(view, all)
  return all.has(did)
}

function concerned({ roles, pulls }: RepositoryView): ReadonlySet<string> {
  const all = new Set([roles.owner, ...roles.collaborators, ...roles.runners])
  for (const { pull, entry } of pulls.values()) {
    all.add(pull.did)
    if (entry !== undefined) all.add(entry.by)
  }
  return all
}
