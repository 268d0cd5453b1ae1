import { boundsFaults } from './bounds.ts'
import { mergeIn, mergeLimits, missingCommit, shownConflicts } from './merge.ts'
import type { ObjectsPlace } from './objects.ts'
import { isCommitId } from './ref-names.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { type GitRun, runGit } from './run.ts'
import { nulFields } from './split-stream.ts'
import { words } from './words.ts'

/** A head to be merged onto a commit. */
export interface MergePair {
  onto: string
  head: string
}

/**
 * What merging a pair gives: a tree that lies in the place; conflicting paths (at most 100) and how many more there are; or why it could not be
 * done, in which case `applies` is null: a commit that is not there, no common history, a head out of bounds.
 */
export type PairOutcome =
  | { applies: true; tree: string }
  | { applies: false; conflicts: string[]; moreConflicts: number }
  | { applies: null; unread: GitRefusal }

/** Heads known to be within bounds against a merge base; an LRU cache will do. */
export interface CheckedHeads {
  has(key: string): boolean
  set(key: string, value: true): unknown
}

/** Pairs of one call; a batch has at most 50. */
const mostPairs = 200

/**
 * Merges pairs of commits by one `merge-tree` for all of them (GWY-4), with the configuration and limits of `mergeIn`, so that both give the same
 * trees. `place` may be written to: a quarantine. Outcomes are in the order of the pairs; one that cannot be merged does not keep the others from
 * it. `checked`: what was found to be within bounds is not walked again.
 */
export async function mergePairs(
  place: ObjectsPlace,
  pairs: readonly MergePair[],
  signal?: AbortSignal,
  checked?: CheckedHeads,
): Promise<{ ok: true; outcomes: PairOutcome[] } | GitRefusal> {
  if (pairs.length > mostPairs) return refuse('too-large', words.tooManyPairs(mostPairs))
  const here = signal === undefined ? place : { ...place, signal }
  // Side by side: a merge runs within its limits whatever it is given, and of a head that is out of bounds it is not looked at.
  const [faults, merged] = await Promise.all([pairFaults(here, pairs, checked), mergeAll(here, pairs)])
  if (here.signal?.aborted) return refuse('failed', words.gitFailed('merge the branch'))
  const outcomes: PairOutcome[] = []
  for (const [at, { onto, head }] of pairs.entries()) {
    const unread = faults?.[at]
    const outcome = faults === undefined ? undefined : merged[at]
    if (unread !== undefined) outcomes.push({ applies: null, unread })
    else outcomes.push(outcome ?? (await mergeAlone(here, onto, head)))
  }
  return { ok: true, outcomes }
}

/** One merge by itself, which says why it could not be made where it could not. */
export async function mergeAlone(place: ObjectsPlace, onto: string, head: string): Promise<PairOutcome> {
  const merged = await mergeIn(place, onto, head)
  if (!merged.ok) return { applies: null, unread: merged }
  if (merged.applies) return { applies: true, tree: merged.tree }
  return { applies: false, conflicts: merged.conflicts, moreConflicts: merged.moreConflicts }
}

/**
 * Why each of these pairs cannot be merged, in their order, nothing for those that can: a commit that is not there, no common history, a head out of
 * bounds. One of them does not keep the others from being looked at together but by being no commit.
 */
export async function headFaults(
  place: ObjectsPlace,
  pairs: readonly MergePair[],
  checked?: CheckedHeads,
): Promise<(GitRefusal | undefined)[]> {
  const together = await pairFaults(place, pairs, checked)
  if (together !== undefined) return together
  const faults: (GitRefusal | undefined)[] = []
  for (const pair of pairs) {
    const alone = (await missingCommit(place, [pair.onto, pair.head])) ?? (await pairFaults(place, [pair], checked))
    faults.push(
      alone === undefined ? refuse('failed', words.gitFailed('find the common history')) : Array.isArray(alone) ? alone[0] : alone,
    )
  }
  return faults
}

/** Why pairs cannot be merged, in their order; nothing at all when they have to be looked at one by one. */
async function pairFaults(
  place: ObjectsPlace,
  pairs: readonly MergePair[],
  checked: CheckedHeads | undefined,
): Promise<(GitRefusal | undefined)[] | undefined> {
  const bases = await mergeBases(place, pairs)
  if (bases === undefined) return undefined
  const keyOf = (at: number) => `${pairs[at]?.head} ${bases[at]}`
  const toWalk = pairs.flatMap(({ head }, at) => {
    const base = bases[at]
    return base === undefined || checked?.has(keyOf(at)) ? [] : [{ at, base, head }]
  })
  const walked = await boundsFaults(place, toWalk)
  const faults = pairs.map((_, at) => (bases[at] === undefined ? refuse('unrelated', words.unrelated()) : undefined))
  for (const [n, { at }] of toWalk.entries()) {
    const fault = walked[n]
    if (fault === undefined) checked?.set(keyOf(at), true)
    else faults[at] = fault
  }
  return faults
}

/** A merge base of each pair, undefined where there is none; nothing at all when one of the ids is no commit that is there. */
async function mergeBases(place: ObjectsPlace, pairs: readonly MergePair[]): Promise<(string | undefined)[] | undefined> {
  if (!pairs.every(({ onto, head }) => isCommitId(onto) && isCommitId(head))) return undefined
  if (pairs.length === 0) return []
  const ask = pairs.flatMap(({ onto, head }) => [`${onto}^{commit}`, `${head}^{commit}`, `${onto}...${head}`])
  const run = await runGit(['rev-parse', '--revs-only', ...ask], place)
  if (run.code !== 0) return undefined
  const lines = run.stdout.toString('latin1').split('\n')
  const bases: (string | undefined)[] = []
  let at = 0
  for (const { onto, head } of pairs) {
    // The commits that the ids stand for (others if they are tags), then the ends and the common history of the difference.
    const wanted = [onto, head, head, onto]
    if (wanted.some((id, n) => lines[at + n] !== id)) return undefined
    at += wanted.length
    bases.push(lines[at]?.startsWith('^') ? lines[at]?.slice(1) : undefined)
    while (lines[at]?.startsWith('^')) at += 1
  }
  return bases
}

/** Merges as many pairs as one run can, and goes on after one that ends it. What is missing at the end is left to be merged alone. */
async function mergeAll(place: ObjectsPlace, pairs: readonly MergePair[]): Promise<(PairOutcome | undefined)[]> {
  const merged: (PairOutcome | undefined)[] = []
  while (merged.length < pairs.length) {
    const rest = pairs.slice(merged.length)
    const bad = rest.findIndex(({ onto, head }) => !isCommitId(onto) || !isCommitId(head))
    const { run, outcomes } = await mergeRun(place, bad < 0 ? rest : rest.slice(0, bad))
    merged.push(...outcomes)
    // A run that was killed may have been killed by any of them.
    if (run !== undefined && run.ended !== 'exit') break
    if (merged.length < pairs.length) merged.push(undefined)
  }
  return merged
}

/** One `merge-tree` over pairs: the outcomes of those that it came to, fewer when one of them was not to be merged. */
async function mergeRun(place: ObjectsPlace, pairs: readonly MergePair[]): Promise<{ run?: GitRun; outcomes: PairOutcome[] }> {
  const outcomes: PairOutcome[] = []
  if (pairs.length === 0) return { outcomes }
  let row: { clean: string; tree?: string; conflicts: string[]; count: number } | undefined
  const onOutput = nulFields(mergeLimits.path, field => {
    const text = field.toString('utf8')
    if (row === undefined) row = { clean: text, conflicts: [], count: 0 }
    else if (row.tree === undefined) row.tree = text
    else if (text !== '') {
      row.count += 1
      if (row.count <= shownConflicts) row.conflicts.push(text)
    } else {
      const { clean, tree, conflicts, count } = row
      row = undefined
      if (!isCommitId(tree) || !/^[01]$/.test(clean)) return false
      outcomes.push(clean === '1' ? { applies: true, tree } : { applies: false, conflicts, moreConflicts: count - conflicts.length })
    }
    return true
  })
  // In this version of git the answers come when the input has ended: all pairs go in at once.
  const input = pairs.map(({ onto, head }) => `${onto} ${head}\n`).join('')
  const run = await runGit(['merge-tree', '--write-tree', '--stdin', '-z', '--name-only', '--no-messages'], {
    ...place,
    input,
    onOutput,
    ...mergeLimits.run,
  })
  return { run, outcomes }
}
