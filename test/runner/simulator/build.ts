/** The world's builder: stacks as BLD-2 to BLD-8 say, over sets of changes. */
import type { Action, LeftOut, Member, Result } from '../../../src/runner/planner/types.ts'
import type { Dice } from './dice.ts'
import { count } from './facts.ts'
import { type Commit, clash, commitId, type HeadCommit, treeId } from './trees.ts'
import type { World } from './world.ts'

type Build = Action & { do: 'build' }

/** Carries a `build` on a branch out. */
export function build(world: World, name: string, order: Build, dice: Dice): Result {
  const base = world.commits.get(order.base)
  if (base === undefined || (!world.still && dice.chance(world.climate.trouble))) {
    count(world.facts, 'builds in trouble')
    return { of: 'build', id: order.id, ok: false, said: 'git does not answer' }
  }
  const left = new Map<string, LeftOut>()
  const members: Member[] = []
  const stacked: { member: Member; branch: string }[] = []
  let at: Commit = base
  for (const candidate of order.candidates) {
    if (members.length >= order.most) break
    const out = leftOut(world, base, at, stacked, candidate.pull)
    if (out !== undefined) {
      left.set(candidate.key, out)
      world.facts.left.set(`${name} ${candidate.key}`, { left: out, base: order.base, under: order.under })
      continue
    }
    const pull = world.byUri.get(candidate.pull)
    if (pull === undefined) throw new Error(`no pull ${candidate.pull}`)
    const commit: Commit = { id: commitId(world.trees, 'squash-'), parent: at, tree: at.tree | pull.head.tree }
    world.commits.set(commit.id, commit)
    at = commit
    const { entry, key } = candidate
    const member = { pull: pull.uri, entry, key, head: pull.head.id, commit: commit.id, tree: treeId(commit.tree) }
    members.push(member)
    stacked.push({ member, branch: pull.headBranch })
    world.facts.left.delete(`${name} ${key}`)
  }
  noteHalf(world, name, members, left)
  count(world.facts, 'builds')
  if (order.under !== undefined) count(world.facts, 'builds ahead')
  return { of: 'build', id: order.id, ok: true, stack: members.length === 0 ? null : { tip: at.id, tree: treeId(at.tree), members }, left }
}

/** A half that is not whole, or has other heads, finds nobody: what failed is no longer what there is. */
function noteHalf(world: World, name: string, members: readonly Member[], left: ReadonlyMap<string, LeftOut>): void {
  const failed = world.facts.failed.get(name)
  if (failed === undefined) return
  const isOther = (key: string, head: string) => left.has(key) || members.some(member => member.key === key && member.head !== head)
  if (failed.members.some(({ key, head }) => isOther(key, head))) world.facts.failed.delete(name)
}

function leftOut(
  world: World,
  base: Commit,
  at: Commit,
  stacked: readonly { member: Member; branch: string }[],
  uri: string,
): LeftOut | undefined {
  const pull = world.byUri.get(uri)
  if (pull === undefined) return { why: 'gone' }
  if (pull.where === 'unreadable') return { why: 'unreadable', server: 'fork.example' }
  if (pull.where !== 'at') return { why: pull.where }
  const out = leftHead(world, base, at, stacked, pull.head)
  return out === undefined ? undefined : { ...out, head: pull.head.id }
}

function leftHead(
  world: World,
  base: Commit,
  at: Commit,
  stacked: readonly { member: Member; branch: string }[],
  head: HeadCommit,
): LeftOut | undefined {
  if ((head.tree & world.trees.hostile) !== 0n) return { why: 'hostile', detail: 'A file in it lies outside of its tree.' }
  const files = [`f${head.changes[0] ?? 0}.txt`]
  if (clash(world.trees, base.tree, head)) return { why: 'conflict', files, more: 0, with: [] }
  if (clash(world.trees, at.tree, head)) {
    const against = stacked.filter(({ member }) => {
      const other = world.heads.get(member.head)
      return other !== undefined && clash(world.trees, other.tree, head)
    })
    return { why: 'conflict', files, more: 0, with: against.map(({ member, branch }) => ({ pull: member.pull, branch })) }
  }
  if ((at.tree | head.tree) === at.tree) return { why: 'empty' }
  return undefined
}
