import type { IndexDatabase } from '../indexer/database.ts'
import { handlesOf } from '../indexer/read.ts'
import type { RepositoryView } from '../queue/view.ts'
import type { Names } from '../queue/words/phrase.ts'

/** How many accounts are looked up at once before a sentence asks for one. */
const AHEAD = 1_000

/** The handles of those who have to do with a repository, read in one step; anybody else is looked up when a sentence names them. */
export function namesOf(index: IndexDatabase, view?: RepositoryView): Names {
  const ahead = view === undefined ? [] : [...accountsOf(view)].slice(0, AHEAD)
  const known = handlesOf(index, ahead)
  const asked = new Set(ahead)
  return did => {
    if (asked.has(did)) return known.get(did)
    asked.add(did)
    const handle = handlesOf(index, [did]).get(did)
    if (handle !== undefined) known.set(did, handle)
    return handle
  }
}

function accountsOf(view: RepositoryView): Set<string> {
  const { owner, collaborators, runners } = view.roles
  const queued = [...view.branches.values()].flatMap(branch => branch.queue.flatMap(pull => [pull.pull.did, pull.entry?.by ?? owner]))
  return new Set([owner, ...collaborators, ...runners, ...queued])
}
