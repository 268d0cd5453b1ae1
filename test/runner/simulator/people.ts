/** What people do: each takes a world and dice, and says what happened. */
import type { Dice } from './dice.ts'
import { count } from './facts.ts'
import type { Pull } from './records.ts'
import { type Commit, clash, commitId, heal, makeHead, newChange } from './trees.ts'
import { authors, branches, branchOf, isOn, may, nextKey, owner, truth, type World, write } from './world.ts'

function workflowsOf(world: World): readonly string[] {
  return world.climate.preflights.length === 0 || world.climate.workflows.includes('check')
    ? world.climate.workflows
    : [...world.climate.workflows, ...world.climate.preflights]
}

function setHead(world: World, pull: Pull, changes: readonly number[]): void {
  pull.head = makeHead(world.trees, changes)
  world.heads.set(pull.head.id, pull.head)
}

function openPull(world: World, dice: Dice): Pull {
  const n = world.pulls.length + 1
  const author = dice.pick(authors) ?? owner
  const change = newChange(world.trees, dice, world.climate.temper, workflowsOf(world))
  const below = dice.chance(0.1) ? dice.pick(world.pulls) : undefined
  const head = makeHead(world.trees, below === undefined ? [change] : [change, ...below.head.changes])
  world.heads.set(head.id, head)
  const pull: Pull = {
    uri: `at://${author}/dev.knotless.pull/p${n}`,
    author,
    headBranch: `topic-${n}`,
    headRepo: author === 'did:plc:fork' ? `at://${author}/dev.knotless.repo/fork` : `at://${owner}/dev.knotless.repo/orchard`,
    title: `pull ${n}`,
    head,
    where: 'at',
    unreadableSince: 0,
    readAt: world.now,
    flights: [],
    knownClash: undefined,
    records: [],
    truth: undefined,
  }
  world.pulls.push(pull)
  world.byUri.set(pull.uri, pull)
  if (dice.chance(0.12)) write(world, pull, { by: author, what: 'target', branch: 'next' })
  return pull
}

const queuers = [owner, 'did:plc:carol', 'did:plc:dave']

/** Queues a pull, as admission lets it in (ADM): a new one mostly, or one that is out. */
export function enqueue(world: World, dice: Dice): string {
  const by = dice.pick(queuers) ?? owner
  if (!may(world, by)) return `${by} may not queue`
  const out = dice.chance(0.4) ? world.pulls.filter(pull => truth(world, pull).open && truth(world, pull).entry === undefined) : []
  const pull = dice.pick(out) ?? openPull(world, dice)
  const stands = truth(world, pull)
  const tip = branchOf(world, stands.branch).tip
  // ADM-5; what somebody saw who was there a moment before may be wrong by now.
  if (stands.draft || (tip !== undefined && clash(world.trees, tip.tree, pull.head) && !dice.chance(0.3)))
    return `${pull.title} is not let in`
  const fresh = pull.records.every(rec => rec.what === 'target')
  const key = fresh && dice.chance(0.04) ? nextKey(world, 30_000) : undefined
  write(world, pull, { by, what: 'queued', sawHead: pull.head.id, sawBranch: stands.branch, ...(key === undefined ? {} : { key }) })
  count(world.facts, 'queued')
  return `${by} queues ${pull.title} (${pull.head.id}, changes ${pull.head.changes.join(' ')}) onto ${stands.branch}`
}

function somebodyQueued(world: World, dice: Dice): Pull | undefined {
  return dice.pick(world.pulls.filter(pull => truth(world, pull).entry !== undefined))
}

/** Takes a queued pull out, or changes it, in one of the ways there are. */
export function takeOut(world: World, dice: Dice): string {
  const pull = somebodyQueued(world, dice)
  if (pull === undefined) return 'nothing is queued'
  const stands = truth(world, pull)
  const by = dice.pick(queuers) ?? owner
  switch (dice.below(6)) {
    case 0:
    case 1:
      if (!may(world, by) || stands.entry === undefined) return `${by} may not leave`
      write(world, pull, { by, what: 'left', ends: stands.entry.key })
      return `${by} takes ${pull.title} out`
    case 2:
      write(world, pull, { by: pull.author, what: 'closed' })
      return `${pull.title} is closed`
    case 3:
      write(world, pull, { by: pull.author, what: 'draft' })
      return `${pull.title} is made a draft`
    case 4: {
      const branch = stands.branch === branches[0] ? branches[1] : branches[0]
      write(world, pull, { by: pull.author, what: 'target', branch })
      return `${pull.title} is retargeted to ${branch}`
    }
    default:
      if (!may(world, by) || stands.entry === undefined || stands.draft) return `${by} may not queue again`
      write(world, pull, { by, what: 'left', ends: stands.entry.key })
      write(world, pull, { by, what: 'queued', sawHead: pull.head.id, sawBranch: stands.branch })
      return `${by} takes ${pull.title} out and queues it again`
  }
}

/** Opens or undrafts what was closed or held. */
export function putBack(world: World, dice: Dice): string {
  const pull = dice.pick(world.pulls.filter(one => !truth(world, one).open || truth(world, one).draft))
  if (pull === undefined) return 'nothing to open'
  if (truth(world, pull).merged) return openLanded(world, pull)
  const closed = !truth(world, pull).open
  write(world, pull, { by: pull.author, what: closed ? 'open' : 'ready' })
  return `${pull.title} is ${closed ? 'opened again' : 'no draft any more'}`
}

/** HON-8: one that landed is opened again only where its commit is no longer on the branch. */
function openLanded(world: World, pull: Pull): string {
  const commit = pull.records.findLast(rec => rec.what === 'merged')?.commit ?? ''
  if (branches.some(name => isOn(branchOf(world, name), commit))) return `${pull.title} has landed`
  write(world, pull, { by: owner, what: 'open', commit })
  return `${pull.title} is opened again: ${commit} is not on the branch any more`
}

/** A head moves: something new, a mend, or the branch merged in. */
export function pushHead(world: World, dice: Dice): string {
  const pull = dice.chance(0.7) ? somebodyQueued(world, dice) : dice.pick(world.pulls)
  if (pull === undefined || truth(world, pull).merged) return 'nobody pushes'
  const change = newChange(world.trees, dice, world.climate.temper, workflowsOf(world))
  const how = dice.below(3)
  if (how === 1) heal(world.trees, pull.head.tree, change)
  const tip = branchOf(world, truth(world, pull).branch).tip
  const merged = how === 2 && tip !== undefined ? changesIn(tip.tree) : []
  setHead(world, pull, [...new Set([...pull.head.changes, change, ...merged])])
  if (pull.where === 'gone') pull.where = 'at'
  return `${pull.title} moves to ${pull.head.id} (${['a change', 'a mend', 'the branch merged in'][how]})`
}

function changesIn(tree: bigint): number[] {
  const found: number[] = []
  for (let n = 0, left = tree; left !== 0n; n++, left >>= 1n) if ((left & 1n) !== 0n) found.push(n)
  return found
}

/** A head's branch goes, its server falls silent or speaks again, its account is gone. */
export function headTrouble(world: World, dice: Dice): string {
  const pull = dice.chance(0.6) ? somebodyQueued(world, dice) : dice.pick(world.pulls)
  if (pull === undefined || pull.where === 'account-gone') return 'no head to trouble'
  const was = pull.where
  pull.where =
    was === 'at' ? (dice.pick(['unreadable', 'unreadable', 'unreadable', 'gone', 'gone', 'account-gone'] as const) ?? 'gone') : 'at'
  // One that nobody read in between was unreadable all along, for all that the lander can know.
  if (pull.where === 'unreadable' && pull.readAt >= pull.unreadableSince) pull.unreadableSince = world.now
  return `${pull.title}'s head: ${was} → ${pull.where}`
}

/** Somebody moves a branch past the queue: a commit, a pull merged by hand, a force push; or deletes it, or makes it again. */
export function moveBranch(world: World, dice: Dice): string {
  const name = dice.chance(0.75) ? branches[0] : branches[1]
  const branch = branchOf(world, name)
  const { tip } = branch
  world.facts.handMoves++
  if (tip === undefined) {
    const commits = [...world.commits.values()].filter(commit => commit.id.startsWith('hand') || commit.id === 'root')
    branch.tip = dice.pick(commits)
    branch.generation++
    return `${name} is made again at ${branch.tip?.id}`
  }
  const how = dice.below(10)
  if (how === 0) {
    branch.tip = undefined
    return `${name} is deleted`
  }
  if (how === 1 && tip.parent !== undefined) {
    branch.tip = tip.parent
    return `${name} is forced back to ${tip.parent.id}`
  }
  if (how === 2 || how === 3) {
    const pull = dice.pick(world.pulls.filter(one => truth(world, one).open && truth(world, one).branch === name && one.where === 'at'))
    if (pull !== undefined && !clash(world.trees, tip.tree, pull.head)) {
      branch.tip = handCommit(world, tip, tip.tree | pull.head.tree)
      write(world, pull, { by: owner, what: 'merged', commit: branch.tip.id })
      return `${pull.title} is merged into ${name} by hand: ${branch.tip.id}`
    }
  }
  const { temper } = world.climate
  const calm = { ...temper, clash: temper.clash * 2, bad: temper.bad / 4, pair: temper.pair, flaky: 0, hangs: 0, odd: 0 }
  const change = newChange(world.trees, dice, calm, workflowsOf(world))
  if (dice.chance(0.5)) heal(world.trees, tip.tree, change)
  branch.tip = handCommit(world, tip, tip.tree | (1n << BigInt(change)))
  return `${name} is moved by hand to ${branch.tip.id}`
}

function handCommit(world: World, parent: Commit, tree: bigint): Commit {
  const commit = { id: commitId(world.trees, 'hand-'), parent, tree }
  world.commits.set(commit.id, commit)
  return commit
}

/** A collaborator loses or gets back what they may. */
export function rights(world: World, dice: Dice): string {
  const person = world.people.get(dice.chance(0.5) ? 'did:plc:carol' : 'did:plc:dave')
  if (person === undefined) return 'nobody'
  person.mayQueue = !person.mayQueue
  world.unsettled.add(person.did)
  for (const pull of world.pulls) pull.truth = undefined
  return `${person.did} ${person.mayQueue ? 'may' : 'may no longer'} queue`
}
