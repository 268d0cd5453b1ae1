/** Room for so many programs at once, in all and for one address, so that nobody takes the machine alone. */
export interface Slots {
  /** Waits for room, at most `waitMs`; undefined when there was none, or when the signal came first. Whoever got it gives it back once, by calling it. */
  take(address: string, signal: AbortSignal): Promise<(() => void) | undefined>
  /** Whether one more from this address would be turned away without waiting: as many wait as may. */
  full(address: string): boolean
}

interface Waiter {
  address: string
  go: (release: (() => void) | undefined) => void
}

export function createSlots(bounds: { total: number; perAddress: number; waitMs: number }): Slots {
  const running = new Map<string, number>()
  const waiting: Waiter[] = []
  let total = 0

  const held = (address: string) => running.get(address) ?? 0
  const waits = (address: string) => waiting.filter(one => one.address === address).length
  const hasRoom = (address: string) => total < bounds.total && held(address) < bounds.perAddress
  const isFull = (address: string) => !hasRoom(address) && (waiting.length >= 4 * bounds.total || waits(address) >= 4 * bounds.perAddress)

  function begin(address: string): () => void {
    total += 1
    running.set(address, held(address) + 1)
    let given = true
    return () => {
      if (!given) return
      given = false
      total -= 1
      if (held(address) > 1) running.set(address, held(address) - 1)
      else running.delete(address)
      next()
    }
  }

  /** The first that waits and may go; one whose address has all it may have holds up nobody else. */
  function next(): void {
    const first = waiting.find(one => hasRoom(one.address))
    first?.go(begin(first.address))
  }

  return {
    full: isFull,
    take(address, signal) {
      if (signal.aborted) return Promise.resolve(undefined)
      if (hasRoom(address)) return Promise.resolve(begin(address))
      if (isFull(address)) return Promise.resolve(undefined)
      return new Promise(resolve => {
        const giveUp = () => waiter.go(undefined)
        const timer = setTimeout(giveUp, bounds.waitMs)
        const waiter: Waiter = {
          address,
          go(release) {
            clearTimeout(timer)
            signal.removeEventListener('abort', giveUp)
            waiting.splice(waiting.indexOf(waiter), 1)
            resolve(release)
          },
        }
        signal.addEventListener('abort', giveUp, { once: true })
        waiting.push(waiter)
      })
    },
  }
}
