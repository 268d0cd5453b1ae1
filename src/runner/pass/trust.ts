import { parseAtUri } from '../../atproto/ids.ts'
import type { RepositoryView } from '../../queue/view.ts'

/** CHK-2: every author, and every account that holds a head, is owner or collaborator. A pull that is not known is nobody's. */
export function isTrusted(view: RepositoryView, pulls: readonly string[]): boolean {
  return pulls.every(uri => {
    const pull = view.pulls.get(uri)
    const holder = parseAtUri(pull?.pull.value.head.repo)?.did
    return pull !== undefined && holder !== undefined && view.roles.mayMerge(pull.pull.did) && view.roles.mayMerge(holder)
  })
}
