import { boundsFault } from './bounds.ts'
import { type CommitRow, listCommits } from './commits.ts'
import { type Diff, diffBetween } from './diff.ts'
import { changedFiles } from './diff-list.ts'
import { mergeBase, missingCommit } from './merge.ts'
import type { Mirror } from './mirror.ts'
import type { ObjectsPlace } from './objects.ts'
import { alternates } from './quarantine.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { words } from './words.ts'

export type { CommitRow } from './commits.ts'
export type { Diff, DiffFile } from './diff.ts'
export type { DiffHunk, DiffLine } from './diff-patch.ts'

/** Which two commits, and in which mirrors they lie: a fork's head in the fork's own. */
export interface PullRange {
  target: Mirror
  tip: string
  source: Mirror
  head: string
  signal?: AbortSignal
}

const defaultCommits = 100

/** The commits of a pull, those of `head` that `tip` has not, newest first, at most `limit` (100), and whether there are more. */
export async function commitsOf(
  input: PullRange & { limit?: number },
): Promise<{ ok: true; commits: CommitRow[]; more: boolean } | GitRefusal> {
  const place = placeOf(input)
  const missing = await missingCommit(place, [input.tip, input.head])
  if (missing !== undefined) return missing
  return listCommits(place, [`${input.tip}..${input.head}`], input.limit ?? defaultCommits)
}

/** The first parent of a commit in a mirror. */
export async function parentOf(mirror: Mirror, commit: string): Promise<{ ok: true; commit: string } | GitRefusal> {
  const place = { dir: mirror.dir, env: {} }
  const missing = await missingCommit(place, [commit])
  if (missing !== undefined) return missing
  const listed = await listCommits(place, [`${commit}^1`], 1)
  if (!listed.ok) return listed
  const [parent] = listed.commits
  return parent === undefined ? refuse('unrelated', words.unrelated()) : { ok: true, commit: parent.commit }
}

/**
 * What a pull changes: its head against the merge base with the tip, or against `base`. `only`: these paths (of a renamed file both), with more
 * lines shown of each.
 */
export async function diffOf(input: PullRange & { base?: string; only?: readonly string[] }): Promise<Diff | GitRefusal> {
  const place = placeOf(input)
  const { base, tip, head } = input
  const missing = await missingCommit(place, base === undefined ? [tip, head] : [base, head])
  if (missing !== undefined) return missing
  const from = base === undefined ? await mergeBase(place, tip, head) : ({ ok: true, commit: base } as const)
  if (!from.ok) return from
  const outOfBounds = await boundsFault(place, from.commit, head)
  return outOfBounds ?? diffBetween(place, from.commit, head, input.only)
}

/** The paths that a pull changes, at most `most`; undefined where git cannot tell. */
export async function pathsOf(input: PullRange & { most: number }): Promise<string[] | undefined> {
  const place = placeOf(input)
  const base = await mergeBase(place, input.tip, input.head)
  const changed = base.ok ? await changedFiles(place, base.commit, input.head, { most: input.most, renames: false }) : base
  return changed.ok ? changed.files.map(file => file.path) : undefined
}

function placeOf(range: PullRange): ObjectsPlace {
  const env = range.source.objects === range.target.objects ? {} : alternates([range.source.objects])
  return { dir: range.target.dir, env, signal: range.signal }
}
