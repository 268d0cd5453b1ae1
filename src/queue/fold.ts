/** The one fold: a repository's facts in, its pulls and queues out. Any order and any duplication of the same records give the same view. */
import { readBranches } from './branches.ts'
import { sortChecks } from './checks.ts'
import { collect } from './collect.ts'
import { readDecisions } from './decisions.ts'
import type { RepositoryFacts } from './facts.ts'
import { createHonour } from './honour.ts'
import { nextGone, readLander } from './landers.ts'
import { readPull } from './pulls.ts'
import { once } from './records.ts'
import { readRefs } from './refs.ts'
import { overBounds, readRoles } from './roles.ts'
import { readStanding } from './transfer.ts'
import type { PullView, RepositoryView } from './view.ts'

/**
 * Who may what, where each pull stands and what each branch's queue is, at `now` (milliseconds since 1970). Records of strangers change
 * nothing but the counts of what was ignored (HON-2). After a transfer that holds, the record at the new address governs, whichever of the
 * two was asked for (HON-4).
 */
export function foldRepository(facts: RepositoryFacts, now: number): RepositoryView {
  const standing = readStanding(facts, now)
  const { governing, addresses } = standing
  const roles = readRoles(governing)
  const home = governing.uri
  const addressNow = (repo: string) => (addresses.has(repo) ? home : repo)
  const refs = readRefs(facts.refs, addressNow)
  const collected = collect(facts, { now, addresses, honour: createHonour(standing, roles) })
  collected.ignored.add('over-bound', overBounds(governing.value))

  const branchRefs = refs.branchesOf(home)
  const pulls = new Map<string, PullView>()
  const context = { facts, refs, branchRefs, home, addressNow }
  const decisions = readDecisions(facts.decisions ?? [], roles, addresses)
  for (const material of collected.pulls) {
    const { uri } = material.pull
    pulls.set(uri, { ...readPull(material, context), decisions: decisions.get(uri) })
  }

  const checks = sortChecks(once(facts.checks), roles, addresses)
  const landers = once(facts.landers)
  const lander = readLander(landers, roles, addresses, now)
  const wakes = [collected.wakesAt, standing.holdsAt, nextGone(landers, now)].filter(time => time !== undefined)
  return {
    uri: facts.repo.uri,
    name: facts.repo.rkey,
    record: governing,
    roles,
    movedTo: governing === facts.repo ? undefined : governing.uri,
    present: branchRefs === undefined ? nowhere(facts, home) : new Set(branchRefs.keys()),
    branches: readBranches({ facts, governing, roles, branchRefs, pulls, checks, lander: lander?.did }),
    pulls,
    checksOf: pull => checks.ofPull(pull),
    lander,
    ignored: collected.ignored.counts,
    sleeping: collected.sleeping,
    wakesAt: wakes.length === 0 ? undefined : Math.min(...wakes),
  }
}

/** Where nothing was pushed yet there is no branch. */
function nowhere(facts: RepositoryFacts, home: string): ReadonlySet<string> | undefined {
  return facts.gitFaults?.get(home)?.code === 'no-refs' ? new Set() : undefined
}
