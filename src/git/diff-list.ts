import type { ObjectsPlace } from './objects.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { runGit } from './run.ts'
import { nulFields } from './split-stream.ts'
import { words } from './words.ts'

export type Change = 'added' | 'deleted' | 'modified' | 'renamed' | 'mode'

/** One file of a diff, before its content is looked at. */
export interface ChangedFile {
  path: string
  oldPath?: string
  change: Change
  /** Blob ids before and after; all zero where there is none. */
  oldBlob: string
  newBlob: string
  /** How many patches git writes for it: two where a file became a link or the other way round. */
  patches: number
}

/** Renames are looked for among at most so many files; beyond, only those that kept their content are found. */
export const renameWords = ['-M', '-l400']
export const diffLimits = { ulimit: { memoryKiB: 1_000_000, cpuSeconds: 10 }, timeoutMs: 20_000 } as const

const changes: { readonly [status: string]: Change } = { A: 'added', D: 'deleted', R: 'renamed' }

/**
 * The files that differ between two commits, the first `most` of them, and how many there are. `paths`: only these. Looking for renames is given
 * up when it takes too long: `renames` says whether it was done, and the patch must be asked for in the same way.
 */
export async function changedFiles(
  place: ObjectsPlace,
  base: string,
  head: string,
  options: { most: number; paths?: readonly string[] | undefined; renames?: boolean },
): Promise<{ ok: true; files: ChangedFile[]; count: number; renames: boolean } | GitRefusal> {
  const renames = options.renames ?? true
  const files: ChangedFile[] = []
  let count = 0
  let row: string[] = []
  const onOutput = nulFields(4096, field => {
    row.push(field.toString('utf8'))
    const [status = '', first = '', second] = row
    const twoPaths = / [RC]\d*$/.test(status)
    if (row.length < (twoPaths ? 3 : 2)) return true
    row = []
    count += 1
    if (count <= options.most) files.push(changedFile(status, first, second))
    return true
  })
  const paths = options.paths === undefined ? [] : ['--', ...options.paths]
  const args = ['diff-tree', '-r', '-z', '--raw', ...(renames ? renameWords : ['--no-renames']), base, head, ...paths]
  const run = await runGit(args, { ...place, ...diffLimits, onOutput })
  if (run.code === 0) return { ok: true, files, count, renames }
  if (run.ended === 'aborted' || run.ended === 'not-started') return refuse('failed', words.gitFailed('compare the branches'))
  return renames ? changedFiles(place, base, head, { ...options, renames: false }) : refuse('too-large', words.diffTooBig())
}

/** From git's raw line, `:100644 100755 <blob> <blob> M`, and the paths that follow it. */
function changedFile(raw: string, first: string, second: string | undefined): ChangedFile {
  const [oldMode = '', newMode = '', oldBlob = '', newBlob = '', status = ''] = raw.slice(1).split(' ')
  const letter = status.slice(0, 1)
  const sameBytes = oldBlob === newBlob && oldMode !== newMode
  const change = changes[letter] ?? (sameBytes ? 'mode' : 'modified')
  const file = { path: second ?? first, change, oldBlob, newBlob, patches: letter === 'T' ? 2 : 1 }
  return second === undefined ? file : { ...file, oldPath: first }
}
