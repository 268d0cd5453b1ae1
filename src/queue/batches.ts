/** Batches as their checks say (CHK-4, CHK-5, CHK-9, CHK-12), and batches that landed as merged records say (REA-5). */
import type { CheckRecord, Stored } from './facts.ts'
import { isGoing, millis, newestRuns, order, type Run, runState } from './runs.ts'
import { tidMillis } from './tid.ts'
import type { BatchState, BatchView, LandedBatch, PullView, Roles } from './view.ts'
import { readDrop } from './words/runner.ts'

const MOST_IN_FLIGHT = 20
const LANDED_SHOWN = 5
const OUT: ReadonlySet<string> = new Set(['left', 'ejected', 'closed'])
/** How far down a stack is followed; honest ones are two deep. */
const DEEPEST = 50

export interface BatchFacts {
  /** Branch name without refs/heads/. */
  branch: string
  /** Where the branch is; absent when that is not known. */
  tip?: string | undefined
  generation: number
  /** Checks of the repository; those of other branches, generations and pulls are passed over. */
  checks: readonly Stored<CheckRecord>[]
  pulls: ReadonlyMap<string, PullView>
  roles: Roles
  /** Who lands: of two runners that filed for one tip, its checks count. */
  lander?: string | undefined
}

/** When batches were dropped as something moved (MOV-7), in milliseconds since 1970, the newest first; at most 20. What a failure under them ended is none. */
export function readDrops(every: readonly BatchView[]): number[] {
  const failed = new Set(every.filter(batch => batch.state === 'failed').map(batch => batch.tip))
  const dropped = every.filter(batch => batch.state === 'cancelled' && !failed.has(batch.base) && !isFailures(batch))
  return dropped
    .map(({ checks, since }) => Math.max(since, ...checks.map(({ value }) => millis(value.finishedAt) ?? 0)))
    .sort((a, b) => b - a)
    .slice(0, MOST_IN_FLIGHT)
}

function isFailures({ checks }: BatchView): boolean {
  return checks.some(({ value }) => readDrop(value.cause) === 'batch-failed')
}

/** Batches in flight, the one that lands next first and what stands on it after it; at most 20. */
export function readBatches(input: BatchFacts, every: readonly BatchView[] = readEveryBatch(input)): BatchView[] {
  const all = every.filter(batch => inFlight(batch.state))
  const tips = new Map(all.map(batch => [batch.tip, batch]))
  const height = (batch: BatchView): number => {
    const seen = new Set<string>()
    let under = tips.get(batch.base)
    while (under !== undefined && !seen.has(under.tip)) {
      seen.add(under.tip)
      under = tips.get(under.base)
    }
    return seen.size
  }
  const heights = new Map(all.map(batch => [batch, height(batch)]))
  const onTip = (batch: BatchView) => (batch.base === input.tip || batch.tip === input.tip ? 0 : 1)
  all.sort((a, b) => (heights.get(a) ?? 0) - (heights.get(b) ?? 0) || onTip(a) - onTip(b) || a.since - b.since || order(a.tip, b.tip))
  return all.slice(0, MOST_IN_FLIGHT)
}

/** Every batch that checks of named runners tell of (STA-7), newest first, whatever became of it. */
export function readEveryBatch(input: BatchFacts): BatchView[] {
  const groups = new Map<string, Run[]>()
  for (const check of input.checks) {
    const { value } = check
    if (value.batch === undefined || value.batch.length === 0 || value.baseCommit === undefined) continue
    if (!isRefOf(value.ref, input.branch) || value.generation !== input.generation) continue
    if (!input.roles.namedRunner(check.did)) continue
    const key = `${value.commit} ${value.baseCommit}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [check])
    else group.push(check)
  }
  const groupList = [...groups.values()].map(group => readGroup(group, input)).sort((a, b) => b.since - a.since || order(a.tip, b.tip))
  return settle(groupList, input)
}

/** The last five batches that landed on a branch, newest first, read from merged records and not from checks (REA-5). */
export function readLanded(input: {
  branch: string
  pulls: ReadonlyMap<string, PullView>
  /** Checks of the branch's batches. */
  checks: readonly Run[]
  /** How many at most, where not the five that are shown. */
  most?: number
}): LandedBatch[] {
  const byTip = new Map<string, { key: string; pull: string; commit: string; by: string; nothingRan: boolean }[]>()
  for (const pull of input.pulls.values()) {
    const record = pull.stateRecord
    if (pull.state !== 'merged' || pull.branch !== input.branch || pull.mergedThere === false || record === undefined) continue
    const { batch, commit } = record.value
    if (batch === undefined || commit === undefined) continue
    const members = byTip.get(batch) ?? []
    members.push({ key: record.rkey, pull: pull.pull.uri, commit, by: record.did, nothingRan: record.value.nothingRan === true })
    byTip.set(batch, members)
  }
  const landed: { key: string; batch: LandedBatch }[] = []
  for (const [tip, members] of byTip) {
    members.sort((a, b) => order(a.key, b.key) || order(a.pull, b.pull))
    const last = members.at(-1)
    if (last === undefined) continue
    landed.push({
      key: last.key,
      batch: {
        tip,
        by: last.by,
        at: tidMillis(last.key),
        members: members.map(({ pull, commit }) => ({ pull, commit })),
        checks: [],
        nothingRan: members.every(member => member.nothingRan),
      },
    })
  }
  landed.sort((a, b) => order(b.key, a.key))
  return landed.slice(0, input.most ?? LANDED_SHOWN).map(({ batch }) => {
    const own = input.checks.filter(
      check => check.did === batch.by && check.value.commit === batch.tip && isRefOf(check.value.ref, input.branch),
    )
    return { ...batch, checks: newestRuns(own) }
  })
}

/** Whether a batch in this state may still land. */
export function inFlight(state: BatchState): boolean {
  return state !== 'landed' && state !== 'cancelled' && state !== 'failed'
}

/** CHK-12: as many workflows as its checks say that the batch has; a batch whose checks do not say is taken as whole. */
export function isWhole(checks: readonly Run[]): boolean {
  return checks.every(check => checks.length >= (check.value.of ?? 0))
}

/** A batch is one runner's: the lander's where it filed any of these checks, else that of whoever filed first. */
function readGroup(group: readonly Run[], input: BatchFacts): BatchView & { whole: boolean } {
  const inOrder = [...group].sort((a, b) => filedAt(a) - filedAt(b) || order(a.uri, b.uri))
  const first = inOrder.find(check => check.did === input.lander) ?? inOrder[0]
  if (first === undefined) throw new Error('a batch without checks')
  const own = inOrder.filter(check => check.did === first.did)
  const checks = newestRuns(own)
  return {
    branch: input.branch,
    base: first.value.baseCommit ?? '',
    tip: first.value.commit,
    state: 'checking',
    runner: first.did,
    trusted: checks.every(check => check.value.trusted === true),
    isolated: checks.every(check => check.value.isolated !== false),
    members: first.value.batch ?? [],
    checks,
    since: filedAt(first),
    whole: isWhole(checks),
  }
}

/** What its own runs say (CHK-4): skipped and reused ones are not counted (CHK-6), a group that is not whole never passed (CHK-12). */
function ownOutcome(batch: BatchView & { whole: boolean }): 'going' | 'passed' | 'red' | 'cancelled' {
  const states = batch.checks.map(check => check.value).map(value => (isGoing(value) ? 'going' : runState(value)))
  if (states.includes('going')) return 'going'
  if (states.some(state => state === 'failed' || state === 'no-verdict' || state === 'unknown')) return 'red'
  if (states.includes('cancelled') || !batch.whole) return 'cancelled'
  return 'passed'
}

/** Gives each batch its state, those underneath first, since a batch ahead hangs on the one it stands on (CHK-4, FAI-9, AHD-2). */
function settle(batches: readonly (BatchView & { whole: boolean })[], input: BatchFacts): BatchView[] {
  const byTip = new Map(batches.map(batch => [batch.tip, batch]))
  const lastOn = new Map<string, number>()
  for (const batch of batches) lastOn.set(placeOf(batch), Math.max(batch.since, lastOn.get(placeOf(batch)) ?? 0))
  const states = new Map<string, BatchState>()
  const stateOf = (batch: BatchView & { whole: boolean }, above: ReadonlySet<string>): BatchState => {
    const known = states.get(keyOf(batch)) ?? (hasLanded(batch, input.pulls) ? 'landed' : undefined)
    if (known !== undefined) return known
    const under = byTip.get(batch.base)
    // Records may claim a circle of batches, each standing on the next; none of them is under any other then.
    const standsOn = under === undefined || above.has(under.tip) || above.size > DEEPEST || batch.base === input.tip ? undefined : under
    const underState = standsOn === undefined ? undefined : stateOf(standsOn, new Set([...above, batch.tip]))
    // A runner builds anew on a commit once what it built there before is out.
    const isOut = batch.since < (lastOn.get(placeOf(batch)) ?? 0) || isBroken(batch, input.pulls)
    const state = judge(batch, { under: underState, isOut }, input)
    states.set(keyOf(batch), state)
    return state
  }
  return batches.map(batch => {
    const { whole: _, ...view } = batch
    return { ...view, state: stateOf(batch, new Set([batch.tip])) }
  })
}

/** `isOut`: it cannot land any more, unless it has. */
function judge(
  batch: BatchView & { whole: boolean },
  { under, isOut }: { under: BatchState | undefined; isOut: boolean },
  input: BatchFacts,
): BatchState {
  if (under === 'failed' || under === 'cancelled') return 'cancelled'
  const ahead = under !== undefined && under !== 'landed'
  switch (ownOutcome(batch)) {
    case 'going':
      return ahead ? 'ahead' : 'checking'
    case 'red':
      return ahead ? 'red-undecided' : 'failed'
    case 'cancelled':
      return 'cancelled'
    case 'passed': {
      if (ahead) return 'passed-waiting'
      // Its push is done once the branch is at its tip, although its merged records may not have been read yet.
      if (batch.tip === input.tip) return 'landing'
      return !isOut && (batch.base === input.tip || under === 'landed') ? 'landing' : 'cancelled'
    }
  }
}

/** MOV-2: a pull of it did not land and is out of the queue, or was since it began; of those that nothing is known of here that is not said. */
function isBroken(batch: BatchView, pulls: ReadonlyMap<string, PullView>): boolean {
  return batch.members.some(member => {
    const pull = pulls.get(member.pull)
    if (pull === undefined || pull.state === 'merged') return false
    return pull.entry === undefined || pull.history.some(({ rkey, value }) => OUT.has(value.state) && tidMillis(rkey) > batch.since)
  })
}

/** CHK-5: each of its pulls is merged at exactly its batch commit. */
function hasLanded(batch: BatchView, pulls: ReadonlyMap<string, PullView>): boolean {
  return batch.members.every(member => {
    const pull = pulls.get(member.pull)
    return pull?.state === 'merged' && pull.stateRecord?.value.commit === member.commit
  })
}

/** A check names its branch as refs/heads/…; one that leaves that out means the same. */
export function isRefOf(ref: string, branch: string): boolean {
  return ref === `refs/heads/${branch}` || ref === branch
}

function filedAt(check: Run): number {
  return millis(check.value.createdAt) ?? check.seenAt
}

function placeOf(batch: BatchView): string {
  return `${batch.runner} ${batch.base}`
}

function keyOf(batch: BatchView): string {
  return `${batch.tip} ${batch.base}`
}
