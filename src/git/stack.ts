import { randomBytes } from 'node:crypto'
import { type CommitObject, readCommits } from './commit-objects.ts'
import { admitLoose, dropLoose, writeBlob, writeMirrorCommit } from './loose.ts'
import { mergeIn } from './merge.ts'
import { openMergeLoop } from './merge-loop.ts'
import { type CheckedHeads, headFaults, mergeAlone, type PairOutcome } from './merge-pairs.ts'
import type { Mirror } from './mirror.ts'
import type { ObjectsPlace } from './objects.ts'
import { openQuarantine } from './quarantine.ts'
import { isCommitId } from './ref-names.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { type SquashText, squashCommit } from './squash.ts'
import { touchedBy } from './touched.ts'
import { words } from './words.ts'

/** A pull's head, and what its squash says. */
export interface StackHead {
  head: string
  text: SquashText
}

/** What became of a head: stacked, or why not. */
export type Stacked =
  | { in: true; commit: string; tree: string }
  /** `with`: places in the stack, counted from 0, of those that change the files; none when it is the base alone that it conflicts with (BLD-6). */
  | { in: false; why: 'conflict'; files: readonly string[]; more: number; with: readonly number[] }
  /** It changes nothing on the base (BLD-8). */
  | { in: false; why: 'empty' }
  /** It changes nothing on what is stacked before it, which may not land. */
  | { in: false; why: 'covered' }
  /** It cannot be merged, whatever it is stacked on. */
  | { in: false; why: 'bad'; fault: GitRefusal }

/** Squash commits one on the other (BLD-3). */
export interface Stack {
  /** Stacks heads in their order until there are `most`; outcomes of those that were tried. Refused: the base or git itself cannot be used. */
  add(heads: readonly StackHead[], most: number): Promise<{ ok: true; outcomes: Stacked[] } | GitRefusal>
  /** What is stacked, as it is to be landed: with a commit that `isUsed` for none of them, its time moved on where it would be (CHK-10). */
  finish(isUsed: (commit: string) => boolean): Promise<{ head: string; commit: string; tree: string }[]>
  close(): Promise<void>
}

export interface StackOptions {
  base: string
  /** The runner's DID. */
  committer: string
  /** In seconds since 1970. */
  time: number
  /** Heads that were found within bounds before. */
  checked?: CheckedHeads | undefined
  signal?: AbortSignal | undefined
}

interface Member extends StackHead {
  commit: string
  tree: string
  last: CommitObject
}

/** The next heads, looked at while they are merged. */
interface Look {
  base: CommitObject | undefined
  lasts: readonly (CommitObject | undefined)[]
  faults: readonly (GitRefusal | undefined)[]
}

/**
 * Opens a stack on a commit of the mirror, which has the heads as well. Each merge is made in a quarantine, and only what is stacked comes from there
 * into the mirror: objects first, then the commit. Each head is held against the bounds of STO-11 before anything of it is taken.
 */
export async function openStack(mirror: Mirror, options: StackOptions): Promise<Stack> {
  const { base, committer, checked, signal } = options
  const quarantine = await openQuarantine(mirror)
  const place: ObjectsPlace = { dir: mirror.dir, env: quarantine.env, signal }
  const loop = openMergeLoop(place)
  let members: Member[] = []
  let tip = { commit: base, tree: '' }
  let { time } = options

  async function lookAt(heads: readonly StackHead[]): Promise<Look> {
    const pairs = heads.map(({ head }) => ({ onto: base, head }))
    const [[first, ...lasts], faults] = await Promise.all([
      readCommits(place, [base, ...heads.map(({ head }) => head)]),
      headFaults(place, pairs, checked),
    ])
    return { base: first, lasts, faults }
  }

  /** The merge of a head onto a commit; its objects lie in the quarantine. */
  async function merged(onto: string, head: string): Promise<PairOutcome> {
    const outcome = await loop.merge(onto, head)
    return outcome === 'unsaid' ? await mergeAlone(place, onto, head) : outcome
  }

  async function commitOn(parent: string, member: Pick<Member, 'text' | 'tree' | 'last'>): Promise<string> {
    const { text, tree, last } = member
    return await writeMirrorCommit(mirror, squashCommit({ ...text, tree, parent, head: last, committer, time }))
  }

  async function judge(one: StackHead, outcome: PairOutcome, last: CommitObject, baseTree: string): Promise<Stacked> {
    if (outcome.applies === null) return { in: false, why: 'bad', fault: outcome.unread }
    if (outcome.applies && outcome.tree !== tip.tree) {
      await admitLoose(mirror, quarantine.dir)
      const { tree } = outcome
      const commit = await commitOn(tip.commit, { text: one.text, tree, last })
      members.push({ ...one, commit, tree, last })
      tip = { commit, tree }
      return { in: true, commit, tree }
    }
    await dropLoose(quarantine.dir)
    // Only what the base says counts against the pull itself: all else may not land.
    const alone = members.length === 0 ? outcome : await merged(base, one.head)
    if (members.length > 0) await dropLoose(quarantine.dir)
    if (alone.applies === null) return { in: false, why: 'bad', fault: alone.unread }
    if (alone.applies && alone.tree === baseTree) return { in: false, why: 'empty' }
    if (outcome.applies) return { in: false, why: 'covered' }
    const { conflicts, moreConflicts } = alone.applies ? outcome : alone
    const before = alone.applies ? await touchedBy(place, commitsOf(members), conflicts) : []
    return { in: false, why: 'conflict', files: conflicts, more: moreConflicts, with: before }
  }

  async function add(heads: readonly StackHead[], most: number): Promise<{ ok: true; outcomes: Stacked[] } | GitRefusal> {
    const outcomes: Stacked[] = []
    const looking = lookAt(heads)
    // It is waited for after the first merge.
    looking.catch(() => undefined)
    for (const [at, one] of heads.entries()) {
      if (members.length >= most) break
      const outcome = await merged(tip.commit, one.head)
      const look = await looking
      if (look.base === undefined) return refuse('missing-commit', words.missingCommit(base))
      if (members.length === 0) tip = { commit: base, tree: look.base.tree }
      const last = look.lasts[at]
      const fault = look.faults[at] ?? (last === undefined ? refuse('missing-commit', words.missingCommit(one.head)) : undefined)
      if (fault !== undefined || last === undefined) {
        await dropLoose(quarantine.dir)
        outcomes.push({ in: false, why: 'bad', fault: fault ?? refuse('missing-commit', words.missingCommit(one.head)) })
      } else outcomes.push(await judge(one, outcome, last, look.base.tree))
      const now = outcomes.at(-1)
      if (now?.in === false && now.why === 'bad' && now.fault.code === 'failed' && !(await works())) return now.fault
    }
    return { ok: true, outcomes }
  }

  /** Whether git can merge here at all, and there is room to write: what it fails at is then the head's own doing. */
  async function works(): Promise<boolean> {
    if (signal?.aborted) return false
    await writeBlob(place, randomBytes(2 ** 20))
    const alone = await mergeIn(place, base, base)
    await dropLoose(quarantine.dir)
    return alone.ok
  }

  async function finish(isUsed: (commit: string) => boolean) {
    while (members.length > 0 && isUsed(tip.commit)) {
      time += 1
      const again: Member[] = []
      for (const member of members) {
        const commit = await commitOn(again.at(-1)?.commit ?? base, member)
        again.push({ ...member, commit })
      }
      members = again
      tip = { ...tip, commit: again.at(-1)?.commit ?? base }
    }
    return members.map(({ head, commit, tree }) => ({ head, commit, tree }))
  }

  return {
    async add(heads, most) {
      if (!isCommitId(base)) return refuse('missing-commit', words.missingCommit(base))
      try {
        return await add(heads, most)
      } catch (error) {
        if (signal?.aborted) return refuse('failed', words.gitFailed('merge the branches'))
        throw error
      }
    },
    finish,
    async close() {
      loop.close()
      await quarantine.close()
    },
  }
}

function commitsOf(members: readonly Member[]): string[] {
  return members.map(({ commit }) => commit)
}
