import { mkdir, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { JoseKey } from '@atproto/oauth-client-node'
import { z } from 'zod'
import type { Seal } from './seal.ts'

const FILE = 'oauth-client-key'

/**
 * The private key of the confidential OAuth client: kept in the data folder, encrypted with the secret, made at first use. Every grant is
 * bound to it, so that a file that cannot be opened is an error and never replaced.
 */
export async function keepClientKey(dataDir: string, seal: Seal): Promise<JoseKey> {
  const path = join(dataDir, FILE)
  const kept = await readIfThere(path)
  if (kept !== undefined) return openKey(kept, seal)
  const key = await JoseKey.generate(['ES256'], `knotless-${Math.floor(Date.now() / 1000)}`)
  await mkdir(dataDir, { recursive: true })
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(seal.close(FILE, JSON.stringify(key.privateJwk)))
    await file.sync()
  } finally {
    await file.close()
  }
  return key
}

async function openKey(bytes: Buffer, seal: Seal): Promise<JoseKey> {
  const text = seal.open(FILE, bytes)
  if (text === undefined) throw new Error(`the OAuth client's key in KNOTLESS_DATA was made with another KNOTLESS_SECRET`)
  return JoseKey.fromJWK(z.record(z.string(), z.unknown()).parse(JSON.parse(text)))
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
