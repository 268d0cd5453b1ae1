import { treeBounds } from './bounds.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { words } from './words.ts'

/** Characters that HFS+ does not see in a name. */
const unseen = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/**
 * Refuses a path that git's strict check would refuse in a tree (`.git` as any file system reads it, `.`, `..`, empty names), that is longer or
 * deeper than what a head may bring (STO-11), or that holds controls.
 */
export function pathFault(path: string): GitRefusal | undefined {
  if (Buffer.byteLength(path) > treeBounds.path) return refuse('bad-path', words.badPathLong(treeBounds.path))
  const names = path.split('/')
  const bad =
    !path.isWellFormed() ||
    /\p{Cc}/u.test(path) ||
    names.length > treeBounds.depth ||
    names.some(name => name === '' || name === '.' || name === '..' || Buffer.byteLength(name) > treeBounds.name || isDotGit(name))
  return bad ? refuse('bad-path', words.badPath(path)) : undefined
}

/** Whether some file system takes the name for `.git`: NTFS drops dots and spaces at the end, reads streams, short names and backslashes. */
function isDotGit(name: string): boolean {
  if (/^\.git$/i.test(name.replace(unseen, ''))) return true
  return name.split('\\').some(part => /^(\.git|git~1)[. ]*($|:)/i.test(part))
}
