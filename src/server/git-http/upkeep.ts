import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { maintainMirror, wantsUpkeep } from '../../git/maintain.ts'
import type { Mirror } from '../../git/mirror.ts'

/** Puts mirrors in order once somebody has cloned from them: with a bitmap the next clone is a matter of copying. */
export interface Upkeep {
  /** A mirror was read from. One is looked after at a time, beside everything else. */
  served(mirror: Mirror): void
  stop(): Promise<void>
}

/** Below this many bytes of packs a clone is quick without. */
const worthwhile = 8 * 2 ** 20
/** Mirrors that wait their turn. */
const mostWaiting = 1_000

/** `failed`: something of ours went wrong, for the log. */
export function createUpkeep(ctx: { now: () => number; failed: (error: unknown) => void }): Upkeep {
  const waiting = new Map<string, Mirror>()
  const stopping = new AbortController()
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    for (const [dir, mirror] of waiting) {
      if (stopping.signal.aborted) return
      waiting.delete(dir)
      try {
        if (!(await isLarge(mirror)) || !(await wantsUpkeep(mirror))) continue
        const done = await maintainMirror(mirror, ctx.now(), stopping.signal)
        if (!done.ok && !stopping.signal.aborted) ctx.failed(new Error(`a mirror could not be kept up: ${done.code}`))
      } catch (error) {
        ctx.failed(error)
      }
    }
  }

  return {
    served(mirror) {
      if (stopping.signal.aborted || waiting.size >= mostWaiting) return
      waiting.set(mirror.dir, mirror)
      running ??= run().finally(() => {
        running = undefined
      })
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}

async function isLarge(mirror: Mirror): Promise<boolean> {
  const dir = join(mirror.objects, 'pack')
  const packs = (await readdir(dir)).filter(name => name.endsWith('.pack'))
  let bytes = 0
  for (const name of packs) bytes += (await stat(join(dir, name)).catch(() => undefined))?.size ?? 0
  return bytes >= worthwhile
}
