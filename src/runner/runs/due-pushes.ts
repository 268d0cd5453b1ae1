/** Pushes that are to run (RUN-4): branches that are elsewhere than at the last pass. Pure. */
import type { Ground } from '../types.ts'

/** Where a repository's branches were, by full ref name. */
export type SeenRefs = ReadonlyMap<string, { commit: string; generation: number }>

export interface DuePush {
  branch: string
  generation: number
  /** Where it was; absent for a branch that was made, or made again (CHK-9). */
  before?: string | undefined
  commit: string
  isDefault: boolean
  /** The push that landed a batch. */
  lands: boolean
}

/**
 * What moved since the last pass, and where everything is now. At the first sight of a repository (`seen` undefined) nothing is due: what was pushed
 * before is not this runner's. `landed`: tips of batches that this runner landed.
 */
export function duePushRuns(
  ground: Pick<Ground, 'refs' | 'view'>,
  seen: SeenRefs | undefined,
  landed: ReadonlySet<string>,
): { due: DuePush[]; seen: SeenRefs } {
  const now = new Map<string, { commit: string; generation: number }>()
  const due: DuePush[] = []
  const { defaultBranch } = ground.view.record.value
  for (const { name, commit, generation } of ground.refs.refs) {
    if (!name.startsWith(heads)) continue
    now.set(name, { commit, generation })
    const was = seen?.get(name)
    if (seen === undefined || was?.commit === commit) continue
    const branch = name.slice(heads.length)
    const before = was?.generation === generation ? { before: was.commit } : {}
    due.push({ branch, generation, ...before, commit, isDefault: branch === defaultBranch, lands: landed.has(commit) })
  }
  return { due, seen: now }
}

const heads = 'refs/heads/'
