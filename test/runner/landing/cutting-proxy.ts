import { connect, createServer, type Socket } from 'node:net'
import { loopback } from '../../../src/devnet/ports.ts'

/** A way to a server on which the answer to a push can get lost: what comes back after the pack went is dropped, once it is there. */
export async function startCuttingProxy(to: string): Promise<{ url: string; cut: boolean; close(): Promise<void> }> {
  const { hostname, port } = new URL(to)
  const sockets = new Set<Socket>()
  const proxy = { url: '', cut: true, close }
  const server = createServer(client => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
      socket.on('error', () => undefined)
    }
    let pushes = false
    client.on('data', chunk => {
      pushes ||= chunk.includes('POST ') && chunk.includes('git-receive-pack')
      upstream.write(chunk)
    })
    upstream.on('data', chunk => {
      // A push without credentials is asked for some; that is no answer to it.
      if (pushes && proxy.cut && !chunk.includes(' 401 ')) client.destroy()
      else client.write(chunk)
    })
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, loopback, resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  proxy.url = `http://${loopback}:${address.port}`

  async function close(): Promise<void> {
    for (const socket of sockets) socket.destroy()
    await new Promise(resolve => server.close(resolve))
  }
  return proxy
}
