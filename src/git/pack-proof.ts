import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packFile, type Quarantine } from './quarantine.ts'

/** A mark beside a pack that has passed the strict check and the bound on objects a moment ago. */
const mark = 'checked'
/** Indexes of more bytes are not read: checking their packs again is then the smaller part of the work. */
const largestIndex = 64 * 2 ** 20

/** Marks a pack of a quarantine as one that has been checked in full where it lies. */
export function markChecked(quarantine: Quarantine, id: string): Promise<void> {
  return writeFile(packFile(quarantine, id).replace(/pack$/, mark), '')
}

/**
 * Whether every object of a pack is one of a marked pack in the object directory `dir`. An object is what its id says, so that such a pack needs
 * no check of its own: each of its objects has passed one. (That it holds all that is wanted is what `pack-objects` makes sure of.)
 */
export async function holdsOnlyChecked(packPath: string, dir: string): Promise<boolean> {
  const folder = join(dir, 'pack')
  const names = await readdir(folder).catch(() => [])
  const marked = names.filter(name => name.endsWith(`.${mark}`)).map(name => join(folder, name.replace(/checked$/, 'idx')))
  const ids = marked.length === 0 ? undefined : await idsOf(packPath.replace(/pack$/, 'idx'))
  if (ids === undefined) return false
  for (const path of marked) {
    const checked = await idsOf(path)
    if (checked !== undefined && isSubset(ids, checked)) return true
  }
  return false
}

const idBytes = 20

/** The object ids of a pack's index (its second version), one after the other in order; undefined for anything else. */
async function idsOf(path: string): Promise<Buffer | undefined> {
  const size = (await stat(path).catch(() => undefined))?.size ?? Number.POSITIVE_INFINITY
  if (size > largestIndex) return undefined
  const index = await readFile(path)
  const start = 8 + 256 * 4
  if (index.length < start || index.readUInt32BE(0) !== 0xff744f63 || index.readUInt32BE(4) !== 2) return undefined
  const end = start + index.readUInt32BE(start - 4) * idBytes
  return end > index.length ? undefined : index.subarray(start, end)
}

/** Both in ascending order. */
function isSubset(some: Buffer, all: Buffer): boolean {
  let at = 0
  for (let one = 0; one < some.length; one += idBytes) {
    let order = 1
    for (; at < all.length && order > 0; at += idBytes) order = some.compare(all, at, at + idBytes, one, one + idBytes)
    if (order !== 0) return false
  }
  return true
}
