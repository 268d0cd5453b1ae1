/** Mirrors of the repository and of forks, brought to the records that were read for a pass. */
import { setTimeout as wait } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { maintainMirror, wantsUpkeep } from '../../git/maintain.ts'
import type { Mirror } from '../../git/mirror.ts'
import { type GitRefusal, type GitRefusalCode, refuse } from '../../git/refusal.ts'
import { tidyMirror, wantsTidying } from '../../git/tidy.ts'
import { words } from '../../git/words.ts'
import { ensureMirror } from '../../indexer/mirrors/ensure.ts'
import type { RunnerContext } from '../context.ts'
import { reasonOf } from './reason.ts'

type Brought = { ok: true; mirror: Mirror } | GitRefusal

export interface BroughtMirrors {
  /**
   * The mirror of a repository with everything in it that this refs record names. What takes longer than `patienceMs` is refused as `upstream-failed`
   * and goes on: it is there for a later call.
   */
  bring(repo: string, record: { cid: string; value: unknown }, patienceMs: number): Promise<Brought>
  /** Ends what is on its way. */
  close(): Promise<void>
}

/** Refusals that the same record gives again, whenever it is asked. */
const final: ReadonlySet<GitRefusalCode> = new Set(['bad-record', 'bad-ref', 'bad-pack', 'missing-object', 'too-large'])

export function createBroughtMirrors(ctx: Pick<RunnerContext, 'mirrors' | 'reader' | 'now' | 'log'>): BroughtMirrors {
  /** The record that each mirror is at. */
  const at = new LRUCache<string, string>({ max: 10_000 })
  const refused = new LRUCache<string, GitRefusal>({ max: 1_000, ttl: 3_600_000 })
  const underWay = new Map<string, Promise<Brought>>()
  const stopping = new AbortController()
  let upkeep: Promise<void> = Promise.resolve()

  async function fetch(repo: string, record: { cid: string; value: unknown }, key: string): Promise<Brought> {
    const brought = await ensureMirror(ctx, repo, record.value, stopping.signal).catch((error: unknown) => {
      // A disk that is full, or a mirror that is damaged: nobody's head is at fault.
      ctx.log.error('mirror failed', { repository: repo, why: reasonOf(error) })
      return refuse('failed', words.gitFailed('bring the mirror up to date'))
    })
    if (brought.ok) {
      at.set(repo, record.cid)
      keepUp(brought.mirror, repo)
    } else if (final.has(brought.code)) refused.set(key, brought)
    return brought
  }

  /** One mirror at a time, beside everything else. */
  function keepUp(mirror: Mirror, repo: string): void {
    upkeep = upkeep.then(async () => {
      if (stopping.signal.aborted) return
      const tidied = (await wantsTidying(mirror)) ? await tidyMirror(mirror, ctx.now(), stopping.signal) : undefined
      const kept = (await wantsUpkeep(mirror)) ? await maintainMirror(mirror, ctx.now(), stopping.signal) : undefined
      for (const done of [tidied, kept]) {
        if (done?.ok === false && !stopping.signal.aborted) ctx.log.warn('mirror upkeep failed', { repository: repo, said: done.message })
      }
    })
    upkeep = upkeep.catch((error: unknown) => ctx.log.warn('mirror upkeep failed', { repository: repo, why: reasonOf(error) }))
  }

  return {
    async bring(repo, record, patienceMs) {
      if (at.get(repo) === record.cid) return { ok: true, mirror: await ctx.mirrors.of(repo) }
      const key = `${repo} ${record.cid}`
      const known = refused.get(key)
      if (known !== undefined) return known
      let mine = underWay.get(key)
      if (mine === undefined) {
        mine = fetch(repo, record, key).finally(() => underWay.delete(key))
        underWay.set(key, mine)
      }
      return await within(mine, patienceMs)
    },
    async close() {
      stopping.abort()
      await Promise.allSettled([...underWay.values(), upkeep])
    },
  }
}

async function within(work: Promise<Brought>, ms: number): Promise<Brought> {
  const done = new AbortController()
  const late = wait(ms, refuse('upstream-failed', words.syncTimeout()), { signal: done.signal, ref: false })
  late.catch(() => undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    done.abort()
  }
}
