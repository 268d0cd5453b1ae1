/**
 * What is in a commit, as far as a queue can tell: a tree is a set of changes, one bit each; merging is union. Which changes clash and which sets of
 * them break a workflow is declared when a change is made.
 */
import type { Dice } from './dice.ts'

export interface Commit {
  id: string
  parent: Commit | undefined
  tree: bigint
}

/** A pull's head: the changes in it, by number as well. */
export interface HeadCommit {
  id: string
  tree: bigint
  changes: readonly number[]
}

export type Ending = 'passed' | 'failed' | 'timeout' | 'lost'

/** A tree with every change of `mask` and none of `heals` ends so in the workflow, or in a part of its runs. */
interface Fault {
  mask: bigint
  heals: bigint
  workflow: string
  ends: Ending
  share: number
}

/** A workflow that a change brings. */
interface Brought {
  bit: bigint
  workflow: string
  fileable: boolean
}

/** What is known of changes. */
export interface Trees {
  /** By the number of a change: what it clashes with. */
  clashes: bigint[]
  faults: Fault[]
  brought: Brought[]
  /** Changes that the gateway never takes, and those in a head that is beyond bounds. */
  refused: bigint
  hostile: bigint
  nextCommit: number
}

export function emptyTrees(): Trees {
  return { clashes: [], faults: [], brought: [], refused: 0n, hostile: 0n, nextCommit: 1 }
}

export function commitId(trees: Trees, kind: string): string {
  return `${kind}${trees.nextCommit++}`
}

export function treeId(tree: bigint): string {
  return `t${tree.toString(36)}`
}

/** How good a new change is. */
export interface Temper {
  clash: number
  bad: number
  pair: number
  flaky: number
  hangs: number
  odd: number
}

/** Makes a change up; gives its number. `workflows`: what its faults may break. */
export function newChange(trees: Trees, dice: Dice, temper: Temper, workflows: readonly string[]): number {
  const n = trees.clashes.length
  const bit = 1n << BigInt(n)
  trees.clashes.push(0n)
  if (n > 0 && dice.chance(temper.clash)) {
    const other = Math.max(0, n - 1 - dice.below(6))
    trees.clashes[n] = 1n << BigInt(other)
    trees.clashes[other] = (trees.clashes[other] ?? 0n) | bit
  }
  const workflow = dice.pick(workflows) ?? 'test'
  const fault = (mask: bigint, ends: Ending, share: number) => trees.faults.push({ mask, heals: 0n, workflow, ends, share })
  if (dice.chance(temper.bad)) fault(bit, 'failed', 1)
  if (n > 0 && dice.chance(temper.pair)) fault(bit | (1n << BigInt(Math.max(0, n - 1 - dice.below(5)))), 'failed', 1)
  if (dice.chance(temper.flaky)) fault(bit, 'failed', 0.4)
  if (dice.chance(temper.hangs)) fault(bit, 'timeout', dice.chance(0.5) ? 1 : 0.5)
  if (dice.chance(temper.odd)) {
    const odd = dice.below(5)
    if (odd === 0) trees.refused |= bit
    else if (odd === 1) trees.hostile |= bit
    else if (odd === 2) trees.brought.push({ bit, workflow: `brought-${n}`, fileable: true })
    else if (odd === 3) trees.brought.push({ bit, workflow: `unfileable-${n}`, fileable: false })
    else fault(bit, 'lost', 0.3)
  }
  return n
}

/** Some fault of this tree, if it has one, is healed from now on by this change. */
export function heal(trees: Trees, tree: bigint, change: number): void {
  for (const fault of trees.faults) if ((tree & fault.mask) === fault.mask) fault.heals |= 1n << BigInt(change)
}

export function makeHead(trees: Trees, changes: readonly number[]): HeadCommit {
  let tree = 0n
  for (const n of changes) tree |= 1n << BigInt(n)
  return { id: commitId(trees, 'head-'), tree, changes }
}

/** Whether a head does not apply on a tree. */
export function clash(trees: Trees, tree: bigint, head: HeadCommit): boolean {
  const others = tree & ~head.tree
  if (others === 0n) return false
  for (const n of head.changes) {
    const clashes = trees.clashes[n] ?? 0n
    if (clashes !== 0n && (clashes & others) !== 0n && (tree & (1n << BigInt(n))) === 0n) return true
  }
  return false
}

/** How a run of the workflow on the tree ends, noise aside. */
export function ending(trees: Trees, tree: bigint, workflow: string, dice: Dice): Ending {
  let ends: Ending = 'passed'
  for (const fault of trees.faults) {
    if (fault.workflow !== workflow || (tree & fault.mask) !== fault.mask || (tree & fault.heals) !== 0n) continue
    if (fault.share < 1 && !dice.chance(fault.share)) continue
    if (fault.ends === 'failed') return 'failed'
    ends = fault.ends
  }
  return ends
}

/** What workflows a tree has, on top of those that every tree has. */
export function broughtBy(trees: Trees, tree: bigint): readonly Brought[] {
  if (trees.brought.length === 0) return []
  return trees.brought.filter(one => (tree & one.bit) !== 0n)
}

/** Whether a head took the pre-flights away: then a run of them has nothing to show (PRE-8). */
export function hasNoPreflight(head: HeadCommit | undefined): boolean {
  return head !== undefined && (head.changes[0] ?? 0) % 17 === 3
}
