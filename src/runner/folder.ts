import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { holdLock } from '../config/hold-lock.ts'

/** The runner's folder, held by this process alone. */
export interface Folder {
  readonly path: string
  /** The same over restarts: whoever has the folder goes on with the lease of the process before it, however that ended (WHO-8). */
  readonly instance: string
  release(): void
}

/** Opens the folder, creating it when it is not there. Undefined when another process holds it; the hold ends with this process, however that ends. */
export function openFolder(path: string): Folder | undefined {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const lock = holdLock(join(path, 'lock.sqlite'))
  if (lock === undefined) return undefined
  return { path, instance: instanceIn(join(path, 'instance')), release: () => lock.close() }
}

function instanceIn(file: string): string {
  try {
    const kept = readFileSync(file, 'utf8').trim()
    if (/^[0-9a-f-]{36}$/.test(kept)) return kept
  } catch {
    // Not there yet, or not to be read: a new one costs no more than the wait for the old lease.
  }
  const instance = randomUUID()
  writeFileSync(file, `${instance}\n`, { mode: 0o600 })
  return instance
}
