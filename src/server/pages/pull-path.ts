import type { PullView } from '../../queue/view.ts'
import { pullPath } from '../../views/paths.ts'
import type { Located } from './locate.ts'

/** A pull as a page is about it. */
export type LocatedPull = Located & { pull: PullView }

/** Path of a pull's page. */
export function pathOf(at: LocatedPull): string {
  const { did, uri } = at.pull.pull
  return pullPath(at.head.owner, at.head.name, { did, handle: at.names(did) }, uri)
}
