import { readFile, stat } from 'node:fs/promises'
import { z } from 'zod'
import { words } from './words.ts'

/** By repository as the flag names it, HANDLE/NAME; then by the secret's name. */
export type Secrets = ReadonlyMap<string, Readonly<Record<string, string>>>

const MOST_BYTES = 2 ** 20
const shape = z.record(z.string().max(1024), z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/), z.string().min(1).max(65_536)))

/** Reads the file of secrets. Refused when anybody but its owner can read it; nothing of it is ever repeated. */
export async function readSecrets(path: string | undefined): Promise<{ ok: true; secrets: Secrets } | { ok: false; fault: string }> {
  if (path === undefined) return { ok: true, secrets: new Map() }
  try {
    const { mode, size, uid } = await stat(path)
    if ((mode & 0o077) !== 0 || (process.getuid !== undefined && uid !== process.getuid())) return { ok: false, fault: words.secretsOpen }
    if (size > MOST_BYTES) return { ok: false, fault: words.secretsBad }
    return { ok: true, secrets: new Map(Object.entries(shape.parse(JSON.parse(await readFile(path, 'utf8'))))) }
  } catch {
    return { ok: false, fault: words.secretsBad }
  }
}
