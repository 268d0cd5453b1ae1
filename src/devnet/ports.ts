import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** The one address that the local network listens on. */
export const loopback = '127.0.0.1'

/** A port of the network that another program holds. `message` is one line for the person who started it. */
export class PortTaken extends Error {
  readonly port: number

  constructor(name: string, port: number) {
    super(`port ${port} (${name}) is in use: stop what listens there, or choose other ports (--port 0 picks free ones)`)
    this.port = port
  }
}

/** Turns "address in use" of a listening server into `PortTaken` with the name of what wanted the port; passes anything else on. */
export function portError(name: string, port: number, cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE' ? new PortTaken(name, port) : cause
}

/** Whether a server could listen on this loopback port just now. */
export function portIsFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, loopback, () => probe.close(() => resolve(true)))
  })
}

/** Ports are picked from here: below those that the system hands out to outgoing connections, which could take a picked one at once. */
const FIRST = 20_000
const LAST = 32_000
const TRIES = 100
const picked = new Set<number>()

/** A loopback port that was free a moment ago, never the same twice. For servers that must know their own address before they listen. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < TRIES; tried++) {
    const port = randomInt(FIRST, LAST)
    if (picked.has(port)) continue
    picked.add(port)
    if (await portIsFree(port)) return port
  }
  throw new Error(`no port between ${FIRST} and ${LAST} is free`)
}
