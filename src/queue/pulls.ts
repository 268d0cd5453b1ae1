/** One pull, from the records about it that count and from what git says of its branches. */
import type { PullMaterial } from './collect.ts'
import type { PullRecord, QueueRecord, RepositoryFacts, StateRecord, Stored, TipFacts } from './facts.ts'
import { byPosition } from './positions.ts'
import { readQueue } from './pull-queue.ts'
import { readState, type StateReading } from './pull-state.ts'
import type { BranchRef, Refs } from './refs.ts'
import { tidMillis } from './tid.ts'
import type { PullView, QueueEntry } from './view.ts'

/** A queue record seen this long after its key's time is said to be backdated (REC-9). */
export const BACKDATED_AFTER = 10 * 60_000

interface PullContext {
  facts: RepositoryFacts
  refs: Refs
  /** The repository's own branches; undefined when they are not known. */
  branchRefs: ReadonlyMap<string, BranchRef> | undefined
  /** The address that the repository has now, and the present one of any repository (HON-4). */
  home: string
  addressNow: (repo: string) => string
}

/** Where it stands, its place if it has one, and everything that counted about it. */
export function readPull({ pull, states, queue }: PullMaterial, ctx: PullContext): PullView {
  const { branch } = pull.value
  const tip = ctx.branchRefs?.get(branch)?.commit
  const tipFacts = factsAtTip(ctx.facts, branch, tip)
  const own = readState(states, commit => tipFacts?.contains.get(commit))
  // QUE-2: a pull whose account is gone counts as closed; what landed stays landed.
  const reading: StateReading = own.state === 'open' && ctx.facts.gone.has(pull.did) ? { state: 'closed' } : own
  const closings = states.map(({ record }) => record).filter(({ value }) => value.state !== 'open')
  const { entry, last } = readQueue(queue, closings, own.reopenedAt)
  const draft = pull.value.draft === true
  const placed = reading.state === 'open' && entry !== undefined ? readEntry(entry) : undefined
  const mergedAs = reading.state === 'merged' ? reading.record?.value.commit : undefined
  return {
    pull,
    branch,
    state: reading.state,
    stateRecord: reading.record,
    draft,
    entry: draft ? undefined : placed,
    heldEntry: draft ? placed : undefined,
    lastQueue: last,
    ejection: reading.state === 'open' && last?.value.state === 'ejected' ? last : undefined,
    history: timeline(states, queue),
    ...readHead(pull, tip, ctx),
    mergedThere: mergedAs === undefined || tip === undefined ? undefined : isThere(mergedAs, tipFacts ?? ctx.facts.tips.get(branch), tip),
  }
}

/** STA-5. What was found on the branch where it was before goes for it until it is read again: other landings move it on, and take nothing off it. */
function isThere(commit: string, known: TipFacts | undefined, tip: string): boolean | undefined {
  const found = known?.contains.get(commit)
  return found === true || known?.tip === tip ? found : undefined
}

/** What is known of a branch where it is now; what was looked at elsewhere is passed over. */
export function factsAtTip(facts: RepositoryFacts, branch: string, tip: string | undefined): TipFacts | undefined {
  const found = facts.tips.get(branch)
  return tip !== undefined && found?.tip === tip ? found : undefined
}

function readEntry(record: Stored<QueueRecord>): QueueEntry {
  const keyTime = tidMillis(record.rkey)
  const isLate = !record.backfilled && record.seenAt - keyTime > BACKDATED_AFTER
  return { record, key: record.rkey, by: record.did, backdated: isLate ? { keyTime, seenAt: record.seenAt } : undefined }
}

/** BLD-4: a head branch is gone when the refs record that should have it, read, lacks it or is not there. */
function readHead(
  pull: Stored<PullRecord>,
  tip: string | undefined,
  ctx: PullContext,
): Pick<PullView, 'head' | 'headGone' | 'merge' | 'fault'> {
  const { repo, branch } = pull.value.head
  const branches = ctx.refs.branchesOf(repo)
  const head = branches?.get(branch)?.commit
  const found = ctx.facts.merges.get(pull.uri)
  const merge = head !== undefined && found?.head === head && found.tip === tip ? found : undefined
  const isNowhere = ctx.facts.gitFaults?.get(ctx.addressNow(repo))?.code === 'no-refs'
  const headGone = head === undefined && (branches !== undefined || isNowhere)
  return { head, headGone, merge, fault: headGone ? undefined : readFault(pull, { tip, head, known: merge !== undefined }, ctx) }
}

/** What keeps git from telling; of what may pass nothing is said while the present merge is known. */
function readFault(
  pull: Stored<PullRecord>,
  at: { tip: string | undefined; head: string | undefined; known: boolean },
  { facts, home, addressNow }: PullContext,
): PullView['fault'] {
  const source = addressNow(pull.value.head.repo)
  const target = facts.gitFaults?.get(home)
  const fork = source === home ? undefined : facts.gitFaults?.get(source)
  if (target !== undefined && !(target.passing && at.known)) return { ...target, of: 'target' }
  if (fork !== undefined && !(fork.passing && at.known)) return { ...fork, of: 'head' }
  const merge = facts.mergeFaults?.get(pull.uri)
  if (at.known || merge === undefined || merge.tip !== at.tip || merge.head !== at.head) return undefined
  const { code, message, passing } = merge
  return { code, message, passing, of: 'merge' }
}

function timeline(states: PullMaterial['states'], queue: readonly Stored<QueueRecord>[]): PullView['history'] {
  const history: (Stored<QueueRecord> | Stored<StateRecord>)[] = [...states.map(({ record }) => record), ...queue]
  // Stable, so that of one writer's records of one key the state comes first.
  return history.sort(byPosition)
}
