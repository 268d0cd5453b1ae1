import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Mirror, packsOf } from './mirror.ts'
import { sweepQuarantines } from './quarantine.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { runGit } from './run.ts'
import { words } from './words.ts'

/** With fewer packs than this an index over all of them is not worth its file. */
const manyPacks = 4
/** A lock file this old was left by a process that was cut off. */
const staleLock = 60 * 60 * 1000

/**
 * Upkeep of a mirror in the background: a commit-graph and an index over all packs, which make merges and history faster; leftovers of crashes are
 * removed. Objects are neither dropped nor moved. One at a time per mirror, like a sync. `now`: milliseconds since 1970.
 */
export function maintainMirror(mirror: Mirror, now: number, signal?: AbortSignal): Promise<{ ok: true } | GitRefusal> {
  return mirror.exclusive(async () => {
    await sweepQuarantines(mirror, now)
    await sweepLocks(mirror, now)
    const options = { dir: mirror.dir, timeoutMs: 300_000, signal, ulimit: { memoryKiB: 2_000_000, cpuSeconds: 240 } }
    const graph = await runGit(['commit-graph', 'write', '--reachable'], options)
    if (graph.code !== 0) return refuse('failed', words.gitFailed('write the commit graph'))
    if ((await packsOf(mirror)).size < manyPacks) return { ok: true }
    const index = await runGit(['multi-pack-index', 'write'], options)
    return index.code === 0 ? { ok: true } : refuse('failed', words.gitFailed('write the index of all packs'))
  })
}

async function sweepLocks(mirror: Mirror, now: number): Promise<void> {
  for (const dir of [join(mirror.objects, 'info'), join(mirror.objects, 'pack')]) {
    const names = await readdir(dir).catch(() => [])
    for (const name of names.filter(text => /(\.lock|^tmp_.*)$/.test(text))) {
      const made = (await stat(join(dir, name)).catch(() => undefined))?.mtimeMs ?? now
      if (now - made > staleLock) await rm(join(dir, name), { force: true })
    }
  }
}
