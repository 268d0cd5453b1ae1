/** How often other people's servers are asked: a burst each, then so many a second. */
export interface Budget {
  /** Settles when the host may be asked once more; rejects with the signal's reason. */
  take(host: string, signal: AbortSignal): Promise<void>
  /** The host asked for a pause, in milliseconds. */
  rest(host: string, ms: number): void
}

export interface BudgetOptions {
  burst: number
  perSecond: number
}

/** A reference PDS takes 3,000 requests in 5 minutes from one address; other readers of ours are to have most of it. */
export const usualBudget: BudgetOptions = { burst: 60, perSecond: 4 }

interface Account {
  tokens: number
  at: number
  restsUntil: number
}

const MOST_HOSTS = 10_000

/** `clock` in milliseconds, going forward only. */
export function createBudget(options: BudgetOptions, clock: () => number = () => performance.now()): Budget {
  const hosts = new Map<string, Account>()

  function of(host: string): Account {
    const known = hosts.get(host)
    if (known !== undefined) return known
    if (hosts.size >= MOST_HOSTS) for (const oldest of hosts.keys()) if (hosts.delete(oldest)) break
    const made = { tokens: options.burst, at: clock(), restsUntil: 0 }
    hosts.set(host, made)
    return made
  }

  /** Takes one and gives how long to wait before using it, in milliseconds. */
  function book(account: Account): number {
    const time = clock()
    account.tokens = Math.min(options.burst, account.tokens + ((time - account.at) / 1000) * options.perSecond) - 1
    account.at = time
    const owed = account.tokens < 0 ? (-account.tokens / options.perSecond) * 1000 : 0
    return Math.max(owed, account.restsUntil - time)
  }

  return {
    async take(host, signal) {
      signal.throwIfAborted()
      if (isOwnMachine(host)) return
      const ms = book(of(host))
      if (ms > 0) await pause(ms, signal)
    },
    rest(host, ms) {
      const account = of(host)
      account.restsUntil = Math.max(account.restsUntil, clock() + ms)
    },
  }
}

/** A server on this machine is nobody else's to spare. */
function isOwnMachine(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(host)
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal.addEventListener('abort', stop, { once: true })
  })
}
