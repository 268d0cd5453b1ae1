import { setTimeout as wait } from 'node:timers/promises'

/** Waits until `look` gives something other than false, undefined or null, and gives that. Throws with `what` after `timeout` ms (30,000: a bound for machines under load, not an expectation). */
export async function until<T>(
  look: () => T | Promise<T>,
  options: { timeout?: number; what?: string } = {},
): Promise<Exclude<T, false | null | undefined>> {
  const end = Date.now() + (options.timeout ?? 30_000)
  for (;;) {
    const seen = await look()
    if (isThere(seen)) return seen
    if (Date.now() > end) throw new Error(`waited in vain for ${options.what ?? look.toString()}`)
    await wait(10)
  }
}

function isThere<T>(value: T): value is Exclude<T, false | null | undefined> {
  return value !== false && value !== null && value !== undefined
}
