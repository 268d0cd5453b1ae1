/** One repository's door: what rings is answered by the next pass, one pass at a time (NOT-4). */
import type { AtUri } from '../../atproto/ids.ts'
import { emptyMemory, type Memory, type Parts } from './parts.ts'
import { makePass, type PassDone } from './pass.ts'

export interface RepositoryDoor {
  readonly repo: AtUri
  /** `why` is for the log. */
  ring(why: string): void
  /** From here on nothing is built (MOV-5). */
  stopping(): void
  /** Settled when no pass is going and none is due at once. */
  quiet(): Promise<void>
  /** What the last pass that worked found; undefined before the first. */
  readonly last: { at: number; done: PassDone } | undefined
  /** Why the last pass failed, if it did. */
  readonly trouble: string | undefined
  close(): void
}

export interface DoorOptions {
  repo: AtUri
  parts: Parts
  /** Makes one of so many passes at a time, over all repositories. */
  turn: <T>(work: () => Promise<T>) => Promise<T>
  /** After each pass; `failed` says why it did. */
  onPass: (pass: { repo: AtUri; tookMs: number; done?: PassDone; failed?: string }) => void
}

/** A pass that failed is made again after this long at the latest, in milliseconds (NOT-3). */
const RETRY_MS = 60_000
/** The longest that a timer may be set for. */
const LONGEST_MS = 2 ** 31 - 1

export function createDoor({ repo, parts, turn, onPass }: DoorOptions): RepositoryDoor {
  const { ctx } = parts
  const memory: Memory = emptyMemory()
  let rung: string | undefined
  let working: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let isStopping = false
  let closed = false
  let last: RepositoryDoor['last']
  let trouble: string | undefined

  function ring(why: string): void {
    if (closed) return
    rung = why
    working ??= answer()
      .catch((error: unknown) => ctx.log.error('what follows a pass broke', { repo, why: error }))
      .finally(() => {
        working = undefined
        if (rung !== undefined) ring(rung)
      })
  }

  async function answer(): Promise<void> {
    while (rung !== undefined && !closed) await turn(pass)
  }

  async function pass(): Promise<void> {
    const why = rung
    rung = undefined
    clearTimeout(timer)
    const began = performance.now()
    const made = await makePass(parts, memory, repo, { stopping: isStopping }).catch((error: unknown) => {
      trouble = error instanceof Error ? error.message : 'unknown trouble'
      ctx.log.warn('a pass failed', { repo, rung: why, why: trouble })
      return undefined
    })
    if (made === undefined) wake(ctx.now() + Math.min(RETRY_MS, ctx.settings.sweepMs))
    else {
      last = { at: ctx.now(), done: made }
      trouble = undefined
      wake(made.again ? ctx.now() : made.wakeAt)
    }
    onPass({ repo, tookMs: performance.now() - began, ...(made === undefined ? { failed: trouble ?? '' } : { done: made }) })
  }

  function wake(at: number | undefined): void {
    if (at === undefined || closed) return
    timer = setTimeout(() => ring('due'), Math.min(LONGEST_MS, Math.max(0, at - ctx.now())))
  }

  return {
    repo,
    ring,
    stopping() {
      isStopping = true
    },
    async quiet() {
      while (working !== undefined) await working
    },
    get last() {
      return last
    },
    get trouble() {
      return trouble
    },
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
