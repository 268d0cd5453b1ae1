import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Mirror } from './mirror.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { type GitOptions, runGit } from './run.ts'
import { words } from './words.ts'

/** Loose objects that a mirror may have before it is tidied. */
const most = 20_000
/** Loose objects that nothing leads to are kept this long: stacks and merges that may still be wanted are far younger. */
const keptMs = 30 * 24 * 60 * 60_000

/** Whether a mirror has so many loose objects that tidying is worth its time: a guess by one folder of 256. */
export async function wantsTidying(mirror: Mirror, limit: number = most): Promise<boolean> {
  const names = await readdir(join(mirror.objects, '17')).catch(() => [])
  return names.length * 256 > limit
}

/**
 * Packs the loose objects that refs lead to, which are commits that landed, and removes those that nothing leads to and that are 30 days old: stacks
 * and merges of long ago. For a mirror in which stacks are made; beside everything else, with low priority. `now`: milliseconds since 1970.
 */
export async function tidyMirror(mirror: Mirror, now: number, signal?: AbortSignal): Promise<{ ok: true } | GitRefusal> {
  const options: GitOptions = {
    dir: mirror.dir,
    timeoutMs: 600_000,
    signal,
    niceness: 15,
    ulimit: { memoryKiB: 2_000_000, cpuSeconds: 480 },
  }
  const packed = await runGit(['repack', '-d', '-l', '-q'], options)
  if (packed.code !== 0) return refuse('failed', words.gitFailed('pack loose objects'))
  const before = `@${Math.floor((now - keptMs) / 1000)}`
  const pruned = await runGit(['prune', `--expire=${before}`], options)
  return pruned.code === 0 ? { ok: true } : refuse('failed', words.gitFailed('remove old objects'))
}
