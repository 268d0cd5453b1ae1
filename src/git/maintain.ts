import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Mirror, packsOf } from './mirror.ts'
import { writtenRefs } from './packed-refs.ts'
import { sweepQuarantines } from './quarantine.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { type GitOptions, type GitRun, runGit } from './run.ts'
import { words } from './words.ts'

/** A lock file this old was left by a process that was cut off. */
const staleLock = 60 * 60 * 1000
/** How much upkeep gives way to everything else, as of `nice`. */
const niceness = 15

/**
 * Upkeep of a mirror in the background: a commit-graph, which makes merges and history faster; an index over all packs with a bitmap of what each
 * branch reaches, which makes a clone a matter of copying; leftovers of crashes are removed. Objects are neither dropped nor moved, and nothing
 * waits for it: pushes and syncs go on meanwhile. When another process is at it already, nothing is done. `now`: milliseconds since 1970.
 */
export async function maintainMirror(mirror: Mirror, now: number, signal?: AbortSignal): Promise<{ ok: true } | GitRefusal> {
  await sweepQuarantines(mirror, now)
  await sweepLocks(mirror, now)
  const options: GitOptions = {
    dir: mirror.dir,
    timeoutMs: 300_000,
    signal,
    niceness,
    ulimit: { memoryKiB: 2_000_000, cpuSeconds: 240 },
  }
  const graph = await runGit(['commit-graph', 'write', '--reachable'], options)
  if (graph.code !== 0 && !isBusy(graph)) return refuse('failed', words.gitFailed('write the commit graph'))
  const largest = await largestPack(mirror)
  if (largest === undefined) return { ok: true }
  const write = ['multi-pack-index', 'write']
  // Of the preferred pack a clone copies stretches as they are.
  const bitmap = (await writtenRefs(mirror)).size === 0 ? [] : ['--bitmap', `--preferred-pack=pack-${largest}.pack`]
  let index = await runGit([...write, ...bitmap], options)
  // A bitmap may be more than the limits allow, or a pack not closed for a moment: the index alone is worth having.
  if (index.code !== 0 && !isBusy(index) && bitmap.length > 0 && !signal?.aborted) index = await runGit(write, options)
  return index.code === 0 || isBusy(index) ? { ok: true } : refuse('failed', words.gitFailed('write the index of all packs'))
}

/** Bytes of packs that a bitmap may leave out before it is made anew, and how many packs. */
const uncovered = { bytes: 2 * 2 ** 20, packs: 16 } as const

/**
 * Whether upkeep is worth its time now: the mirror has no bitmap, or much came in since it was made. A few reads of a folder: to be asked after a
 * push or sync.
 */
export async function wantsUpkeep(mirror: Mirror): Promise<boolean> {
  const dir = join(mirror.objects, 'pack')
  const names = await readdir(dir)
  const packs = names.filter(name => name.endsWith('.pack'))
  if (packs.length === 0 || (await writtenRefs(mirror)).size === 0) return false
  if (!names.some(name => /^multi-pack-index-[0-9a-f]+\.bitmap$/.test(name))) return true
  const made = (await statOf(join(dir, 'multi-pack-index')))?.mtimeMs
  if (made === undefined) return true
  const stats = await Promise.all(packs.map(name => statOf(join(dir, name))))
  // A pack that was admitted is newer than its own last write: the folder entry's time counts.
  const late = stats.filter(row => row !== undefined && row.ctimeMs > made)
  return late.length > uncovered.packs || late.reduce((sum, row) => sum + (row?.size ?? 0), 0) > uncovered.bytes
}

/** The id of the largest pack. */
async function largestPack(mirror: Mirror): Promise<string | undefined> {
  let largest: { id: string; size: number } | undefined
  for (const id of await packsOf(mirror)) {
    const size = (await statOf(join(mirror.objects, 'pack', `pack-${id}.pack`)))?.size ?? 0
    if (largest === undefined || size > largest.size) largest = { id, size }
  }
  return largest?.id
}

/** Another process holds the lock of the file. */
function isBusy(run: GitRun): boolean {
  return run.ended === 'exit' && /\.lock': File exists/.test(run.stderr)
}

async function sweepLocks(mirror: Mirror, now: number): Promise<void> {
  for (const dir of [join(mirror.objects, 'info'), join(mirror.objects, 'pack')]) {
    const names = await readdir(dir).catch(() => [])
    for (const name of names.filter(text => /(\.lock|^tmp_.*)$/.test(text))) {
      const made = (await statOf(join(dir, name)))?.mtimeMs ?? now
      if (now - made > staleLock) await rm(join(dir, name), { force: true })
    }
  }
}

function statOf(path: string) {
  return stat(path).catch(() => undefined)
}
