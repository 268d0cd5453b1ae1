import { statfs } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import type { Job } from '../types.ts'
import type { Stop } from './ending.ts'
import type { RunLimits } from './limits.ts'

/** What may end a run from outside: its time, whoever cancels it, and what it takes. */
export interface RunWatch {
  /** The first cause, once there is one. */
  readonly stopped: Stop | undefined
  /** Aborted with the first cause. */
  readonly signal: AbortSignal
  /** Says that it is to end; `end` is called once, for the first cause. */
  stop(why: Stop): void
  /** A wait that ends with the run. */
  pause(ms: number): Promise<void>
  /** The run is over: nothing ends it any more. */
  end(): void
}

/** Watches the time of a job and its signal. `end` is to end whatever runs now, at once. */
export function watchRun(job: Pick<Job, 'signal' | 'timeoutMs'>, end: () => void): RunWatch {
  const stopping = new AbortController()
  const over = new AbortController()
  let stopped: Stop | undefined
  function stop(why: Stop): void {
    if (stopped !== undefined || over.signal.aborted) return
    stopped = why
    stopping.abort()
    end()
  }
  const timer = setTimeout(() => stop('timeout'), Math.min(job.timeoutMs, 2 ** 31 - 1))
  const cancel = () => stop('cancelled')
  job.signal.addEventListener('abort', cancel, { once: true })
  if (job.signal.aborted) cancel()
  return {
    get stopped() {
      return stopped
    },
    signal: stopping.signal,
    stop,
    pause: ms => wait(ms, undefined, { signal: over.signal }).catch(() => undefined),
    end() {
      clearTimeout(timer)
      job.signal.removeEventListener('abort', cancel)
      over.abort()
    },
  }
}

const lookEveryMs = 1_000

/** Looks at the disk that a folder is on, every second, and says when it is nearly full. */
export function watchDisk(folder: string, limits: RunLimits, stop: (why: Stop) => void): { stop(): void } {
  const timer = setInterval(() => {
    statfs(folder).then(
      ({ bavail, bsize }) => {
        if (bavail * bsize < limits.freeBytes) stop('disk')
      },
      () => undefined,
    )
  }, lookEveryMs)
  return { stop: () => clearInterval(timer) }
}
