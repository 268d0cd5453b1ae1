import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { treeBounds } from './bounds.ts'
import { writeBlob } from './loose.ts'
import { missingCommit } from './merge.ts'
import { type ObjectsPlace, objectTypes } from './objects.ts'
import { pathFault } from './paths.ts'
import { isCommitId } from './ref-names.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { runGit } from './run.ts'
import { nulFields } from './split-stream.ts'
import { words } from './words.ts'

/** A file to be set or, without `content`, deleted. `mode`: as it was where there is such a file, else 100644. */
export interface TreeChange {
  path: string
  content?: string | Uint8Array | undefined
  mode?: '100644' | '100755' | undefined
}

/** Files changed at once, bytes of one and of all. */
const bounds = { changes: 1000, fileBytes: 1_000_000, allBytes: 16 * 2 ** 20 } as const

interface Entry {
  mode: string
  path: string
  content: Buffer | undefined
}

/**
 * The tree of a commit with files set and deleted. `place` is a quarantine: new objects and a temporary index go there. Refused as `bad-path`: paths
 * that git's strict check would refuse, a file where a folder is and the other way round, deleting what is not there; as `too-large`: a file over
 * 1 MB, more than 1,000 files.
 */
export async function commitTree(
  place: ObjectsPlace,
  asked: { base: string; changes: readonly TreeChange[] },
): Promise<{ ok: true; tree: string } | GitRefusal> {
  const { base, changes } = asked
  const fault = changesFault(changes)
  if (fault !== undefined) return fault
  const missing = await missingCommit(place, [base])
  if (missing !== undefined) return missing
  const quarantine = place.env?.GIT_OBJECT_DIRECTORY
  if (quarantine === undefined) throw new Error('a tree is made in a quarantine only')
  const index = join(quarantine, `index-${randomUUID()}`)
  const here = { ...place, env: { ...place.env, GIT_INDEX_FILE: index } }
  try {
    // A tree may stand for more files than there is memory, or nest deeper than git can follow.
    const read = await runGit(['read-tree', base], { ...here, ulimit: { memoryKiB: 800_000, cpuSeconds: 10 } })
    if (read.ended !== 'exit' || /out of memory|cannot allocate/i.test(read.stderr)) {
      return refuse('too-large', words.tooManyFiles(treeBounds.entries))
    }
    if (read.code !== 0) return refuse('failed', words.gitFailed('read the files of the branch'))
    return await changed(here, base, changes)
  } finally {
    await Promise.all([index, `${index}.lock`].map(path => rm(path, { force: true })))
  }
}

function changesFault(changes: readonly TreeChange[]): GitRefusal | undefined {
  if (changes.length > bounds.changes) return refuse('too-large', words.tooManyChanges(bounds.changes))
  const paths = new Set<string>()
  let all = 0
  let folders = 0
  for (const { path, content } of changes) {
    const fault = pathFault(path)
    if (fault !== undefined) return fault
    if (paths.has(path)) return refuse('bad-path', words.pathTwice(path))
    paths.add(path)
    const bytes = content === undefined ? 0 : Buffer.byteLength(content)
    all += bytes
    if (bytes > bounds.fileBytes) return refuse('too-large', words.fileTooBig(path, bounds.fileBytes))
    folders += path.length * path.split('/').length
    if (all > bounds.allBytes || folders > bounds.allBytes) return refuse('too-large', words.changesTooBig(bounds.allBytes))
  }
  const kept = new Set(changes.filter(row => row.content !== undefined).map(row => row.path))
  for (const path of kept) {
    const folder = foldersOf(path).find(name => kept.has(name))
    if (folder !== undefined) return refuse('bad-path', words.fileAndFolder(folder))
  }
  return undefined
}

/** The folders that a path lies in, outermost first. */
function foldersOf(path: string): string[] {
  const folders: string[] = []
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) folders.push(path.slice(0, at))
  return folders
}

async function changed(
  place: ObjectsPlace,
  base: string,
  changes: readonly TreeChange[],
): Promise<{ ok: true; tree: string } | GitRefusal> {
  const present = await filesAt(place, changes)
  const entries: Entry[] = []
  for (const { path, content, mode } of changes) {
    const before = present.get(path)
    if (content === undefined && before === undefined) return refuse('bad-path', words.noSuchFile(path))
    // What was a link or a submodule becomes a file.
    const kept = before === '100755' ? before : '100644'
    entries.push({ path, content: content === undefined ? undefined : Buffer.from(content), mode: mode ?? kept })
  }
  const inTheWay = await wayFault(place, base, entries)
  if (inTheWay !== undefined) return inTheWay
  // Deletions first: a folder may give way to a file in one step.
  const lines = entries.filter(row => row.content === undefined).map(row => `0 ${'0'.repeat(40)}\t${row.path}\0`)
  for (const { mode, path, content } of entries) {
    if (content !== undefined) lines.push(`${mode} ${await writeBlob(place, content)}\t${path}\0`)
  }
  const input = lines.join('')
  const strict = ['core.protectHFS=true', 'core.protectNTFS=true']
  const update = await runGit(['update-index', '-z', '--index-info'], { ...place, input, config: strict })
  if (update.code !== 0) return refuse('bad-path', words.pathsRefused())
  const run = await runGit(['write-tree'], place)
  const tree = run.stdout.toString('latin1').trim()
  return run.code === 0 && isCommitId(tree) ? { ok: true, tree } : refuse('failed', words.gitFailed('write the files'))
}

/** The modes of those of the files that the index has, by path. */
async function filesAt(place: ObjectsPlace, changes: readonly TreeChange[]): Promise<Map<string, string>> {
  const wanted = new Set(changes.map(row => row.path))
  const found = new Map<string, string>()
  // Asked for by name where they are few; a command line holds no thousand paths.
  const names = changes.length <= 20 ? [...wanted] : []
  const run = await runGit(['ls-files', '-s', '-z', '--', ...names], { ...place, maxOutput: 512 * 2 ** 20 })
  if (run.code !== 0) throw new Error(`git ls-files failed (${run.ended}): ${run.stderr}`)
  for (const line of run.stdout.toString('utf8').split('\0')) {
    const path = line.slice(line.indexOf('\t') + 1)
    if (wanted.has(path)) found.set(path, line.slice(0, 6))
  }
  return found
}

/** A file of the commit where a folder is wanted, or a folder that is not emptied where a file is. */
async function wayFault(place: ObjectsPlace, base: string, entries: readonly Entry[]): Promise<GitRefusal | undefined> {
  const gone = new Set(entries.filter(row => row.content === undefined).map(row => row.path))
  const set = entries.filter(row => row.content !== undefined).map(row => row.path)
  const folders = [...new Set(set.flatMap(foldersOf))].filter(path => !gone.has(path))
  const types = await objectTypes(
    place,
    [...folders, ...set].map(path => `${base}:${path}`),
  )
  const file = folders.find((_, at) => types[at] !== undefined && types[at]?.type !== 'tree')
  if (file !== undefined) return refuse('bad-path', words.fileInTheWay(file))
  for (const [at, path] of set.entries()) {
    if (types[folders.length + at]?.type !== 'tree') continue
    let left = false
    const onOutput = nulFields(treeBounds.path + 1, name => {
      left = !gone.has(name.toString('utf8'))
      return !left
    })
    await runGit(['ls-files', '-z', '--', path], { ...place, onOutput })
    if (left) return refuse('bad-path', words.folderInTheWay(path))
  }
  return undefined
}
