/** A repository's branches: their queues, batches, ejections and landings (QUE-1). */
import { readBatches, readDrops, readEveryBatch, readLanded } from './batches.ts'
import type { SortedChecks } from './checks.ts'
import type { RepoRecord, RepositoryFacts, Stored } from './facts.ts'
import { readHalving } from './halving.ts'
import { byPosition } from './positions.ts'
import { factsAtTip } from './pulls.ts'
import type { BranchRef } from './refs.ts'
import { readRules } from './roles.ts'
import { tidMillis } from './tid.ts'
import type { BranchView, PullView, Roles } from './view.ts'

/** Batches kept of a branch beside those in flight, for what became of them. */
const EVERY_KEPT = 200

interface BranchFacts {
  facts: RepositoryFacts
  governing: Stored<RepoRecord>
  roles: Roles
  branchRefs: ReadonlyMap<string, BranchRef> | undefined
  pulls: ReadonlyMap<string, PullView>
  checks: SortedChecks
  lander: string | undefined
}

/** By name: the default branch first, then each with a rule, then each that an open pull targets. */
export function readBranches(ctx: BranchFacts): ReadonlyMap<string, BranchView> {
  const { defaultBranch } = ctx.governing.value
  const rules = readRules(ctx.governing.value)
  const byBranch = groupByBranch(ctx.pulls)
  const names = new Set([defaultBranch, ...rules.keys()])
  for (const [branch, pulls] of byBranch) if (pulls.some(pull => pull.state === 'open')) names.add(branch)

  const branches = new Map<string, BranchView>()
  for (const branch of names) {
    const ref = ctx.branchRefs?.get(branch)
    const pulls = byBranch.get(branch) ?? []
    const generation = ref?.generation ?? 0
    const checks = ctx.checks.ofBatches.get(branch) ?? []
    const atTip = factsAtTip(ctx.facts, branch, ref?.commit)
    const workflows = atTip?.workflows
    const batches = { branch, tip: ref?.commit, generation, checks, pulls: ctx.pulls, roles: ctx.roles, lander: ctx.lander }
    const every = readEveryBatch(batches)
    const queue = inOrder(pulls, pull => pull.entry?.record)
    branches.set(branch, {
      branch,
      tip: ref?.commit,
      generation,
      isDefault: branch === defaultBranch,
      queueOnly: rules.get(branch)?.queueOnly ?? false,
      pinned: rules.get(branch)?.pinned ?? false,
      queue,
      batches: readBatches(batches, every),
      every: every.slice(0, EVERY_KEPT),
      drops: readDrops(every),
      halving: readHalving({ tip: ref?.commit, queue }, every, ctx.pulls),
      ejected: inOrder(pulls, pull => pull.ejection).reverse(),
      lastEjectedAt: lastEjection(pulls),
      landed: readLanded({ branch, pulls: new Map(pulls.map(pull => [pull.pull.uri, pull])), checks }),
      settings: atTip?.settings,
      unchecked: workflows === undefined ? undefined : workflows.length === 0,
    })
  }
  return branches
}

/** When a pull was turned away last, whatever became of it since. */
function lastEjection(pulls: readonly PullView[]): number | undefined {
  let last = ''
  for (const { history } of pulls) {
    const key = history.findLast(({ value }) => value.state === 'ejected')?.rkey ?? ''
    if (key > last) last = key
  }
  return last === '' ? undefined : tidMillis(last)
}

/** QUE-3: a pull is on the branch that it names now, with the key that it has. */
function groupByBranch(pulls: ReadonlyMap<string, PullView>): ReadonlyMap<string, PullView[]> {
  const groups = new Map<string, PullView[]>()
  for (const pull of pulls.values()) {
    const group = groups.get(pull.branch)
    if (group === undefined) groups.set(pull.branch, [pull])
    else group.push(pull)
  }
  return groups
}

/** The pulls that have such a record, that of the oldest key first (QUE-6: nothing else orders them). */
function inOrder(pulls: readonly PullView[], recordOf: (pull: PullView) => { rkey: string; did: string } | undefined): PullView[] {
  const placed: { pull: PullView; at: { rkey: string; did: string } }[] = []
  for (const pull of pulls) {
    const at = recordOf(pull)
    if (at !== undefined) placed.push({ pull, at })
  }
  return placed.sort((a, b) => byPosition(a.at, b.at)).map(({ pull }) => pull)
}
