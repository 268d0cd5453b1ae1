import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import type { ObjectsPlace } from './objects.ts'

/**
 * Writes a blob into the quarantine of `place` without running git, and answers its id. What is there already is the same. Throws where the place
 * has no object directory of its own: nothing is written into a mirror.
 */
export async function writeBlob(place: ObjectsPlace, content: Uint8Array): Promise<string> {
  const dir = place.env?.GIT_OBJECT_DIRECTORY
  if (dir === undefined) throw new Error('objects are written into a quarantine only')
  const whole = Buffer.concat([Buffer.from(`blob ${content.length}\0`), content])
  const id = createHash('sha1').update(whole).digest('hex')
  const folder = join(dir, id.slice(0, 2))
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, id.slice(2)), deflateSync(whole, { level: 1 }), { mode: 0o444, flag: 'wx' }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  })
  return id
}
