import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Network } from '../network.ts'
import { loopback } from '../ports.ts'
import { type Program, startProgram } from './program.ts'
import { words } from './words.ts'

/** The server as a process of its own. */
export interface ServerProcess extends Program {
  readonly url: string
  readonly did: string
  /** Settles when it says that it is ready; rejects when it ends before, or says nothing good for `timeoutMs`. */
  ready(timeoutMs: number): Promise<void>
}

/** Starts `knotless serve` against this network, what it prints going into `server.log` of the network's folder. */
export function startServer(network: Network, port: number, secret: string): ServerProcess {
  const url = `http://${loopback}:${port}`
  // The PDS resolves no DID that is a bare IP number.
  const did = `did:web:localhost%3A${port}`
  const logPath = join(network.dataDir, 'server.log')
  mkdirSync(join(network.dataDir, 'server'), { recursive: true })
  const started = startProgram({
    args: ['serve'],
    env: serverEnv(network, { url, did, port, secret }),
    logPath,
    graceMs: 12_000,
    words: { unstarted: words.serverUnstarted, ended: words.serverEnded },
  })
  return { ...started, url, did, ready: timeoutMs => untilReady(url, started.ended, timeoutMs, logPath) }
}

/** The configuration of the server on a local network. */
export function serverEnv(network: Network, server: { url: string; did: string; port: number; secret: string }): Record<string, string> {
  return {
    HOST: loopback,
    PORT: String(server.port),
    KNOTLESS_PUBLIC_URL: server.url,
    KNOTLESS_DID: server.did,
    KNOTLESS_DB: join(network.dataDir, 'server', 'knotless.sqlite'),
    KNOTLESS_DATA: join(network.dataDir, 'server'),
    KNOTLESS_JETSTREAM: network.jetstreamUrl,
    KNOTLESS_RELAY: network.relayUrl,
    KNOTLESS_PLC: network.plcUrl,
    KNOTLESS_HANDLE_RESOLVER: network.pdsUrl,
    KNOTLESS_ALLOW_LOOPBACK: '1',
    KNOTLESS_SECRET: server.secret,
    KNOTLESS_LOG: process.env.KNOTLESS_LOG ?? 'warn',
  }
}

async function untilReady(url: string, ended: Promise<string>, timeoutMs: number, logPath: string): Promise<void> {
  let gone: string | undefined
  ended.then(
    said => {
      gone = said
    },
    () => {},
  )
  let last = 'it does not answer'
  for (const end = Date.now() + timeoutMs; Date.now() < end; ) {
    if (gone !== undefined) throw new Error(gone)
    try {
      const answer = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2000) })
      last = await answer.text()
      if (answer.ok) return
    } catch {
      last = 'it does not answer'
    }
    await wait(50)
  }
  throw new Error(words.serverUnready(Math.round(timeoutMs / 1000), last.slice(0, 300), logPath))
}
