import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { holdLock } from '../../config/hold-lock.ts'
import { readJson } from '../keys.ts'

const kept = z.object({ secret: z.string().min(32), port: z.int() })

/** What the network, the server and the runner keep in the demo's folder. Nothing else in it is ever thrown away. */
const ours = [
  'plc.sqlite',
  'plc.sqlite-wal',
  'plc.sqlite-shm',
  'pds',
  'jetstream.sqlite',
  'jetstream.sqlite-wal',
  'jetstream.sqlite-shm',
  'keys.json',
  'ports.json',
  'accounts.json',
  'samples.json',
  'demo.json',
  'network.json',
  'server',
  'server.log',
  'runner',
  'runner.log',
]

/** The demo's folder, held by this process alone. */
export interface DataDir {
  readonly path: string
  /** Encrypts what the server keeps; the same over restarts. */
  readonly secret: string
  /** The server's port of the last start. */
  readonly lastPort: number | undefined
  /** Remembers the server's port for the next start. */
  keepPort(port: number): void
  release(): void
}

/**
 * Opens the folder, creating it when it is not there, and with `reset` throws away what an earlier demo kept in it. Undefined when another demo
 * holds it; the hold ends with this process, however that ends.
 */
export function openDataDir(path: string, reset: boolean): DataDir | undefined {
  mkdirSync(path, { recursive: true })
  const lock = holdLock(join(path, 'lock.sqlite'))
  if (lock === undefined) return undefined
  if (reset) for (const name of ours) rmSync(join(path, name), { recursive: true, force: true })
  const file = join(path, 'demo.json')
  const before = kept.safeParse(readJson(file)).data
  const secret = before?.secret ?? randomBytes(32).toString('hex')
  const write = (port: number) => writeFileSync(file, `${JSON.stringify({ secret, port }, null, 2)}\n`, { mode: 0o600 })
  return { path, secret, lastPort: before?.port, keepPort: write, release: () => lock.close() }
}
