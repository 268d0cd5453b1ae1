import { type CommitRow, listCommits } from './commits.ts'
import { missingCommit } from './merge.ts'
import type { Mirror } from './mirror.ts'
import { objectTypes } from './objects.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { runGit } from './run.ts'
import { nulFields } from './split-stream.ts'
import { words } from './words.ts'

export { isAncestor } from './chain.ts'

const mostWorkflows = 1000

/** The workflow files at a commit: `.knotless/workflows/*.yml` and `*.yaml`, full paths in git's order, at most 1,000 (ADM-11). */
export async function workflowsAt(mirror: Mirror, commit: string): Promise<{ ok: true; workflows: string[] } | GitRefusal> {
  const missing = await missingCommit(mirror, [commit])
  if (missing !== undefined) return missing
  const workflows: string[] = []
  const onOutput = nulFields(1024, (field, length) => {
    const found = /^100\d{3} blob [0-9a-f]{40}\t(.*\.ya?ml)$/s.exec(field.toString('utf8'))
    if (found?.[1] !== undefined && length < 1024) workflows.push(found[1])
    return workflows.length < mostWorkflows
  })
  const run = await runGit(['ls-tree', '-z', '--full-tree', commit, '.knotless/workflows/'], { dir: mirror.dir, onOutput })
  return run.code === 0 || run.ended === 'stopped' ? { ok: true, workflows } : refuse('failed', words.gitFailed('list the workflows'))
}

/** The newest commit in the history of `commit` that changed `path` (a file or folder); none when no commit did. */
export async function lastChangeOf(mirror: Mirror, commit: string, path: string): Promise<{ ok: true; change?: CommitRow } | GitRefusal> {
  const missing = await missingCommit(mirror, [commit])
  if (missing !== undefined) return missing
  const listed = await listCommits(mirror, [commit, '--', path], 1)
  if (!listed.ok) return listed
  const [change] = listed.commits
  return change === undefined ? { ok: true } : { ok: true, change }
}

/** The bytes of a file at a commit, refused when it has more than `max`; none when there is no such file. */
export async function fileAt(
  mirror: Mirror,
  commit: string,
  path: string,
  max: number,
): Promise<{ ok: true; bytes?: Uint8Array } | GitRefusal> {
  const missing = await missingCommit(mirror, [commit])
  if (missing !== undefined) return missing
  if (/[\n\0]/.test(path)) return { ok: true }
  const [found] = await objectTypes(mirror, [`${commit}:${path}`])
  if (found?.type !== 'blob') return { ok: true }
  const run = await runGit(['cat-file', 'blob', found.id], { dir: mirror.dir, maxOutput: max })
  if (run.ended === 'output') return refuse('too-large', words.fileTooBig(path, max))
  return run.code === 0 ? { ok: true, bytes: run.stdout } : refuse('failed', words.gitFailed('read the file'))
}
