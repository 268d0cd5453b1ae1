import type { ObjectsPlace } from './objects.ts'
import { runGit } from './run.ts'
import { nulFields } from './split-stream.ts'

/**
 * Which of these commits, each with one parent, change one of the paths, by their places in the list; all of them where it cannot be told. `paths`
 * are those of a conflict: where a file meets a folder, git names the file by its path with `~` and a commit after it, and what either of the two
 * changed counts.
 */
export async function touchedBy(place: ObjectsPlace, commits: readonly string[], paths: readonly string[]): Promise<number[]> {
  const wanted = new Set(paths.flatMap(path => [path, path.replace(/~[^/]*$/, '')]))
  const folders = new Set([...wanted].flatMap(foldersOf))
  const touching = new Set<number>()
  let at = -1
  let isPath = false
  const onOutput = nulFields(4097, field => {
    if (isPath) {
      isPath = false
      const path = field.toString('utf8')
      // A folder in a file's place conflicts in the file's path, and a file in a folder's place in those of its files.
      if (wanted.has(path) || folders.has(path) || foldersOf(path).some(folder => wanted.has(folder))) touching.add(at)
    } else if (field[0] === 0x3a) isPath = true
    // Before its changes stands the commit's id.
    else at = commits.indexOf(field.toString('latin1'))
    return true
  })
  const args = ['diff-tree', '--stdin', '-r', '-z', '--raw', '--no-renames', '--always']
  const input = commits.map(commit => `${commit}\n`).join('')
  const run = await runGit(args, { ...place, input, onOutput, ulimit: { memoryKiB: 500_000, cpuSeconds: 30 } })
  if (run.code !== 0 || touching.size === 0) return [...commits.keys()]
  return [...touching].filter(one => one >= 0).sort((a, b) => a - b)
}

function foldersOf(path: string): string[] {
  const parts = path.split('/')
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('/'))
}
