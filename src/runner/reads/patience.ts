import { UpstreamError } from '../../atproto/upstream-error.ts'

/** The longest that reading one account, or the index, may take, in milliseconds (NOT-1). */
export const patienceMs = 5_000

/** What the work gives, or an UpstreamError when it takes longer than so many milliseconds. The signal fires then, too. */
export async function within<T>(ms: number, host: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController()
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    late.reject(new UpstreamError('timeout', host, 'no answer in time'))
    over.abort()
  }, ms)
  const answer = work(over.signal)
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    clearTimeout(timer)
    // Whoever was late rejects unheard.
    answer.catch(() => undefined)
  }
}

/** All of them; the first that rejects does so once the others have ended, so that none is left to reject unheard. */
export async function settled<T extends readonly unknown[]>(work: T): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(work)
  return await Promise.all(work)
}

/** Only what somebody else's server does is told as such; everything else goes on. */
export function asUpstream(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error
  throw error
}
