import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import type { Mirror } from './mirror.ts'
import type { ObjectsPlace } from './objects.ts'

/**
 * Writes a blob into the quarantine of `place` without running git, and answers its id. What is there already is the same. Throws where the place
 * has no object directory of its own: nothing is written into a mirror.
 */
export async function writeBlob(place: ObjectsPlace, content: Uint8Array): Promise<string> {
  const dir = place.env?.GIT_OBJECT_DIRECTORY
  if (dir === undefined) throw new Error('objects are written into a quarantine only')
  const { id, whole } = objectOf('blob', content)
  const folder = join(dir, id.slice(0, 2))
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, id.slice(2)), deflateSync(whole, { level: 1 }), { mode: 0o444, flag: 'wx' }).catch((error: unknown) => {
    if (!isCode(error, 'EEXIST')) throw error
  })
  return id
}

/**
 * Writes a commit of the builder into a mirror without running git, and answers its id. Its tree and parent have to be there already, so that what
 * a commit leads to is always there. On the disk before it has its name: a crash leaves no half of it.
 */
export async function writeMirrorCommit(mirror: Mirror, content: Uint8Array): Promise<string> {
  const { id, whole } = objectOf('commit', content)
  const folder = join(mirror.objects, id.slice(0, 2))
  const path = join(folder, id.slice(2))
  if ((await stat(path).catch(() => undefined)) !== undefined) return id
  await mkdir(folder, { recursive: true })
  const fresh = join(folder, `tmp_obj_${randomUUID()}`)
  try {
    const file = await open(fresh, 'wx', 0o444)
    try {
      await file.writeFile(deflateSync(whole, { level: 1 }))
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(fresh, path)
  } catch (error) {
    await rm(fresh, { force: true })
    throw error
  }
  return id
}

/** Moves the loose objects of a quarantine into the mirror: those of a merge whose result is wanted. Both lie on one file system. */
export async function admitLoose(mirror: Mirror, dir: string): Promise<void> {
  const folders = (await readdir(dir)).filter(name => /^[0-9a-f]{2}$/.test(name))
  await Promise.all(
    folders.map(async folder => {
      const names = (await readdir(join(dir, folder))).filter(name => /^[0-9a-f]{38}$/.test(name))
      if (names.length > 0) await mkdir(join(mirror.objects, folder), { recursive: true })
      for (const name of names) await rename(join(dir, folder, name), join(mirror.objects, folder, name))
    }),
  )
}

/** Removes the loose objects of a quarantine: those of a merge that nobody wants. */
export async function dropLoose(dir: string): Promise<void> {
  const folders = (await readdir(dir)).filter(name => /^[0-9a-f]{2}$/.test(name))
  await Promise.all(folders.map(folder => rm(join(dir, folder), { recursive: true, force: true })))
}

function objectOf(type: 'blob' | 'commit', content: Uint8Array): { id: string; whole: Buffer } {
  const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
  return { id: createHash('sha1').update(whole).digest('hex'), whole }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
