import { type Mirror, packsOf } from './mirror.ts'
import { objectTypes } from './objects.ts'
import type { BuiltPack } from './pack-out.ts'
import { sameRefs, writeRefs, writtenRefs } from './packed-refs.ts'
import { admit } from './quarantine.ts'
import type { RefRow } from './refs-record.ts'

/** A push that was made: the refs of the record before and after it, its pack, and the commits that the pack leans on. */
export interface MadePush {
  before: readonly RefRow[]
  after: readonly RefRow[]
  pack: BuiltPack | undefined
  haves: readonly string[]
}

/**
 * Puts a push that was made into the mirror that it came from, so that nothing has to be downloaded: its pack, then the refs. Only while the mirror
 * is where the record was before the push, so that nothing newer is undone; a mirror that is anywhere else is brought up to date by the next sync.
 * The pack's scratch place has to lie on the mirror's file system. Answers whether the mirror holds the push.
 */
export function adopt(mirror: Mirror, push: MadePush): Promise<boolean> {
  return mirror.exclusive(async () => {
    const present = await writtenRefs(mirror)
    if (sameRefs(present, push.after)) return true
    if (!sameRefs(present, push.before)) return false
    // The pack may lean on commits that left the record while the push was tried again, and that the mirror never had.
    const ats = new Set(present.values())
    const others = push.haves.filter(id => !ats.has(id))
    if (push.pack !== undefined && others.length > 0) {
      const found = await objectTypes({ dir: mirror.dir }, others)
      if (found.some(object => object === undefined)) return false
    }
    if (push.pack !== undefined && !(await packsOf(mirror)).has(push.pack.id)) await admit(mirror, push.pack.place, push.pack.id)
    await writeRefs(mirror, push.after)
    return true
  })
}
