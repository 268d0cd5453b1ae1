import type { Topic } from './streams.ts'

/** The topic of a list: something of some repository is different, which may by now be one that the list did not show. */
export const ANY = 'any'

/** Lists hear of what they do not show this often at most, in milliseconds: of what was on them when they were loaded they hear at once. */
const EVERY_MS = 10_000

/** Counts that anything changed, at most once in a while, however much did. */
export interface AnyChange {
  topic(): Topic
  /** Something changed. */
  noted(): void
}

/** `told` is called with each version. Nothing in here keeps the process alive. */
export function createAnyChange(told: (topic: Topic) => void, { everyMs = EVERY_MS, now = () => performance.now() } = {}): AnyChange {
  // A page that a server before this one made is behind.
  let version = Date.now()
  let toldAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  const topic = (): Topic => ({ of: ANY, version })

  function tell(): void {
    timer = undefined
    toldAt = now()
    version += 1
    told(topic())
  }

  return {
    topic,
    noted() {
      const wait = toldAt + everyMs - now()
      if (wait <= 0 && timer === undefined) tell()
      else timer ??= setTimeout(tell, wait).unref()
    },
  }
}
