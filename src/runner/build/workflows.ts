/** Which workflows run at a tip (CHK-1, CHK-6, PRE-1). */
import { LRUCache } from 'lru-cache'
import type { Mirror } from '../../git/mirror.ts'
import { isCommitId } from '../../git/ref-names.ts'
import { type GitRefusal, refuse } from '../../git/refusal.ts'
import { words } from '../../git/words.ts'
import { changedPaths, filesAt } from '../../indexer/sources/workflow-files.ts'
import { faultText } from '../../workflows/parse.ts'
import { type ReadWorkflows, readWorkflows, selectFrom } from '../../workflows/select.ts'
import { words as workflowWords } from '../../workflows/words.ts'
import type { Chosen } from '../types.ts'

export interface WorkflowsAsked {
  trigger: 'pull' | 'push'
  /** Without refs/heads/. */
  branch: string
  /** A commit, or no id where there was none: then everything counts as changed. */
  base: string
  /** A commit or a tree. */
  tip: string
}

/** Chooses workflows in mirrors; what the files at a tip say, and what differs between two commits, is remembered, as neither ever changes. */
export function createChooser(): (mirror: Mirror, asked: WorkflowsAsked) => Promise<Chosen | GitRefusal> {
  const said = new LRUCache<string, ReadWorkflows>({ max: 200 })
  const differing = new LRUCache<string, { paths: readonly string[] | 'unknown' }>({ max: 200, maxSize: 200_000, sizeCalculation })

  async function readAt(mirror: Mirror, tip: string): Promise<ReadWorkflows | undefined> {
    const key = `${mirror.dir} ${tip}`
    const known = said.get(key)
    if (known !== undefined) return known
    const files = await filesAt({ dir: mirror.dir }, tip)
    if (files === undefined) return undefined
    const read = readWorkflows(files)
    said.set(key, read)
    return read
  }

  async function changed(mirror: Mirror, base: string, tip: string): Promise<readonly string[] | 'unknown' | undefined> {
    if (!isCommitId(base)) return 'unknown'
    const key = `${mirror.dir} ${base} ${tip}`
    const known = differing.get(key)
    if (known !== undefined) return known.paths
    const paths = base === tip ? [] : await changedPaths({ dir: mirror.dir }, base, tip)
    if (paths !== undefined) differing.set(key, { paths })
    return paths
  }

  return async (mirror, { trigger, branch, base, tip }) => {
    const read = await readAt(mirror, tip)
    if (read === undefined) return refuse('failed', words.gitFailed('read the workflow files'))
    // Paths are asked for only where a file says something about them.
    const paths = read.workflows.some(workflow => workflow.paths !== undefined) ? await changed(mirror, base, tip) : 'unknown'
    if (paths === undefined) return refuse('failed', words.gitFailed('compare the commits'))
    const { selected, skipped, faulty } = selectFrom(read, { trigger, branch, changedPaths: paths })
    return {
      selected,
      skipped,
      faulty: faulty.map(fault => ({ file: fault.file === '' ? workflowWords.folder() : fault.file, summary: faultText(fault) })),
    }
  }
}

function sizeCalculation({ paths }: { paths: readonly string[] | 'unknown' }): number {
  return paths === 'unknown' ? 1 : 1 + paths.length
}
