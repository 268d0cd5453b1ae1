import { Writable } from 'node:stream'
import type Docker from 'dockerode'

/** Takes what an engine sends of a process's output, as fast as it comes. Settled at its end, however that is. */
export function readFrames(engine: Docker, stream: NodeJS.ReadWriteStream, take: (bytes: Buffer) => void): Promise<void> {
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      take(chunk)
      done()
    },
  })
  engine.modem.demuxStream(stream, sink, sink)
  return new Promise(done => {
    for (const event of ['end', 'close', 'error'] as const) stream.once(event, () => done())
    stream.on('error', () => undefined)
  })
}

/** Ends a stream of an engine: its types do not say that it can be, and left alone an engine may hold it open for ever. */
export function endStream(stream: NodeJS.ReadWriteStream): void {
  if ('destroy' in stream && typeof stream.destroy === 'function') stream.destroy()
}
