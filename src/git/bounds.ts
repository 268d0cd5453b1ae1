import type { ObjectsPlace } from './objects.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { runGit } from './run.ts'
import { nulFields } from './split-stream.ts'
import { words } from './words.ts'

/** What a head's files may come to (STO-11): depth in folders, files and folders changed, bytes of a path and of one name in it. */
export const treeBounds = { depth: 512, entries: 500_000, path: 4096, name: 255 } as const

export const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/**
 * Walks what `head` changes against `base` (a commit or the empty tree) and refuses what is out of bounds, before anything that would choke on it
 * touches it. The walk itself is killed when it grows: trees may stand for more files than there is memory.
 */
export async function boundsFault(place: ObjectsPlace, base: string, head: string): Promise<GitRefusal | undefined> {
  let fault: GitRefusal | undefined
  let entries = 0
  let status = ''
  const onOutput = nulFields(treeBounds.path + 1, (field, length) => {
    if (status === '') {
      status = field.toString('latin1').slice(-1)
      return true
    }
    entries += 1
    if (entries > treeBounds.entries) fault = refuse('too-large', words.tooManyEntries(treeBounds.entries))
    else if (status !== 'D') fault = pathFault(field, length)
    status = ''
    return fault === undefined
  })
  const run = await runGit(['diff-tree', '-r', '-t', '-z', '--raw', '--no-renames', base, head], {
    ...place,
    onOutput,
    ulimit: { memoryKiB: 500_000, cpuSeconds: 10 },
  })
  if (fault !== undefined) return fault
  if (run.code === 0) return undefined
  // Recursion that overran the stack, or more entries than fit into memory or time.
  if (run.ended === 'signal') return refuse('too-large', words.tooDeep(treeBounds.depth))
  if (run.ended === 'timeout' || /out of memory|cannot allocate/i.test(run.stderr)) {
    return refuse('too-large', words.tooManyEntries(treeBounds.entries))
  }
  return refuse('failed', words.gitFailed('walk the files of the branch'))
}

function pathFault(path: Buffer, length: number): GitRefusal | undefined {
  if (length > treeBounds.path) return refuse('too-large', words.pathTooLong(treeBounds.path))
  const parts = path.toString('latin1').split('/')
  if (parts.length > treeBounds.depth) return refuse('too-large', words.tooDeep(treeBounds.depth))
  return parts.some(part => part.length > treeBounds.name) ? refuse('too-large', words.nameTooLong(treeBounds.name)) : undefined
}
