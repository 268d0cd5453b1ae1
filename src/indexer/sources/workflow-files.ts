/** What git says of the workflows at a tip: the files themselves, and the paths that may skip them. */
import type { ObjectsPlace } from '../../git/objects.ts'
import { isCommitId } from '../../git/ref-names.ts'
import { runGit } from '../../git/run.ts'
import { nulFields } from '../../git/split-stream.ts'
import { type WorkflowFile, workflowFolder } from '../../workflows/parse.ts'
import { mostFileBytes, mostFiles } from '../../workflows/select.ts'
import { mostBytes } from '../../workflows/yaml-text.ts'

const longestName = 1024
const mostPaths = 100_000
const mostPathBytes = 8 * 2 ** 20
const limits = { ulimit: { memoryKiB: 1_000_000, cpuSeconds: 10 }, timeoutMs: 15_000 }

interface Entry {
  file: string
  id: string
  size: number
}

/** The workflow files at a commit, in git's order; one more than are taken where there are too many. Undefined when git cannot tell. */
export async function filesAt(place: ObjectsPlace, commit: string): Promise<WorkflowFile[] | undefined> {
  if (!isCommitId(commit)) return undefined
  const entries: Entry[] = []
  const onOutput = nulFields(longestName, field => {
    const entry = entryOf(field.toString('utf8'))
    if (entry !== undefined) entries.push(entry)
    return entries.length <= mostFiles
  })
  const listed = await runGit(['ls-tree', '-z', '-l', '--full-tree', commit, workflowFolder], { ...place, ...limits, onOutput })
  if (listed.code !== 0 && listed.ended !== 'stopped') return undefined
  const small = entries.filter(entry => entry.size <= mostBytes)
  const total = small.reduce((sum, entry) => sum + entry.size, 0)
  // So many that they are refused as they are: nobody needs to read them.
  if (entries.length > mostFiles || total > mostFileBytes) return entries.map(({ file, size }) => ({ file, bytes: new Uint8Array(size) }))
  const contents = await blobsOf(place, small)
  if (contents === undefined) return undefined
  return entries.map(({ file, id }) => ({ file, bytes: contents.get(id) ?? 'too-large' }))
}

/** Regular files right in the folder, as ADM-11 counts them. */
function entryOf(line: string): Entry | undefined {
  const [, id, size, path] = /^100\d{3} blob ([0-9a-f]{40}) +(\d+)\t(.*\.ya?ml)$/s.exec(line) ?? []
  return id === undefined || path === undefined ? undefined : { file: path.slice(workflowFolder.length), id, size: Number(size) }
}

async function blobsOf(place: ObjectsPlace, entries: readonly Entry[]): Promise<Map<string, Uint8Array> | undefined> {
  const contents = new Map<string, Uint8Array>()
  if (entries.length === 0) return contents
  const input = `${entries.map(entry => entry.id).join('\n')}\n`
  const run = await runGit(['cat-file', '--batch'], { ...place, ...limits, input, maxOutput: 2 * mostFileBytes })
  if (run.code !== 0) return undefined
  let at = 0
  for (const { id, size } of entries) {
    const header = `${id} blob ${size}\n`
    if (run.stdout.toString('latin1', at, at + header.length) !== header) return undefined
    at += header.length
    contents.set(id, run.stdout.subarray(at, at + size))
    at += size + 1
  }
  return contents
}

/** The paths that differ between two commits, both names of what was renamed; `unknown` where there are too many. Undefined when git cannot tell. */
export async function changedPaths(place: ObjectsPlace, base: string, tip: string): Promise<string[] | 'unknown' | undefined> {
  if (!isCommitId(base) || !isCommitId(tip)) return undefined
  const paths: string[] = []
  let bytes = 0
  const onOutput = nulFields(4096, (field, length) => {
    bytes += length
    paths.push(field.toString('utf8'))
    return paths.length <= mostPaths && bytes <= mostPathBytes
  })
  const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', base, tip]
  const run = await runGit(args, { ...place, ...limits, onOutput })
  if (run.ended === 'stopped') return 'unknown'
  return run.code === 0 ? paths : undefined
}
