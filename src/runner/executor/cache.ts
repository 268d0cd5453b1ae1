import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import type { Job } from '../types.ts'

/** Where a run's things are in its container. */
export const inside = { root: '/w', tree: '/w/tree', home: '/w/home', steps: '/w/steps', report: '/w/out/report.tar', seeds: '/k' } as const

/** A folder of a run that is kept, or filled from what is. */
export interface CacheMount {
  /** In the container. */
  target: string
  /** The volume that is mounted there, kept afterwards; absent: one that is thrown away with the run. */
  volume?: string | undefined
  /** The volume from which it is filled first, mounted so that nothing can be written into it. */
  seed?: string | undefined
}

/** Folders that a cache may not take the place of. */
const reserved = [
  '/w',
  '/k',
  '/proc',
  '/sys',
  '/dev',
  '/tmp',
  '/etc',
  '/bin',
  '/sbin',
  '/lib',
  '/lib64',
  '/usr',
  '/usr/bin',
  '/usr/lib',
  '/',
]

/** A cache path of a workflow as it is in the container: in the home, absolute, or in the tree. Undefined where no cache can be. */
export function cacheTarget(path: string): string | undefined {
  const home = path === '~' || path.startsWith('~/')
  const full = posix.normalize(home ? posix.join(inside.home, path.slice(1)) : posix.resolve(inside.tree, path)).replace(/\/$/, '')
  const own = [inside.home, inside.tree].some(folder => full.startsWith(`${folder}/`))
  if (own) return full.length <= 100 ? full : undefined
  return reserved.some(
    folder => full === folder || (['/w', '/k', '/proc', '/sys', '/dev'].includes(folder) && full.startsWith(`${folder}/`)),
  ) || full === ''
    ? undefined
    : full
}

/**
 * What is mounted for a workflow's cache (CHK-2). A branch has two volumes for each path: what pushes promoted, which they alone write, and what
 * trusted runs share, filled from it at first. `promote` has the first, `share` the second; `take` copies the second into the first; `layer` a copy of what there is, thrown away; `empty`
 * nothing. Names are digests, the owner's in them, so that no two runners share one. `there` tells whether a volume exists.
 */
export async function cacheMounts(
  job: Pick<Job, 'cache' | 'workflow'>,
  owner: string,
  there: (volume: string) => Promise<boolean>,
): Promise<CacheMount[]> {
  const { key, use } = job.cache
  const targets = new Set(job.workflow.cache.map(cacheTarget).filter(target => target !== undefined))
  return Promise.all(
    [...targets].map(async (target): Promise<CacheMount> => {
      const promoted = volumeName(owner, key, target, 'promoted')
      const shared = volumeName(owner, key, target, 'shared')
      if (use === 'promote') return { target, volume: promoted }
      if (use === 'empty') return { target }
      const hasShared = await there(shared)
      if (use === 'take') return { target, volume: promoted, seed: hasShared ? shared : undefined }
      const seed = hasShared ? shared : (await there(promoted)) ? promoted : undefined
      if (use === 'layer') return { target, seed }
      return { target, volume: shared, seed: hasShared ? undefined : seed }
    }),
  )
}

function volumeName(owner: string, key: string, target: string, kind: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([owner, key, target, kind]))
    .digest('hex')
  return `knotless-cache-${digest.slice(0, 40)}`
}
