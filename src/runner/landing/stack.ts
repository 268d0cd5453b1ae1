/** What lands is what was checked (LND-9): the commits of a batch as git has them, beside what the batch says. */
import { type CommitObject, readCommits } from '../../git/commit-objects.ts'
import type { ObjectsPlace } from '../../git/objects.ts'
import { lastLineOf } from '../../git/squash.ts'
import type { LandedMessage } from '../../queue/closing.ts'
import { words } from './words.ts'

/** A stack as its batch says: its base, its members in their order, and the tree that was checked at its tip. */
export interface Stack {
  base: string
  tip: string
  tree?: string | undefined
  members: readonly { pull: string; commit: string; tree?: string | undefined }[]
}

export type StackRead = { ok: true; messages: readonly LandedMessage[] } | { ok: false; missing: boolean; said: string }

/**
 * Asserts that the stack is one line from its base to its tip, a commit with one parent and the named pull on its last line for each member, and that
 * the trees are those that were checked. Gives the messages that land, in order. Rejects when git fails.
 */
export async function readStack(place: ObjectsPlace, stack: Stack): Promise<StackRead> {
  const commits = await readCommits(
    place,
    stack.members.map(member => member.commit),
  )
  const messages: LandedMessage[] = []
  let parent = stack.base
  for (const [at, member] of stack.members.entries()) {
    const commit = commits[at]
    if (commit === undefined) return { ok: false, missing: true, said: words.noStack }
    const isLast = at === stack.members.length - 1
    if (!isMember(commit, { parent, ...member }) || (isLast && stack.tree !== undefined && commit.tree !== stack.tree)) {
      return { ok: false, missing: false, said: words.notStack(member.commit) }
    }
    messages.push({ pull: member.pull, message: commit.message.toString('utf8') })
    parent = commit.id
  }
  return parent === stack.tip ? { ok: true, messages } : { ok: false, missing: false, said: words.notStack(stack.tip) }
}

function isMember(commit: CommitObject, wanted: { parent: string; pull: string; tree?: string | undefined }): boolean {
  const onIt = commit.parents.length === 1 && commit.parents[0] === wanted.parent
  return onIt && (wanted.tree === undefined || commit.tree === wanted.tree) && lastLineOf(commit.message) === wanted.pull
}
