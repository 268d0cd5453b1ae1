import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Network } from '../network.ts'
import { loopback } from '../ports.ts'
import { words } from './words.ts'

const program = fileURLToPath(new URL('../../cli/main.ts', import.meta.url))
const graceMs = 12_000

/** The server as a process of its own. */
export interface ServerProcess {
  readonly url: string
  readonly did: string
  readonly logPath: string
  /** Settles when it has ended, with what to say of it. */
  readonly ended: Promise<string>
  /** Settles when it says that it is ready; rejects when it ends before, or says nothing good for `timeoutMs`. */
  ready(timeoutMs: number): Promise<void>
  /** Asks it to stop, and makes it after 12 s. */
  stop(): Promise<void>
}

/** Starts `knotless serve` against this network, what it prints going into `server.log` of the network's folder. */
export function startServer(network: Network, port: number, secret: string): ServerProcess {
  const url = `http://${loopback}:${port}`
  // The PDS resolves no DID that is a bare IP number.
  const did = `did:web:localhost%3A${port}`
  const logPath = join(network.dataDir, 'server.log')
  mkdirSync(join(network.dataDir, 'server'), { recursive: true })
  const log = openSync(logPath, 'w')
  const child = spawn(process.execPath, [program, 'serve'], {
    // A group of its own: Ctrl-C reaches the demo alone, which stops things in order.
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
    env: { ...foreignEnv(), ...serverEnv(network, { url, did, port, secret }) },
  })
  closeSync(log)
  const exited = new Promise<string>(resolve => {
    child.once('error', error => resolve(words.serverUnstarted(error.message)))
    child.once('exit', (code, signal) => resolve(farewell(logPath, code, signal)))
  })
  return {
    url,
    did,
    logPath,
    ended: exited,
    ready: timeoutMs => untilReady(url, exited, timeoutMs, logPath),
    stop: () => stopChild(child, exited),
  }
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

/** This process's environment without what would configure the server otherwise. */
function foreignEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('KNOTLESS_')))
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

async function stopChild(child: ChildProcess, ended: Promise<string>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
  await ended
  clearTimeout(timer)
}

/** What to say of a server that ended by itself: how, and the last lines of its log. */
function farewell(logPath: string, code: number | null, signal: NodeJS.Signals | null): string {
  const how = signal === null ? `exit code ${code}` : signal
  const last = readFileSync(logPath, 'utf8').trimEnd().split('\n').slice(-5).join('\n')
  return words.serverEnded(how, logPath, last)
}
