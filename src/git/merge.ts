import { boundsFault } from './bounds.ts'
import type { Mirror } from './mirror.ts'
import { type ObjectsPlace, objectTypes } from './objects.ts'
import { openQuarantine } from './quarantine.ts'
import { isCommitId } from './ref-names.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { runGit } from './run.ts'
import { nulFields } from './split-stream.ts'
import { words } from './words.ts'

/**
 * What merging a head onto a tip gives. `conflicts`: paths, at most 100; `moreConflicts`: how many are not listed. `changesChecks`: the merge
 * changes `.knotless/**` (ADM-11); where it does not apply, the head does since it left the branch. `nothingToLand`: the tip's tree comes out.
 */
export type MergeOutcome =
  | { ok: true; applies: true; tree: string; changesChecks: boolean; nothingToLand: boolean }
  | { ok: true; applies: false; conflicts: string[]; moreConflicts: number; changesChecks: boolean }

export const shownConflicts = 100
/** Bytes of a path that are read, and what a run of merge-tree may take. */
export const mergeLimits = { path: 4096, run: { timeoutMs: 60_000, ulimit: { memoryKiB: 1_500_000, cpuSeconds: 30 } } } as const
const watched = '.knotless'

/**
 * Merges `head` (in `source`) onto `tip` (in `target`), as lander, gateway and admission all do it (ADM-5, BLD-3, GWY-14). Objects made on the way
 * go to a scratch directory that is removed: neither mirror gets any. Refused: a commit that is not there, no common history, a head out of bounds.
 */
export async function mergeOnto(input: {
  target: Mirror
  tip: string
  source: Mirror
  head: string
  signal?: AbortSignal
}): Promise<MergeOutcome | GitRefusal> {
  const { target, tip, source, head } = input
  const scratch = await openQuarantine(target, source.objects === target.objects ? [] : [source.objects])
  try {
    return await mergeIn({ dir: target.dir, env: scratch.env, signal: input.signal }, tip, head)
  } finally {
    await scratch.close()
  }
}

/** `mergeOnto` where `place` reads both commits and may write: the tree of a clean merge stays there. */
export async function mergeIn(place: ObjectsPlace, tip: string, head: string): Promise<MergeOutcome | GitRefusal> {
  // A missing commit and a conflict have the same exit code: look first.
  const missing = await missingCommit(place, [tip, head])
  if (missing !== undefined) return missing
  const base = await mergeBase(place, tip, head)
  if (!base.ok) return base
  const outOfBounds = await boundsFault(place, base.commit, head)
  if (outOfBounds !== undefined) return outOfBounds

  const fields: string[] = []
  let count = 0
  const onOutput = nulFields(mergeLimits.path, field => {
    count += 1
    if (count <= shownConflicts + 1) fields.push(field.toString('utf8'))
    return true
  })
  const run = await runGit(['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', tip, head], {
    ...place,
    onOutput,
    ...mergeLimits.run,
  })
  const [tree, ...conflicts] = fields
  if (run.ended === 'signal' || run.ended === 'timeout' || /out of memory|cannot allocate/i.test(run.stderr)) {
    return refuse('too-large', words.mergeTooBig())
  }
  if ((run.code !== 0 && run.code !== 1) || tree === undefined || !isCommitId(tree))
    return refuse('failed', words.gitFailed('merge the branch'))
  if (run.code === 1) {
    const changesChecks = await differs(place, base.commit, head)
    return { ok: true, applies: false, conflicts, moreConflicts: count - 1 - conflicts.length, changesChecks }
  }
  const [tipTree] = await objectTypes(place, [`${tip}^{tree}`])
  return { ok: true, applies: true, tree, changesChecks: await differs(place, tip, tree), nothingToLand: tipTree?.id === tree }
}

/** The first of the names that is no commit that is there, as a refusal. */
export async function missingCommit(place: ObjectsPlace, commits: readonly string[]): Promise<GitRefusal | undefined> {
  const bad = commits.find(commit => !isCommitId(commit))
  if (bad !== undefined) return refuse('missing-commit', words.missingCommit(bad))
  const found = await objectTypes(place, commits)
  const at = found.findIndex(object => object?.type !== 'commit')
  return at < 0 ? undefined : refuse('missing-commit', words.missingCommit(commits[at] ?? ''))
}

/** A merge base of two commits that are there. */
export async function mergeBase(place: ObjectsPlace, tip: string, head: string): Promise<{ ok: true; commit: string } | GitRefusal> {
  const run = await runGit(['merge-base', tip, head], place)
  const commit = run.stdout.toString('latin1').trim()
  if (run.code === 0 && isCommitId(commit)) return { ok: true, commit }
  return run.code === 1 ? refuse('unrelated', words.unrelated()) : refuse('failed', words.gitFailed('find the common history'))
}

/** Whether what checks a branch differs between two commits or trees. */
async function differs(place: ObjectsPlace, a: string, b: string): Promise<boolean> {
  const [before, after] = await objectTypes(place, [`${a}:${watched}`, `${b}:${watched}`])
  return before?.id !== after?.id
}
