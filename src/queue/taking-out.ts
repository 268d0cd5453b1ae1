/** Taking an account out of a repository so that nothing comes back in by it, and seeing beforehand what would (HON-5). */
import type { RepoRecord, RepositoryFacts } from './facts.ts'
import { foldRepository } from './fold.ts'
import { order } from './runs.ts'
import { tidAt } from './tid.ts'
import type { RepositoryView } from './view.ts'

/** The number that no other key of the same time exceeds. */
const LAST_WRITER = 1023

/**
 * The repository's record without an account in a role. It goes into `former`, with `until` past the present time and past every record of
 * the account that counts, so that what it took out stays out. With `isVoid` none of its records counts any more: show `comesBack` first.
 */
export function takeOut(
  view: RepositoryView,
  account: { did: string; role: 'collaborator' | 'runner'; isVoid?: boolean },
  now: number,
): RepoRecord {
  const { value } = view.record
  const { role, isVoid = false } = account
  const isOther = (entry: { did: string }) => entry.did !== account.did
  const named = (role === 'collaborator' ? value.collaborators : value.runners).find(entry => !isOther(entry))
  if (named === undefined) return value
  const until = [...keysOf(view, account.did), tidAt(now, LAST_WRITER)].sort(order).at(-1) ?? ''
  return {
    ...value,
    collaborators: role === 'collaborator' ? value.collaborators.filter(isOther) : value.collaborators,
    runners: role === 'runner' ? value.runners.filter(isOther) : value.runners,
    former: [...(value.former ?? []), { did: named.did, role, until, ...(isVoid ? { void: true } : {}) }],
  }
}

/** Addresses of the pulls that would get a place in a queue, or be open again, by changing the governing record to this one; sorted. */
export function comesBack(facts: RepositoryFacts, changed: RepoRecord, now: number): string[] {
  const before = foldRepository(facts, now)
  const after = foldRepository(withRecord(facts, before, changed), now)
  return [...after.pulls.values()]
    .filter(pull => {
      const was = before.pulls.get(pull.pull.uri)
      const isPlaced = pull.entry !== undefined || pull.heldEntry !== undefined
      const wasPlaced = was?.entry !== undefined || was?.heldEntry !== undefined
      return (isPlaced && !wasPlaced) || (pull.state === 'open' && was?.state !== 'open')
    })
    .map(pull => pull.pull.uri)
}

/** After a move the record at the new address governs, whichever was asked for (HON-4). */
function withRecord(facts: RepositoryFacts, view: RepositoryView, value: RepoRecord): RepositoryFacts {
  const record = { ...view.record, value }
  return view.record.uri === facts.repo.uri ? { ...facts, repo: record } : { ...facts, transferredTo: record }
}

function keysOf(view: RepositoryView, did: string): string[] {
  return [...view.pulls.values()].flatMap(pull => pull.history.filter(record => record.did === did).map(record => record.rkey))
}
