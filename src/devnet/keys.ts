import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const hex = z.string().regex(/^[0-9a-f]{64}$/)
const keysSchema = z.object({ rotation: hex, jwt: hex, dpop: hex, admin: hex })

/** The fixed secrets of one local PDS: what a second start needs so that accounts, sessions and DIDs stay good. */
export type Keys = z.infer<typeof keysSchema>

/** Reads the keys kept in `dir`, or makes and keeps them, readable by their owner only. Throws when the kept file is not one of ours. */
export function keepKeys(dir: string): Keys {
  const path = join(dir, 'keys.json')
  const kept = readJson(path)
  if (kept !== undefined) return keysSchema.parse(kept)
  const secret = () => randomBytes(32).toString('hex')
  const keys = { rotation: secret(), jwt: secret(), dpop: secret(), admin: secret() }
  writeFileSync(path, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 })
  return keys
}

/** The parsed JSON of a file, or undefined when there is no such file. */
export function readJson(path: string): unknown {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
  return JSON.parse(text)
}
