import { type ObjectsPlace, objectTypes } from './objects.ts'
import { isCommitId } from './ref-names.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { runGit } from './run.ts'
import { splitLines } from './split-stream.ts'
import { words } from './words.ts'

/** `too-long`: more than `most` commits; `none`: the first-parent line of `to` never meets `from`, or one of them is not there. */
export type Chain = { ok: true; ids: string[] } | { ok: false; why: 'too-long' | 'none' }

/**
 * The commits on the first-parent line from `from`, not included, to `to`, oldest first (GWY-4); empty when both are the same. No more of a history
 * is looked at than the bound, unless it is exceeded. Throws when git fails.
 */
export async function firstParentChain(place: ObjectsPlace, asked: { from: string; to: string; most: number }): Promise<Chain> {
  const { from, to, most } = asked
  if (!isCommitId(from) || !isCommitId(to)) return { ok: false, why: 'none' }
  if (from === to) return { ok: true, ids: [] }
  const ids: string[] = []
  let met = false
  const onOutput = splitLines(41, line => {
    const id = line.toString('latin1')
    met = id === from
    if (!met) ids.push(id)
    return !met
  })
  const run = await runGit(['rev-list', '--first-parent', `--max-count=${most + 1}`, to, '--'], { ...place, onOutput })
  if (met) return ids[0] === to ? { ok: true, ids: ids.toReversed() } : { ok: false, why: 'none' }
  if (run.ended !== 'exit') throw new Error(`git rev-list failed (${run.ended})`)
  if (run.code !== 0 || ids.length <= most) return { ok: false, why: 'none' }
  const below = await isAncestor(place, from, to)
  return { ok: false, why: below.ok && below.ancestor ? 'too-long' : 'none' }
}

/** Whether `commit` is `tip` or in its history; a commit that is not there is not (STA-5, HON-8). Refused when `tip` is not there. */
export async function isAncestor(place: ObjectsPlace, commit: string, tip: string): Promise<{ ok: true; ancestor: boolean } | GitRefusal> {
  if (!isCommitId(tip)) return refuse('missing-commit', words.missingCommit(tip))
  const [top, found] = await objectTypes(place, isCommitId(commit) ? [tip, commit] : [tip])
  if (top?.type !== 'commit') return refuse('missing-commit', words.missingCommit(tip))
  if (found?.type !== 'commit') return { ok: true, ancestor: false }
  if (commit === tip) return { ok: true, ancestor: true }
  const run = await runGit(['merge-base', '--is-ancestor', commit, tip], place)
  if (run.code === 0 || run.code === 1) return { ok: true, ancestor: run.code === 0 }
  return refuse('failed', words.gitFailed('read the history of the branch'))
}
