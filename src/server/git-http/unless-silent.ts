/**
 * A stream whose sender is cut off (`cut`, which has to end the stream) once it sends nothing for `ms` milliseconds while it is waited for. Time in
 * which nobody reads is not the sender's.
 */
export function unlessSilent(stream: AsyncIterable<Uint8Array>, ms: number, cut: () => void): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const source = stream[Symbol.asyncIterator]()
      return {
        async next() {
          const timer = setTimeout(cut, ms)
          try {
            return await source.next()
          } finally {
            clearTimeout(timer)
          }
        },
      }
    },
  }
}
